using System.Diagnostics;
using System.Text.Json;
using QuickSilver.Microbenchmarks.Serialization;

namespace QuickSilver.Microbenchmarks.GarbageCollection;

// What the collector's settings cost an application, not the library: typed messages at a fixed rate, each of which the
// receiver decodes into objects of its own and holds until 10,000 more have come, so that some grow old. Two
// processes, `gc receive CLUSTER` first and then `gc send CLUSTER`; the receiver prints one JSON object.
internal static class GcTrial
{
    private const int Rate = 50_000;
    private const int Seconds = 12;
    private const int WarmUpSeconds = 2;
    private const int Held = 10_000;
    private const string Topic = "gc/departures";
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(30);

    public static async Task RunAsync(string role, string cluster)
    {
        double mainMillis = SinceStart();
        await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = cluster });
        if (role == "send")
        {
            await using var publisher = await node.OpenPublisherAsync<Departure>(Topic);
            await SendAsync(publisher);
            using var limit = new CancellationTokenSource(DrainLimit);
            await node.DrainAsync(limit.Token);
        }
        else
        {
            await using var subscriber = await node.OpenSubscriberAsync<Departure>(Topic);
            Receive(subscriber, mainMillis, SinceStart());
        }
    }

    private static async Task SendAsync(ITopicPublisher<Departure> topic)
    {
        await topic.WaitForSubscribersAsync(1, CancellationToken.None);
        var example = Departure.Example(0);
        long start = Stopwatch.GetTimestamp();
        for (long sent = 0; sent < (long)Rate * Seconds; sent++)
        {
            while (Stopwatch.GetTimestamp() < start + (sent * Stopwatch.Frequency / Rate))
            {
                Thread.Sleep(1);
            }

            await topic.PublishAsync(example with { AtUnixMillis = Stopwatch.GetTimestamp() });
        }

        await topic.PublishAsync(example with { AtUnixMillis = -1 });
    }

    private static void Receive(ITopicSubscriber<Departure> topic, double mainMillis, double openMillis)
    {
        var held = new Departure[Held];
        var latencies = new long[Rate * Seconds];
        int count = 0;
        using var done = new ManualResetEventSlim();
        using var warm = new ManualResetEventSlim();
        topic.SubscribeInline((in Message<Departure> message) =>
        {
            if (message.Value.AtUnixMillis < 0)
            {
                done.Set();
                return;
            }

            latencies[count] = Stopwatch.GetTimestamp() - message.Value.AtUnixMillis;
            held[count % Held] = message.Value;
            if (++count == Rate * WarmUpSeconds)
            {
                warm.Set();
            }
        });
        Console.Error.WriteLine("ready");
        warm.Wait();
        var before = Usage.Now();
        done.Wait();
        var after = Usage.Now();
        int first = Rate * WarmUpSeconds;
        var steady = latencies.AsSpan(first, count - first);
        steady.Sort();
        using var process = Process.GetCurrentProcess();
        Console.WriteLine(JsonSerializer.Serialize(new
        {
            messages = steady.Length,
            gen0 = after.Gen0 - before.Gen0,
            gen1 = after.Gen1 - before.Gen1,
            gen2 = after.Gen2 - before.Gen2,
            pauseMillis = Math.Round((after.Pause - before.Pause).TotalMilliseconds, 2),
            bytesPerMessage = Math.Round((double)(after.Allocated - before.Allocated) / steady.Length, 1),
            heapMebibytes = Math.Round(GC.GetGCMemoryInfo(GCKind.Any).TotalCommittedBytes / 1048576.0, 1),
            residentMebibytes = Math.Round(process.WorkingSet64 / 1048576.0, 1),
            p50Micros = Micros(steady[steady.Length / 2]),
            p99Micros = Micros(steady[(int)(steady.Length * 0.99)]),
            p999Micros = Micros(steady[(int)(steady.Length * 0.999)]),
            maxMicros = Micros(steady[^1]),
            cpuSeconds = Math.Round((after.Cpu - before.Cpu).TotalSeconds, 2),
            mainMillis = Math.Round(mainMillis),
            openMillis = Math.Round(openMillis),
        }));
        GC.KeepAlive(held);
    }

    private static double SinceStart()
    {
        using var process = Process.GetCurrentProcess();
        return (DateTime.Now - process.StartTime).TotalMilliseconds;
    }

    private static double Micros(long ticks) => Math.Round(ticks * 1e6 / Stopwatch.Frequency, 1);

    private sealed record Usage(int Gen0, int Gen1, int Gen2, TimeSpan Pause, long Allocated, TimeSpan Cpu)
    {
        public static Usage Now() => new(
            GC.CollectionCount(0), GC.CollectionCount(1), GC.CollectionCount(2), GC.GetTotalPauseDuration(),
            GC.GetTotalAllocatedBytes(precise: true), System.Environment.CpuUsage.TotalTime);
    }
}
