using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns;

// Stops nodes at random: one process after the other by SIGSTOP, for half a second as a collection of a large heap takes, and has some
// make a full collection besides. Each thread has one node stopped for a bit less than half of the time.
internal sealed class RandomPauses : IDisposable
{
    private const int CollectOneIn = 4;
    private static readonly TimeSpan Length = TimeSpan.FromMilliseconds(500);
    private readonly IReadOnlyList<NodeProcess> _nodes;
    private readonly Thread[] _threads;
    private volatile bool _stop;
    private int _pauses;
    private int _collections;

    public RandomPauses(IReadOnlyList<NodeProcess> nodes, int threads, int seed)
    {
        _nodes = nodes;
        _threads = [.. Enumerable.Range(0, threads).Select(i => new Thread(() => Run(new Random(seed + i))) { IsBackground = true })];
        Array.ForEach(_threads, thread => thread.Start());
    }

    public int Pauses => Volatile.Read(ref _pauses);

    public int Collections => Volatile.Read(ref _collections);

    public void Dispose()
    {
        _stop = true;
        Array.ForEach(_threads, thread => thread.Join());
    }

    private void Run(Random random)
    {
        while (!_stop)
        {
            var node = _nodes[random.Next(_nodes.Count)];
            if (random.Next(CollectOneIn) == 0)
            {
                lock (node)
                {
                    StreamNodes.Ask(node, "collect", "collected");
                }

                Interlocked.Increment(ref _collections);
            }

            node.Send(ProcessSignal.Stop);
            Thread.Sleep(Length);
            node.Send(ProcessSignal.Continue);
            Interlocked.Increment(ref _pauses);
            Thread.Sleep(random.Next(2 * (int)Length.TotalMilliseconds));
        }
    }
}
