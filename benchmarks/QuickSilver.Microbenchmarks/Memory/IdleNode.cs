using System.Globalization;

namespace QuickSilver.Microbenchmarks.Memory;

// What a process with one node of default options takes, which hosts the membership service and does nothing else: of the machine, and
// of the collector's heap. Before the node starts, when it has been idle, and when it has been idle after a burst.
internal static class IdleNode
{
    private const int PayloadBytes = 60_000;
    private static readonly TimeSpan Idle = TimeSpan.FromSeconds(10);
    // The pool gives back what it has not used for 15 to 30 s, 16 MiB each 5 s.
    private static readonly TimeSpan AfterBurst = TimeSpan.FromSeconds(120);
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Burst = TimeSpan.FromSeconds(5);

    public static async Task RunAsync(bool withBurst)
    {
        Show("no node");
        var options = new QuickSilverOptions { Cluster = $"idle-{Environment.ProcessId}" };
        await using var node = await QuickSilverNode.StartAsync(options);
        await Task.Delay(Idle);
        Show("idle");
        if (!withBurst)
        {
            return;
        }

        await using var other = await QuickSilverNode.StartAsync(options);
        await using var received = await other.OpenSubscriberAsync<ReadOnlyMemory<byte>>("burst");
        using var handler = received.SubscribeInline(static (in _) => { });
        await using var sent = await node.OpenPublisherAsync<ReadOnlyMemory<byte>>("burst");
        await sent.WaitForSubscribersAsync(1);
        byte[] payload = new byte[PayloadBytes];
        for (long began = Environment.TickCount64; Environment.TickCount64 - began < Burst.TotalMilliseconds;)
        {
            await sent.PublishAsync(payload);
        }

        using var limit = new CancellationTokenSource(DrainLimit);
        await sent.DrainAsync(limit.Token);
        Show("burst");
        await Task.Delay(AfterBurst);
        Show("idle after the burst, two nodes");
    }

    private static void Show(string when)
    {
        GC.Collect();
        var heap = GC.GetGCMemoryInfo(GCKind.FullBlocking);
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{when}: resident {Status("VmRSS")} (anonymous {Status("RssAnon")}, files {Status("RssFile")}, code {Status("RssShmem")}), "
            + $"heap {heap.HeapSizeBytes / 1e6:0.0} MB, committed {heap.TotalCommittedBytes / 1e6:0.0} MB"));
    }

    private static string Status(string field) => OperatingSystem.IsLinux()
        ? File.ReadLines("/proc/self/status").First(line => line.StartsWith(field, StringComparison.Ordinal)).Split(':')[1].Trim()
        : $"{Environment.WorkingSet / 1024} kB";
}
