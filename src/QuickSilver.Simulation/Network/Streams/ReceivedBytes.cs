using System.Runtime.InteropServices;

namespace QuickSilver.Simulation.Network.Streams;

// What has arrived on a stream and its handler has not consumed. Large chunks are looked at where they lie, in the sender's own
// array: of what the service sends to thousands of nodes, frame for frame, none has a copy. So they are offered apart from what
// comes before and after them; what a handler leaves is copied where it does not continue in the same array.
internal sealed class ReceivedBytes
{
    private const int LeastAlone = PendingBytes.LeastAlone;

    // Null while there is nothing in it: most streams carry much once and little after that.
    private ByteQueue? _copied;
    private ReadOnlyMemory<byte> _lent;
    // Not offered yet; a stream is idle nearly always.
    private Queue<ReadOnlyMemory<byte>>? _arrived;
    private ReadOnlyMemory<byte> _lastArrived;

    /// <summary>What was offered and left.</summary>
    public int Count => _lent.Length + (_copied?.Count ?? 0);

    public bool HasArrived => !_lastArrived.IsEmpty;

    /// <summary>What was offered and left, and what <see cref="TakeNext"/> added.</summary>
    public ReadOnlySpan<byte> Span => _copied is null ? _lent.Span : _copied.Span;

    public void Add(ReadOnlyMemory<byte> bytes)
    {
        if (TryJoin(_lastArrived, bytes, out var both))
        {
            _lastArrived = both;
        }
        else if (_lastArrived.Length < LeastAlone && bytes.Length < LeastAlone)
        {
            _lastArrived = (byte[])[.. _lastArrived.Span, .. bytes.Span];
        }
        else
        {
            (_arrived ??= []).Enqueue(_lastArrived);
            _lastArrived = bytes;
        }
    }

    /// <summary>Adds what arrived first to what is offered, and says how much that is.</summary>
    public int TakeNext()
    {
        if (_arrived is null || !_arrived.TryDequeue(out var next))
        {
            _arrived = null;
            next = _lastArrived;
            _lastArrived = default;
        }

        if (_copied is null && TryJoin(_lent, next, out var both))
        {
            _lent = both;
        }
        else
        {
            _copied ??= new ByteQueue();
            _copied.Append(_lent.Span);
            _copied.Append(next.Span);
            _lent = default;
        }

        return next.Length;
    }

    public void Consume(int count)
    {
        if (_copied is not null)
        {
            _copied.Remove(count);
            _copied = _copied.Count > 0 ? _copied : null;
        }
        else
        {
            _lent = count == _lent.Length ? default : _lent[count..];
        }
    }

    public void Clear()
    {
        _copied = null;
        _lent = default;
        _lastArrived = default;
        _arrived = null;
    }

    // Where one follows the other in one array they are together.
    private static bool TryJoin(ReadOnlyMemory<byte> bytes, ReadOnlyMemory<byte> more, out ReadOnlyMemory<byte> both)
    {
        both = more;
        if (bytes.IsEmpty)
        {
            return true;
        }

        if (MemoryMarshal.TryGetArray(bytes, out var one)
            && MemoryMarshal.TryGetArray(more, out var next)
            && one.Array == next.Array
            && one.Offset + one.Count == next.Offset)
        {
            both = one.Array.AsMemory(one.Offset, one.Count + next.Count);
            return true;
        }

        return false;
    }
}
