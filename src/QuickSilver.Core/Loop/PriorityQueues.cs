using System.Numerics;
using QuickSilver.Core.Buffers;
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

    public CoreWork(PortSlot port, Lease lease, int offset, int length)
    {
        _subject = port;
        Lease = lease;
        Offset = offset;
        Length = length;
    }

    public CoreWork(Request request) => _subject = request;

    /// <summary>One claim that goes with the work; null for a request.</summary>
    public Lease? Lease { get; }

    public int Offset { get; }

    public int Length { get; }

    public PortSlot Port => (PortSlot)_subject;

    public Request Request => (Request)_subject;
}

// Six queues, strict priority, first come first served within each. Starvation is the caller's to prevent: it takes in a
// bounded batch and serves all of that before it takes in more.
internal sealed class PriorityQueues
{
    private const int Classes = 6;
    private readonly Queue<CoreWork>[] _queues = new Queue<CoreWork>[Classes];
    // Bit n is set while queue n holds something.
    private uint _filled;

    public PriorityQueues()
    {
        for (int i = 0; i < Classes; i++)
        {
            _queues[i] = new Queue<CoreWork>(64);
        }
    }

    public bool IsEmpty => _filled == 0;

    public int Count(WorkClass workClass) => _queues[(int)workClass].Count;

    public void Enqueue(WorkClass workClass, in CoreWork work)
    {
        _queues[(int)workClass].Enqueue(work);
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
        var queue = _queues[first];
        work = queue.Dequeue();
        if (queue.Count == 0)
        {
            _filled &= ~(1u << first);
        }

        return true;
    }
}
