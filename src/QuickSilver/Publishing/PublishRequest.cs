using System.Buffers;
using System.Numerics;

namespace QuickSilver.Publishing;

// One message on its way from a publisher to the core thread, encoded. Pooled together with its buffer: it belongs to the
// publisher until it is in the topic's inbox or queue, to the core thread after that, and to the pool at the end.
internal sealed class PublishRequest(PublishRequestPool pool)
{
    // Buffers up to this size stay with the request; a larger one is rented for the message alone.
    public const int MaxOwnBytes = 64 << 10;
    private const int MinOwnBytes = 256;

    private byte[] _own = [];
    private byte[]? _rented;
    private int _length;

    // Links of whichever list holds the request: the inbox and the core thread's queue use Next, the waiting line both.
    internal PublishRequest? Next;
    internal PublishRequest? Previous;

    /// <summary>Which endpoint published it; cancelling that endpoint takes back what was not yet sent.</summary>
    public PublishOrigin? Origin { get; set; }

    /// <summary>Set when the publisher waits until all hold the message.</summary>
    public StableCompletion? Stable { get; set; }

    /// <summary>Set while the publisher waits for room.</summary>
    public PublishWait? Wait { get; set; }

    /// <summary>Set for a marker: no message, but a place in the order; called when all before it was sent.</summary>
    public Action? Marker { get; set; }

    /// <summary>It goes after what lies in the lane before this position, and before all behind it.</summary>
    public long Mark { get; set; }

    /// <summary>Whether the lane could have taken it: its publisher gains nothing by going past.</summary>
    public bool FitsLane { get; set; }

    /// <summary>What the request costs the publish queue's bound.</summary>
    public long Charge { get; set; }

    /// <summary>Why it is not to be sent any more; null where it is.</summary>
    public Exception? EndedReason => this switch
    {
        { Marker: not null } => null,
        { Stable.IsWithdrawn: true } => new OperationCanceledException(),
        { Origin.DropReason: { } reason } => reason,
        _ => null,
    };

    internal int OwnBytes => _own.Length;

    public ReadOnlySpan<byte> Payload => (_rented ?? _own).AsSpan(0, _length);

    public Span<byte> Prepare(int bytes)
    {
        _length = bytes;
        if (bytes <= _own.Length)
        {
            return _own.AsSpan(0, bytes);
        }

        int own = Math.Max(MinOwnBytes, (int)BitOperations.RoundUpToPowerOf2((uint)bytes));
        if (own <= MaxOwnBytes && pool.TryGrow(own - _own.Length))
        {
            _own = GC.AllocateUninitializedArray<byte>(own);
            return _own.AsSpan(0, bytes);
        }

        _rented = ArrayPool<byte>.Shared.Rent(bytes);
        return _rented.AsSpan(0, bytes);
    }

    public void SetLength(int bytes) => _length = bytes;

    /// <summary>
    /// It is not sent: who waits for it is told, a marker is called, and the request goes back to the pool. Gives what it was charged.
    /// </summary>
    public long Fail(Exception reason)
    {
        long charge = Charge;
        var marker = Marker;
        Stable?.Fail(reason);
        Recycle();
        marker?.Invoke();
        return charge;
    }

    /// <summary>Back to the pool. Who calls it must not touch the request again.</summary>
    public void Recycle()
    {
        if (_rented is { } rented)
        {
            _rented = null;
            ArrayPool<byte>.Shared.Return(rented);
        }

        Next = null;
        Previous = null;
        Origin = null;
        Stable = null;
        Wait = null;
        Marker = null;
        FitsLane = false;
        _length = 0;
        pool.Return(this);
    }
}
