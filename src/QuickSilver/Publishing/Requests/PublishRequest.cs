using System.Numerics;
using QuickSilver.Core.Buffers;
using QuickSilver.Publishing.Feeds;

namespace QuickSilver.Publishing.Requests;

// One encoded message on its way from a publisher to the core thread. It is pooled together with its buffer. It belongs to the publisher
// until it is in the topic's inbox or queue, then to the core thread, and finally to the pool.
internal sealed class PublishRequest(PublishRequestPool pool)
{
    // A buffer up to this size stays with the request. A larger one is rented for one message.
    public const int MaxOwnBytes = 64 << 10;
    private const int MinOwnBytes = 256;

    private byte[] _own = [];
    private byte[]? _rented;
    private int _length;
    // The extensions are before the payload.
    private int _extensionBytes;
    private bool _isWaiting;

    // Links of the list that contains the request: the inbox and the core thread's queue use Next, the line uses both.
    internal PublishRequest? Next;
    internal PublishRequest? Previous;

    /// <summary>
    /// The endpoint that published the message. If that endpoint is cancelled, its messages that were not sent yet are dropped.
    /// </summary>
    public PublishOrigin? Origin { get; set; }

    /// <summary>Set if the publisher waits until the message is stable.</summary>
    public StableCompletion? Stable { get; set; }

    /// <summary>Set while the publisher waits for room.</summary>
    public PublishWait? Wait { get; set; }

    /// <summary>
    /// Set for a marker, which is a position in the order without a message. It is called when all messages before it were sent.
    /// </summary>
    public Action? Marker { get; set; }

    /// <summary>Set for the message that a feed had kept when it was detached.</summary>
    public AttachedFeed? Feed { get; set; }

    /// <summary>The request is sent after the messages in the lane before this position, and before all those after it.</summary>
    public long Mark { get; set; }

    /// <summary>Whether the message fits into the lane, so that its publisher gains nothing by bypassing the lane.</summary>
    public bool FitsLane { get; set; }

    /// <summary>The bytes that the request takes of the publish budget.</summary>
    public long Charge { get; set; }

    /// <summary>The reason why the message must not be sent any more; null if it may be sent.</summary>
    public Exception? EndedReason => this switch
    {
        { Marker: not null } => null,
        { Stable.IsWithdrawn: true } => new OperationCanceledException(),
        { Origin.DropReason: { } reason } => reason,
        _ => null,
    };

    internal int OwnBytes => _own.Length;

    public ReadOnlySpan<byte> Payload => (_rented ?? _own).AsSpan(_extensionBytes, _length);

    /// <summary>The fields that the message carries besides its payload.</summary>
    public ReadOnlySpan<byte> Extensions => (_rented ?? _own).AsSpan(0, _extensionBytes);

    /// <summary>Prepares the buffer for a payload, and writes what precedes it.</summary>
    public Span<byte> Prepare(int bytes, ReadOnlySpan<byte> extensions)
    {
        var buffer = Prepare(bytes + extensions.Length);
        extensions.CopyTo(buffer);
        _extensionBytes = extensions.Length;
        _length = bytes;
        return buffer[extensions.Length..];
    }

    public Span<byte> Prepare(int bytes)
    {
        _length = bytes;
        _extensionBytes = 0;
        if (bytes <= _own.Length)
        {
            return _own.AsSpan(0, bytes);
        }

        int own = Math.Max(MinOwnBytes, (int)BitOperations.RoundUpToPowerOf2((uint)bytes));
        if (own <= MaxOwnBytes && pool.TryGrow(own - _own.Length))
        {
            try
            {
                _own = GC.AllocateUninitializedArray<byte>(own);
            }
            catch (OutOfMemoryException)
            {
                pool.Shrink(own - _own.Length);
                throw;
            }

            return _own.AsSpan(0, bytes);
        }

        _rented = MessageBuffers.Rent(bytes);
        return _rented.AsSpan(0, bytes);
    }

    public void SetLength(int bytes) => _length = bytes;

    /// <summary>Takes over a buffer of a size that the pool of buffers has, with a payload at its beginning.</summary>
    public void Adopt(byte[] buffer, int bytes)
    {
        _rented = buffer;
        _length = bytes;
        _extensionBytes = 0;
    }

    /// <summary>Called when the message is accepted: it waits until it is sent or dropped. A marker does not count.</summary>
    public void BeginWait()
    {
        if (Marker is null)
        {
            _isWaiting = true;
            pool.BeginWait();
        }
    }

    /// <summary>Called when the message was sent or dropped, before it counts as such.</summary>
    public void EndWait()
    {
        if (_isWaiting)
        {
            _isWaiting = false;
            pool.EndWait();
        }
    }

    /// <summary>
    /// Ends a request that is not sent: counts the message of a publisher that does not wait for it, notifies a publisher that waits for
    /// it, calls a marker, and returns the request to the pool.
    /// Returns the request's charge.
    /// </summary>
    public long Fail(Exception reason)
    {
        long charge = Charge;
        var marker = Marker;
        if (marker is null && Stable is null)
        {
            Origin?.CountDropped(1);
        }

        Stable?.Fail(reason);
        Recycle();
        marker?.Invoke();
        return charge;
    }

    /// <summary>Returns the request to the pool. The caller must not use it after that.</summary>
    public void Recycle()
    {
        if (_rented is { } rented)
        {
            _rented = null;
            MessageBuffers.Return(rented);
        }

        EndWait();
        Next = null;
        Previous = null;
        Origin = null;
        Stable = null;
        Wait = null;
        Marker = null;
        Feed = null;
        FitsLane = false;
        _length = 0;
        _extensionBytes = 0;
        pool.Return(this);
    }
}
