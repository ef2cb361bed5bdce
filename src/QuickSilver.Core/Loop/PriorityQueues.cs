using System.Numerics;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

// A completion that waits for its owner, or work that the core thread put off for itself.
internal readonly struct CoreWork
{
    private readonly object _subject;
    private readonly PlacedRun _run;

    public CoreWork(in Completion completion)
    {
        _subject = completion.Source;
        _run = completion.Run;
    }

    public CoreWork(Request request) => _subject = request;

    /// <summary>Null where the work is a completion.</summary>
    public Request? Request => _subject as Request;

    public Completion Completion => new((CompletionSource)_subject, _run);
}

// Seven queues, strict priority, first come first served within each. Starvation is the caller's to prevent: it takes in a
// bounded batch and serves all of that before it takes in more.
//
// What came in is served at the beginning of a turn, the rest at its end: alarms and requests in between may make a send needless, or
// add to it.
internal sealed class PriorityQueues
{
    private const int Classes = CoreCounters.Queues;
    private const uint Inbound =
        (1u << (int)WorkClass.InboundControl) | (1u << (int)WorkClass.InboundRepair) | (1u << (int)WorkClass.InboundData);
    // Null before the first of its class, and small then: most nodes of a large simulated cluster are idle.
    private readonly Queue<CoreWork>?[] _queues = new Queue<CoreWork>?[Classes];
    // Bit n is set while queue n holds something.
    private uint _filled;

    public bool IsEmpty => _filled == 0;

    /// <summary>Whether something waits that came in.</summary>
    public bool IsAnyInbound => (_filled & Inbound) != 0;

    /// <summary>How much waits that this node put off for itself.</summary>
    public int Deferred
    {
        get
        {
            int count = 0;
            for (uint left = _filled & ~Inbound; left != 0; left &= left - 1)
            {
                count += _queues[BitOperations.TrailingZeroCount(left)]!.Count;
            }

            return count;
        }
    }

    public int Count(WorkClass workClass) => _queues[(int)workClass]?.Count ?? 0;

    public void Enqueue(WorkClass workClass, in CoreWork work)
    {
        (_queues[(int)workClass] ??= new Queue<CoreWork>(capacity: 1)).Enqueue(work);
        _filled |= 1u << (int)workClass;
    }

    public bool TryDequeue(out CoreWork work) => TryDequeue(_filled, out work, out _);

    public bool TryDequeueInbound(out CoreWork work, out WorkClass workClass) => TryDequeue(_filled & Inbound, out work, out workClass);

    public bool TryDequeueDeferred(out CoreWork work, out WorkClass workClass) => TryDequeue(_filled & ~Inbound, out work, out workClass);

    private bool TryDequeue(uint filled, out CoreWork work, out WorkClass workClass)
    {
        if (filled == 0)
        {
            work = default;
            workClass = default;
            return false;
        }

        int first = BitOperations.TrailingZeroCount(filled);
        workClass = (WorkClass)first;
        var queue = _queues[first]!;
        work = queue.Dequeue();
        if (queue.Count == 0)
        {
            _filled &= ~(1u << first);
        }

        return true;
    }
}
