using System.Text.Json;
using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign.Contenders;

// Round trips between two nodes while others on the same machines, and links, move a load at a given rate: processes of their
// own, with the same membership. The rate that the load was delivered at stands beside the round trips.
internal sealed class LoadedRoundTrip(ITestbed testbed, string name, Load background, RateShare rate) : IContender
{
    // The sender's own warm-up, which is sent at the rate too: the pings begin when it ends.
    private static readonly TimeSpan WarmUp = TimeSpan.FromSeconds(3);

    // The load begins before the pings and ends after them: the pinging nodes have to start meanwhile.
    private const int MarginSeconds = 4;

    private readonly OwnRoundTrip _pings = new(testbed, name);
    private readonly OwnTraffic _traffic = new() { Rate = rate };

    public string Name => name;

    public bool IsOwn => true;

    public string Command(Load load, int seconds)
    {
        var options = _traffic.SenderOptions(background, seconds + MarginSeconds);
        return $"{_pings.Command(load, seconds)}\n    qsm perf send LOAD {string.Join(' ', options)}\n"
            + $"    {background.Receivers} × qsm perf receive LOAD";
    }

    public Measurement Run(Load load, int seconds)
    {
        try
        {
            return (_traffic.Fault ?? testbed.Up(background.Receivers)) is { } failure
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
        var limit = TimeSpan.FromSeconds(seconds + MarginSeconds) + Qsm.Overhead;
        var receivers = new List<Shell>();
        try
        {
            receivers.AddRange(Enumerable.Range(2, background.Receivers)
                .Select(node => Qsm.Start(testbed, node, "receive", topic, "--json")));
            using var sender = Qsm.Start(testbed, 1, "send", topic, _traffic.SenderOptions(background, seconds + MarginSeconds));
            Thread.Sleep(WarmUp);
            var pings = _pings.RunUp(load, seconds);
            bool isLoaded = sender.IsRunning;
            var sent = sender.Wait(limit);
            var received = receivers.ConvertAll(receiver => receiver.Wait(sent.Code == 0 ? limit : TimeSpan.Zero));
            return received.Prepend(sent).FirstOrDefault(process => process.Code != 0) is { } failed
                ? Measurement.Failed($"the load: {failed.Reason}")
                : pings.Failure is not null ? pings
                : !isLoaded ? Measurement.Failed("the load ended before the pings")
                : With(pings, received);
        }
        finally
        {
            receivers.ForEach(receiver => receiver.Dispose());
        }
    }

    private static Measurement With(Measurement pings, List<Ended> received)
    {
        var reports = received.ConvertAll(process => JsonDocument.Parse(process.Output).RootElement);
        return pings with
        {
            MessagesPerSecond = reports.Min(report => report.GetProperty("messagesPerSecond").GetDouble()),
            Lost = reports.Sum(report => report.GetProperty("gaps").GetInt64() + report.GetProperty("duplicates").GetInt64()),
        };
    }
}
