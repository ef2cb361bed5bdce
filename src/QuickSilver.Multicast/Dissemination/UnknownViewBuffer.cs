using QuickSilver.Core.Buffers;

namespace QuickSilver.Multicast.Dissemination;

// Packets of views that this node does not know yet (their first packets may overtake the news of the view): kept for a
// while within a bound, and handed in again when a configuration has come.
internal sealed class UnknownViewBuffer(int maxBytes, TimeSpan maxAge)
{
    private readonly Queue<(Lease Lease, int Offset, int Length, TimeSpan At)> _packets = new();
    private int _bytes;

    public int Count => _packets.Count;

    public bool TryKeep(TimeSpan now, Lease lease, int offset, int length)
    {
        Expire(now);
        if (_bytes + length > maxBytes)
        {
            return false;
        }

        lease.AddClaim();
        _packets.Enqueue((lease, offset, length, now));
        _bytes += length;
        return true;
    }

    /// <summary>Takes the oldest; the caller releases its lease.</summary>
    public bool TryTake(out Lease lease, out int offset, out int length)
    {
        if (!_packets.TryDequeue(out var packet))
        {
            (lease, offset, length) = (null!, 0, 0);
            return false;
        }

        _bytes -= packet.Length;
        (lease, offset, length) = (packet.Lease, packet.Offset, packet.Length);
        return true;
    }

    private void Expire(TimeSpan now)
    {
        while (_packets.TryPeek(out var oldest) && now - oldest.At > maxAge)
        {
            TryTake(out var lease, out _, out _);
            lease.Release();
        }
    }
}
