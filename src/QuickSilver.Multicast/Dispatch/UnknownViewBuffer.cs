using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Dispatch;

// Packets of views that this node does not know yet, because the first packets of a view may overtake the configuration that has it. They
// are kept for a limited time, within a limit in bytes, and dispatched again after a configuration. They are copied into separate blocks:
// a small packet that stays where it was received would pin a whole block, and the limit would not limit the memory.
internal sealed class UnknownViewBuffer(int maxBytes, TimeSpan maxAge, MulticastCounters counters)
{
    private readonly Queue<(Lease Lease, int Offset, int Length, TimeSpan At)> _packets = new();
    private Lease? _block;
    private int _used;
    private int _bytes;

    public int Count => _packets.Count;

    /// <summary>When the oldest packet expires; null if there is none.</summary>
    public TimeSpan? ExpiresAt => _packets.TryPeek(out var oldest) ? oldest.At + maxAge : null;

    /// <param name="pool">The pool that provides the memory for the copy.</param>
    /// <param name="now">The current time.</param>
    /// <param name="at">When the packet arrived first. Keeping it again does not extend its time.</param>
    /// <param name="packet">The packet.</param>
    public bool TryKeep(SlabPool pool, TimeSpan now, TimeSpan at, ReadOnlySpan<byte> packet)
    {
        Expire(now);
        if (_bytes + packet.Length > maxBytes || now - at >= maxAge || !TryMakeRoom(pool, packet.Length))
        {
            return false;
        }

        packet.CopyTo(_block!.Span[_used..]);
        _block.AddClaim();
        _packets.Enqueue((_block, _used, packet.Length, at));
        _used += packet.Length;
        _bytes += packet.Length;
        return true;
    }

    /// <summary>Takes the oldest packet; the caller releases its lease.</summary>
    public bool TryTake(out Lease lease, out int offset, out int length, out TimeSpan at)
    {
        if (!_packets.TryDequeue(out var packet))
        {
            (lease, offset, length, at) = (null!, 0, 0, default);
            return false;
        }

        _bytes -= packet.Length;
        (lease, offset, length, at) = packet;
        if (_packets.Count == 0)
        {
            _block?.Release();
            _block = null;
        }

        return true;
    }

    /// <summary>Removes expired packets and counts them: their view did not become known in time.</summary>
    public void Expire(TimeSpan now)
    {
        while (ExpiresAt <= now)
        {
            TryTake(out var lease, out _, out _, out _);
            lease.Release();
            counters.Drop(DropReason.UnknownView);
        }
    }

    public void Clear()
    {
        while (TryTake(out var lease, out _, out _, out _))
        {
            lease.Release();
        }
    }

    private bool TryMakeRoom(SlabPool pool, int bytes)
    {
        if (_block is not null && _used + bytes > SlabPool.BlockBytes)
        {
            _block.Release();
            _block = null;
        }

        if (_block is null)
        {
            _block = pool.IsShort ? null : pool.TryRent();
            _used = 0;
        }

        return _block is not null;
    }
}
