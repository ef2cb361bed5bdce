using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Requests;

// Work handed to the core thread by any thread: lock-free, many producers, one consumer, first in, first out, no limit
// (who must be held back is held back where it publishes), no allocation: the links lie in the requests.
//
// Producers push on a stack with one compare-and-swap. The consumer takes the whole stack with one exchange, turns it
// round, and works through that batch before it looks again; so requests come out in the order of their swaps, and the
// consumer touches the contended word once per batch.
//
// Liveness contract:
// - An enqueue happens at its compare-and-swap, and whole: there is no moment at which a request is half in. A dequeue
//   that returns null misses only requests whose swap came after its look.
// - The same word says whether the consumer sleeps. TryBeginSleep swaps EndOfChain for Asleep, which fails if anything came;
//   an Enqueue that swaps Asleep out returns true, and exactly one does per sleep. That caller must wake the consumer:
//   no other does. All others return false: the consumer is awake, or is being woken, and will look again.
// - The consumer must look again (TryDequeue) after it wakes for whatever reason, and calls EndSleep first, which takes
//   back the announcement if no enqueue has answered it. A wake that comes after that is spurious; the poller must bear it.
internal sealed class RequestQueue
{
    // Stands at the end of every chain, so that a null link means "in no queue" and a second enqueue is seen.
    private static readonly Request EndOfChain = new Mark();
    private static readonly Request Asleep = new Mark();

    private SharedWord _shared;
    // The batch in work, oldest first; the consumer's alone.
    private Request _batch = EndOfChain;

    public RequestQueue()
    {
        _shared.Newest = EndOfChain;
    }

    /// <summary>From any thread. True: the consumer may be asleep, and the caller must wake it.</summary>
    public bool Enqueue(Request request)
    {
        // Sees a request that is still queued, unless two threads post it at the same instant: that is theirs to avoid.
        if (request.Next is not null)
        {
            ThrowQueued();
        }

        var seen = Volatile.Read(ref _shared.Newest);
        while (true)
        {
            bool mustWake = ReferenceEquals(seen, Asleep);
            request.Next = mustWake ? EndOfChain : seen;
            var found = Interlocked.CompareExchange(ref _shared.Newest, request, seen);
            if (ReferenceEquals(found, seen))
            {
                return mustWake;
            }

            seen = found;
        }
    }

    /// <summary>On the core thread: the oldest request, or null. It may be enqueued again at once.</summary>
    public Request? TryDequeue()
    {
        var request = _batch;
        if (ReferenceEquals(request, EndOfChain))
        {
            if (!TakeBatch())
            {
                return null;
            }

            request = _batch;
        }

        _batch = request.Next!;
        request.Next = null;
        return request;
    }

    /// <summary>On the core thread: whether something is queued.</summary>
    public bool IsAny => !ReferenceEquals(_batch, EndOfChain)
        || (Volatile.Read(ref _shared.Newest) is var newest && !ReferenceEquals(newest, EndOfChain) && !ReferenceEquals(newest, Asleep));

    /// <summary>On the core thread, before it blocks. False: something is queued, do not block.</summary>
    public bool TryBeginSleep() =>
        ReferenceEquals(_batch, EndOfChain)
        && ReferenceEquals(Interlocked.CompareExchange(ref _shared.Newest, Asleep, EndOfChain), EndOfChain);

    /// <summary>On the core thread, once it no longer blocks, whether or not it was woken.</summary>
    public void EndSleep() => Interlocked.CompareExchange(ref _shared.Newest, EndOfChain, Asleep);

    private bool TakeBatch()
    {
        // A read first: an idle consumer that polls must not steal the cache line from the producers.
        var newest = Volatile.Read(ref _shared.Newest);
        if (ReferenceEquals(newest, EndOfChain) || ReferenceEquals(newest, Asleep))
        {
            return false;
        }

        newest = Interlocked.Exchange(ref _shared.Newest, EndOfChain);
        var oldest = EndOfChain;
        while (!ReferenceEquals(newest, EndOfChain))
        {
            var older = newest.Next!;
            newest.Next = oldest;
            oldest = newest;
            newest = older;
        }

        _batch = oldest;
        return true;
    }

    [DoesNotReturn]
    private static void ThrowQueued() =>
        throw new InvalidOperationException("The request is already queued. Post it again after its Execute was called.");

    // Producers on other cores write this word; alone on its cache lines it does not slow the consumer's own fields.
    // Two lines on each side, as the prefetcher fetches pairs.
    [StructLayout(LayoutKind.Explicit, Size = 264)]
    private struct SharedWord
    {
        [FieldOffset(128)]
        public Request Newest;
    }

    private sealed class Mark : Request
    {
        public override void Execute() => throw new InvalidOperationException("The queue's sentinel must not be executed.");
    }
}
