using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using ChurnNode.Streams;
using QuickSilver;
using QuickSilver.Tests.Infrastructure;
using StreamNode;

namespace ChurnNode;

// A member that stays: it publishes a steady stream, receives those of all that stay, and opens and closes other topics meanwhile.
//
// It says "ready" and waits for a line before it publishes; after the next line it stops, drains, and says "sent COUNT"; after the third
// it reports and ends.
internal static class Stayer
{
    private const int PayloadBytes = 100;
    private const int SideRate = 20;
    private static readonly TimeSpan StableLimit = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Stalled = TimeSpan.FromSeconds(2);

    public static async Task<int> RunAsync(QuickSilverOptions options, int stayers, int index, int rate)
    {
        using var logs = NodeStart.Logs();
        await using var node = await QuickSilverNode.StartAsync(options, logs);
        var says = new ConcurrentQueue<string>();
        var streams = new List<SteadyStream>();
        for (int stayer = 0; stayer < stayers; stayer++)
        {
            streams.Add(await SteadyStream.OpenAsync(node, stayer, says));
        }

        var roaming = await RoamingStream.OpenAsync(node);
        var steady = await node.OpenPublisherAsync<ReadOnlyMemory<byte>>(Topics.Steady(index));
        var side = await node.OpenPublisherAsync<ReadOnlyMemory<byte>>(Topics.Data(index));
        await steady.WaitForSubscribersAsync(stayers);
        Console.Out.WriteLine("ready");
        using var stop = new CancellationTokenSource();
        using var end = new CancellationTokenSource();
        var saying = SayAsync(node, says, end.Token);
        var watching = WatchAsync(node, streams, says, stop.Token);
        await Console.In.ReadLineAsync();
        var sending = Task.Factory.StartNew(() => Send(steady, rate, stop.Token), TaskCreationOptions.LongRunning);
        var sendingBeside = Task.Factory.StartNew(() => Send(side, SideRate, stop.Token), TaskCreationOptions.LongRunning);
        var visits = new Visits(node, stayers, perSecond: 0.4, seed: index);
        var visiting = visits.RunAsync(stop.Token);
        await Console.In.ReadLineAsync();
        await stop.CancelAsync();
        long sent = await sending;
        await sendingBeside;
        await visiting;
        bool isStable = await DrainWithin.LimitAsync(StableLimit, node.DrainAsync);
        Console.Out.WriteLine(string.Create(CultureInfo.InvariantCulture, $"sent {sent}"));
        await Console.In.ReadLineAsync();
        await watching;
        await end.CancelAsync();
        await saying;
        var steadies = new List<SteadyReport>();
        foreach (var stream in streams)
        {
            steadies.Add(await stream.CloseAsync());
        }

        var report = new StayReport(
            isStable,
            sent,
            steadies,
            visits.Changes,
            visits.Faults,
            await roaming.CloseAsync(),
            Meters.ReadNumber("quicksilver.repairs"),
            Meters.ReadNumber("quicksilver.kernel.drops"));
        Console.Out.WriteLine("report " + JsonSerializer.Serialize(report, ReportJson.Default.StayReport));
        return 0;
    }

    private static long Send(ITopicPublisher<ReadOnlyMemory<byte>> topic, int rate, CancellationToken stop)
    {
        byte[] payload = new byte[PayloadBytes];
        long sent = 0;
        long start = Stopwatch.GetTimestamp();
        while (!stop.IsCancellationRequested)
        {
            for (long due = (long)(Stopwatch.GetElapsedTime(start).TotalSeconds * rate); sent < due;)
            {
                BinaryPrimitives.WriteInt64LittleEndian(payload, ++sent);
                var published = topic.PublishAsync(payload, CancellationToken.None);
                if (!published.IsCompletedSuccessfully)
                {
                    published.AsTask().GetAwaiter().GetResult();
                }
            }

            // Thousands of wakes each second would be most of what this process does.
            Thread.Sleep(Math.Clamp(1000 / rate, 1, 20));
        }

        return sent;
    }

    // What this node knows of why a stream has stopped: STALLED STAYER SECONDS, what it has dropped so far, and its status. Each second.
    private static async Task WatchAsync(
        QuickSilverNode node, List<SteadyStream> streams, ConcurrentQueue<string> says, CancellationToken stop)
    {
        while (!stop.IsCancellationRequested)
        {
            await Task.Delay(TimeSpan.FromSeconds(1), stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (streams.MaxBy(static stream => stream.Silence) is { } longest && longest.Silence > Stalled)
            {
                string dropped = Meters.Read("quicksilver.packets.dropped");
                string reasons = string.Join("; ", node.Status.Reasons.Select(static reason => reason.Kind.ToString()));
                string what = $"dropped {dropped} repairs {Meters.Read("quicksilver.repairs")} {reasons}";
                says.Enqueue(string.Create(
                    CultureInfo.InvariantCulture, $"stalled {longest.Stayer} {longest.Silence.TotalSeconds:F1} {what}"));
            }
        }
    }

    // Also each configuration in which this node finds itself: CONFIGURATION NUMBER.
    private static async Task SayAsync(QuickSilverNode node, ConcurrentQueue<string> says, CancellationToken end)
    {
        long configuration = 0;
        do
        {
            long now = node.GetGauges().Configuration;
            if (now != configuration)
            {
                configuration = now;
                says.Enqueue(string.Create(CultureInfo.InvariantCulture, $"configuration {now}"));
            }

            await Task.Delay(50, end).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            while (says.TryDequeue(out string? line))
            {
                Console.Out.WriteLine(line);
            }
        }
        while (!end.IsCancellationRequested);
    }
}
