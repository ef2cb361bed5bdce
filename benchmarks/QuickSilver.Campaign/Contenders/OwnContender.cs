using System.Diagnostics;
using System.Text.Json;

namespace QuickSilver.Campaign.Contenders;

// QuickSilver's throughput. The options go to the sender and to all receivers.
internal sealed class OwnContender(Namespaces namespaces, string name, int mtu, params string[] options) : IContender
{
    public string Name => name;

    public bool IsOwn => true;

    public string Command(Load load, int seconds)
    {
        string more = string.Concat(options.Select(option => $" {option}"));
        string link = mtu == Namespaces.UsualMtu ? "" : $"netns.sh up {load.Receivers + 1} mtu={mtu}; ";
        return $"{link}qsm perf send TOPIC --size {load.Bytes} --seconds {seconds} --receivers {load.Receivers}{more} --json\n"
            + $"    {load.Receivers} × qsm perf receive TOPIC{more} --json";
    }

    public Measurement Run(Load load, int seconds)
    {
        if (namespaces.Up(load.Receivers, mtu) is { } failure)
        {
            return Measurement.Failed(failure);
        }

        string topic = Qsm.NewTopic();
        var limit = TimeSpan.FromSeconds(seconds) + Qsm.Overhead;
        var receivers = new List<Shell>();
        try
        {
            using var cpu = new MachineCpu();
            receivers.AddRange(
                Enumerable.Range(2, load.Receivers).Select(node => Qsm.Start(node, "receive", topic, ["--json", .. options])));
            using var sender = Qsm.Start(
                1,
                "send",
                topic,
                ["--size", $"{load.Bytes}", "--seconds", $"{seconds}", "--receivers", $"{load.Receivers}", "--json", .. options]);
            var sent = sender.Wait(limit);
            var received = receivers.ConvertAll(receiver => receiver.Wait(sent.Code == 0 ? limit : TimeSpan.Zero));
            return received.Prepend(sent).FirstOrDefault(process => process.Code != 0) is { } failed
                ? Measurement.Failed(failed.Reason)
                : Read(sent, received, cpu);
        }
        finally
        {
            receivers.ForEach(receiver => receiver.Dispose());
        }
    }

    // The sender reports as soon as it has ended, so its seconds before that moment are what it measured.
    private static Measurement Read(Ended sent, List<Ended> received, MachineCpu cpu)
    {
        var reports = received.ConvertAll(process => JsonDocument.Parse(process.Output).RootElement);
        double seconds = JsonDocument.Parse(sent.Output).RootElement.GetProperty("seconds").GetDouble();
        double used = cpu.SecondsBetween(sent.FirstLineTicks - (long)(seconds * Stopwatch.Frequency), sent.FirstLineTicks);
        return new Measurement
        {
            MessagesPerSecond = reports.Min(report => report.GetProperty("messagesPerSecond").GetDouble()),
            Lost = reports.Sum(report => report.GetProperty("gaps").GetInt64() + report.GetProperty("duplicates").GetInt64()),
            CpuSecondsPerMillion = used / reports.Sum(report => report.GetProperty("delivered").GetInt64()) * 1e6,
        };
    }
}
