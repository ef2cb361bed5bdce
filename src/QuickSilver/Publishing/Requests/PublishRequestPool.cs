using System.Collections.Concurrent;

namespace QuickSilver.Publishing.Requests;

// The publish requests of the node: publishers rent them, and the core thread returns them. Two limits apply: the number of requests kept,
// and the bytes of their own buffers, which are never more than twice the publish queue, whatever the message sizes.
internal sealed class PublishRequestPool(long publishQueueBytes)
{
    public const int MaxKept = 1 << 14;

    // A queue that has grown to the number of requests in flight allocates nothing. Both queues are null until the first object is
    // returned, because messages that go through the lane need none.
    private ConcurrentQueue<PublishRequest>? _free;
    private ConcurrentQueue<PublishWait>? _freeWaits;
    private readonly long _maxOwnBytes = 2 * publishQueueBytes;
    private long _ownBytes;
    private int _kept;
    private int _keptWaits;
    private long _waiting;

    public long OwnBytes => Volatile.Read(ref _ownBytes);

    /// <summary>From any thread: the accepted messages in requests that are neither sent nor dropped.</summary>
    public long Waiting => Volatile.Read(ref _waiting);

    internal void BeginWait() => Interlocked.Increment(ref _waiting);

    internal void EndWait() => Interlocked.Decrement(ref _waiting);

    public PublishRequest Rent()
    {
        if (Volatile.Read(ref _free) is { } free && free.TryDequeue(out var request))
        {
            Interlocked.Decrement(ref _kept);
            return request;
        }

        return new PublishRequest(this);
    }

    public PublishRequest Rent(PublishOrigin origin, ReadOnlySpan<byte> payload, ReadOnlySpan<byte> extensions = default)
    {
        var request = Rent();
        try
        {
            payload.CopyTo(request.Prepare(payload.Length, extensions));
        }
        catch (OutOfMemoryException)
        {
            request.Recycle();
            throw;
        }

        request.Origin = origin;
        request.Charge = payload.Length + extensions.Length + PublishBudget.MessageOverhead;
        return request;
    }

    /// <summary>A request that takes over the buffer with its message, so that it needs no memory for it.</summary>
    public PublishRequest Adopt(PublishOrigin origin, byte[] buffer, int bytes)
    {
        var request = Rent();
        request.Adopt(buffer, bytes);
        request.Origin = origin;
        request.Charge = bytes + PublishBudget.MessageOverhead;
        return request;
    }

    public PublishWait RentWait()
    {
        if (Volatile.Read(ref _freeWaits) is { } free && free.TryDequeue(out var wait))
        {
            Interlocked.Decrement(ref _keptWaits);
            return wait;
        }

        return new PublishWait(this);
    }

    internal void Return(PublishRequest request)
    {
        if (Interlocked.Increment(ref _kept) <= MaxKept)
        {
            LazyInitializer.EnsureInitialized(ref _free).Enqueue(request);
            return;
        }

        Interlocked.Decrement(ref _kept);
        Interlocked.Add(ref _ownBytes, -request.OwnBytes);
    }

    internal void Return(PublishWait wait)
    {
        if (Interlocked.Increment(ref _keptWaits) <= MaxKept)
        {
            LazyInitializer.EnsureInitialized(ref _freeWaits).Enqueue(wait);
            return;
        }

        Interlocked.Decrement(ref _keptWaits);
    }

    internal bool TryGrow(int bytes)
    {
        if (Interlocked.Add(ref _ownBytes, bytes) <= _maxOwnBytes)
        {
            return true;
        }

        Shrink(bytes);
        return false;
    }

    internal void Shrink(int bytes) => Interlocked.Add(ref _ownBytes, -bytes);
}
