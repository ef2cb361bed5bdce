using System.Diagnostics;
using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver;

namespace ChurnNode;

// A member whose application blocks the thread pool, as code does that waits for tasks. It uses no pool itself: its own thread reads the
// input, and writes the state of the node to standard output whenever it is another one.
//
// Input: "block" fills the pool with work that blocks, "free" ends that, and the end of the input ends the process. When the pool has been
// blocked for longer than the limit of heartbeats, it says so ("blocked for long").
internal static class BlockedPool
{
    // More than the pool starts in minutes.
    private const int Blocked = 1000;
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(12);
    private static long _blockedAt;

    public static int Run(QuickSilverOptions options, ILoggerFactory logs)
    {
        var node = QuickSilverNode.StartAsync(options, logs).GetAwaiter().GetResult();
        new Thread(() => Show(node)) { IsBackground = true }.Start();
        Console.Error.WriteLine("ready");
        var free = new ManualResetEventSlim();
        while (Console.In.ReadLine() is { } verb)
        {
            switch (verb)
            {
                case "block":
                    free.Reset();
                    Block(free);
                    Volatile.Write(ref _blockedAt, Stopwatch.GetTimestamp());
                    break;
                case "free":
                    free.Set();
                    break;
                default:
                    Console.Error.WriteLine($"'{verb}' is neither block nor free.");
                    return 2;
            }

            Console.Out.WriteLine(verb);
        }

        return 0;
    }

    private static void Block(ManualResetEventSlim free)
    {
        for (int i = 0; i < Blocked; i++)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static free => ((ManualResetEventSlim)free!).Wait(), free);
        }
    }

    private static void Show(QuickSilverNode node)
    {
        string? last = null;
        while (true)
        {
            var status = node.Status;
            string reasons = string.Join(' ', status.Reasons.Select(static reason => reason.Kind.ToString()).Order());
            string state = string.Create(CultureInfo.InvariantCulture, $"state {status.State} {status.IsReady} {reasons}");
            if (state != last)
            {
                Console.Out.WriteLine(state);
                last = state;
            }

            long blockedAt = Volatile.Read(ref _blockedAt);
            if (blockedAt != 0 && Stopwatch.GetElapsedTime(blockedAt) > Long)
            {
                Console.Out.WriteLine("blocked for long");
                Volatile.Write(ref _blockedAt, 0);
            }

            Thread.Sleep(LookInterval);
        }
    }
}
