using System.Diagnostics;
using System.Text.Json;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign.Contenders;

// QuickSilver's throughput.
internal sealed class OwnContender(ITestbed testbed, string name, OwnTraffic traffic) : IContender
{
    // What a run of a count may take at least is reckoned by this rate.
    private const int LeastMessagesPerSecond = 100_000;

    public string Name => name;

    public bool IsOwn => true;

    public string Command(Load load, int seconds) => ClusterSecret.Hide(
        $"{testbed.Description(load.Receivers)}qsm perf send TOPIC {string.Join(' ', traffic.SenderOptions(load, seconds))} --json\n"
        + $"    {load.Receivers} × qsm perf receive TOPIC {string.Concat(ReceiverOptions().Select(option => $"{option} "))}--json");

    public Measurement Run(Load load, int seconds)
    {
        if (traffic.Fault is { } fault)
        {
            return Measurement.Failed(fault);
        }

        try
        {
            return testbed.Up(load.Receivers) is { } failure ? Measurement.Failed(failure) : RunUp(load, seconds);
        }
        finally
        {
            testbed.Down();
        }
    }

    private Measurement RunUp(Load load, int seconds)
    {
        string topic = Qsm.NewTopic();
        var limit = TimeSpan.FromSeconds(traffic.Count / LeastMessagesPerSecond ?? seconds) + Qsm.Overhead;
        var receivers = new List<Shell>();
        try
        {
            using var cpu = new MachineCpu();
            receivers.AddRange(Enumerable.Range(2, load.Receivers)
                .Select(node => Qsm.Start(testbed, node, "receive", topic, ["--json", .. ReceiverOptions()])));
            using var sender = Qsm.Start(testbed, 1, "send", topic, ["--json", .. traffic.SenderOptions(load, seconds)]);
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

    private IEnumerable<string> ReceiverOptions() => traffic.Options.Concat(traffic.ReceiverOptions);

    // The sender reports as soon as it has ended, so its seconds before that moment are what it measured.
    private static Measurement Read(Ended sent, List<Ended> received, MachineCpu cpu)
    {
        var sender = JsonDocument.Parse(sent.Output).RootElement;
        var receivers = received.ConvertAll(process => JsonDocument.Parse(process.Output).RootElement);
        long ticks = (long)(Number(sender, "seconds") * Stopwatch.Frequency);
        double used = cpu.SecondsBetween(sent.FirstLineTicks - ticks, sent.FirstLineTicks);
        var all = receivers.Append(sender).ToList();
        return new Measurement
        {
            MessagesPerSecond = receivers.Min(report => Number(report, "messagesPerSecond")),
            Lost = (long)receivers.Sum(report => Number(report, "gaps") + Number(report, "duplicates")),
            CpuSecondsPerMillion = used / receivers.Sum(report => Number(report, "delivered")) * 1e6,
            SenderNanos = NanosOfMessage(sender, "sent"),
            ReceiverNanos = receivers.Average(static report => NanosOfMessage(report, "delivered")),
            PayloadBytes = Number(sender, "payloadBytes"),
            SenderAllocatedBytes = Number(sender, "allocatedBytes"),
            ReceiverAllocatedBytes = receivers.Max(report => Number(report, "allocatedBytes")),
            OldCollections = all.Sum(report => report.GetProperty("gcCollections").EnumerateArray().Skip(1).Sum(n => n.GetInt32())),
            PeakResidentBytes = all.Max(report => Number(report, "peakResidentBytes")),
        };
    }

    private static double NanosOfMessage(JsonElement report, string messages) =>
        Number(report, "cpuSeconds") / Number(report, messages) * 1e9;

    private static double Number(JsonElement report, string name) => report.GetProperty(name).GetDouble();
}
