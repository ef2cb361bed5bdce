using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign.Contenders;

// One publisher with two topics to the same nodes. The first is measured; the one beside goes at a steady rate, and is read, or is
// not read any more by the first receiver.
internal sealed class BesideContender(ITestbed testbed, string name, bool stalls, RateShare? rate = null) : IContender
{
    private const int BesideMessagesPerSecond = 10_000;

    // What the sender's line about a wait says has passed already when it comes.
    private static readonly TimeSpan NotedWait = TimeSpan.FromSeconds(1);

    private readonly OwnTraffic _traffic = new() { Rate = rate };

    public string Name => name;

    public bool IsOwn => true;

    public string Command(Load load, int seconds) =>
        $"qsm perf send B {string.Join(' ', SenderOptions(load, seconds, "A"))}\n"
        + $"    qsm perf receive B {string.Join(' ', ReceiverOptions(0, "A"))}\n"
        + $"    {load.Receivers - 1} × qsm perf receive B {string.Join(' ', ReceiverOptions(1, "A"))}";

    public Measurement Run(Load load, int seconds)
    {
        try
        {
            return (_traffic.Fault ?? testbed.Up(load.Receivers)) is { } failure
                ? Measurement.Failed(failure)
                : RunUp(load, seconds);
        }
        finally
        {
            testbed.Down();
        }
    }

    private Measurement RunUp(Load load, int seconds)
    {
        string topic = Qsm.NewTopic();
        string beside = $"{topic}-beside";
        var limit = TimeSpan.FromSeconds(seconds) + Qsm.Overhead;
        var receivers = new List<Shell>();
        try
        {
            receivers.AddRange(Enumerable.Range(0, load.Receivers)
                .Select(i => Qsm.Start(testbed, i + 2, "receive", topic, ReceiverOptions(i, beside))));
            using var sender = Qsm.Start(testbed, 1, "send", topic, SenderOptions(load, seconds, beside));
            var sent = sender.Wait(limit);
            var received = receivers.ConvertAll(receiver => receiver.Wait(sent.Code == 0 ? limit : TimeSpan.Zero));
            return received.Prepend(sent).FirstOrDefault(process => process.Code != 0) is { } failed
                ? Measurement.Failed(failed.Reason)
                : Read(sent, received, beside);
        }
        finally
        {
            receivers.ForEach(receiver => receiver.Dispose());
        }
    }

    private IEnumerable<string> SenderOptions(Load load, int seconds, string beside) =>
    [
        .. _traffic.SenderOptions(load, seconds),
        "--beside", beside, "--beside-rate", BesideMessagesPerSecond.ToString(CultureInfo.InvariantCulture), "--json",
    ];

    private IEnumerable<string> ReceiverOptions(int receiver, string beside)
    {
        string[] stall = stalls && receiver == 0 ? ["--beside-stalls"] : [];
        return ["--beside", beside, .. stall, "--json"];
    }

    private Measurement Read(Ended sent, List<Ended> received, string beside)
    {
        var reports = received.ConvertAll(process => JsonDocument.Parse(process.Output).RootElement);
        double Latency(string percentile) =>
            reports.Max(report => report.GetProperty("latencyMicros").GetProperty(percentile).GetDouble());
        return new Measurement
        {
            MessagesPerSecond = reports.Min(report => report.GetProperty("messagesPerSecond").GetDouble()),
            Lost = reports.Sum(report => report.GetProperty("gaps").GetInt64() + report.GetProperty("duplicates").GetInt64()),
            P50Micros = Latency("p50"),
            P99Micros = Latency("p99"),
            PublisherNamedSeconds = stalls
                ? NotedWait.TotalSeconds
                    + Seconds(sent, $"{beside} has taken nothing", $"The publisher of topic \"{beside}\" waits for a reader")
                : double.NaN,
            ReaderNamedSeconds = stalls
                ? Seconds(received[0], $"stopped reading {beside}", $"A reader of topic \"{beside}\" on this node has no room")
                : double.NaN,
        };
    }

    private static double Seconds(Ended process, string from, string to)
    {
        long? Ticks(string text) => process.ErrorLines
            .Where(line => line.Text.Contains(text, StringComparison.Ordinal))
            .Select(line => (long?)line.Ticks).FirstOrDefault();
        return Ticks(from) is { } begin && Ticks(to) is { } end ? Stopwatch.GetElapsedTime(begin, end).TotalSeconds : double.NaN;
    }
}
