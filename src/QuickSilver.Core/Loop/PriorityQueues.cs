using System.Numerics;
using QuickSilver.Core.Requests;

namespace QuickSilver.Core.Loop;

// In the order in which they are served. Control before data, both ways: a token or an acknowledgement that waits behind
// packets makes the packets wait in turn, in other nodes' retention buffers. In before out: what came may make a send
// needless.
internal enum WorkClass
{
    InboundControl = 0,
    InboundData,
    OutboundControl,
    OutboundData,
    Disk,
    Other,
}

// A received run that waits for its receiver, or work that the core thread put off for itself.
internal readonly struct CoreWork
{
    private readonly object _subject;

    public CoreWork(PortSlot port, in PlacedRun run)
    {
        _subject = port;
        Run = run;
    }

    public CoreWork(Request request) => _subject = request;

    /// <summary>Goes with the work, and its claim too; none for a request.</summary>
    public PlacedRun Run { get; }

    public bool IsRun => Run.Lease is not null;

    public PortSlot Port => (PortSlot)_subject;

    public Request Request => (Request)_subject;
}

// Six queues, strict priority, first come first served within each. Starvation is the caller's to prevent: it takes in a
// bounded batch and serves all of that before it takes in more.
internal sealed class PriorityQueues
{
    private const int Classes = 6;
    // Null before the first of its class: most nodes of a large simulated cluster are idle.
    private readonly Queue<CoreWork>?[] _queues = new Queue<CoreWork>?[Classes];
    // Bit n is set while queue n holds something.
    private uint _filled;

    public bool IsEmpty => _filled == 0;

    public int Count(WorkClass workClass) => _queues[(int)workClass]?.Count ?? 0;

    public void Enqueue(WorkClass workClass, in CoreWork work)
    {
        (_queues[(int)workClass] ??= new Queue<CoreWork>()).Enqueue(work);
        _filled |= 1u << (int)workClass;
    }

    public bool TryDequeue(out CoreWork work)
    {
        if (_filled == 0)
        {
            work = default;
            return false;
        }

        int first = BitOperations.TrailingZeroCount(_filled);
        var queue = _queues[first]!;
        work = queue.Dequeue();
        if (queue.Count == 0)
        {
            _filled &= ~(1u << first);
        }

        return true;
    }
}
