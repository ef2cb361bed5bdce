using System.Diagnostics;
using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver;

namespace ChurnNode;

// A member whose application blocks the thread pool, as code does that waits for tasks. It uses no pool itself: its own thread reads the
// input, and writes the state of the node to standard output whenever it is another one.
//
// Input: "block" fills the pool with work that blocks, "handle" has a handler block the core thread for a time, "free" ends what blocks the
// pool, and the end of the input ends the process. When the pool has been blocked for longer than the limit of heartbeats, it says so
// ("blocked for long").
internal static class BlockedPool
{
    // More than the pool starts in minutes.
    private const int Blocked = 1000;
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(12);
    // Longer than a handler may block, and shorter than a member may be silent.
    private static readonly TimeSpan HandlerTime = TimeSpan.FromSeconds(4);
    private static long _blockedAt;

    public static int Run(QuickSilverOptions options, ILoggerFactory logs, bool isBlockedAtStart)
    {
        var free = new ManualResetEventSlim();
        if (isBlockedAtStart)
        {
            Block(free);
        }

        QuickSilverNode node;
        try
        {
            node = QuickSilverNode.StartAsync(options, logs).GetAwaiter().GetResult();
        }
        catch (MembershipUnreachableException failure)
        {
            Console.Error.WriteLine(failure.Message);
            return 3;
        }

        new Thread(() => Show(node)) { IsBackground = true }.Start();
        var topic = isBlockedAtStart ? null : OpenHandled(node);
        Console.Error.WriteLine("ready");
        while (Console.In.ReadLine() is { } verb)
        {
            switch (verb)
            {
                case "block":
                    free.Reset();
                    Block(free);
                    Volatile.Write(ref _blockedAt, Stopwatch.GetTimestamp());
                    break;
                case "handle":
                    _ = topic!.PublishAsync("a message").AsTask();
                    break;
                case "free":
                    free.Set();
                    break;
                default:
                    Console.Error.WriteLine($"'{verb}' is none of block, handle and free.");
                    return 2;
            }

            Console.Out.WriteLine(verb);
        }

        return 0;
    }

    private static ITopic<string> OpenHandled(QuickSilverNode node)
    {
        var topic = node.OpenTopicAsync<string>("handled").GetAwaiter().GetResult();
        topic.SubscribeInline(static (in Message<string> _) => Thread.Sleep(HandlerTime));
        return topic;
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
