using QuickSilver.Core.Buffers;

namespace QuickSilver.Multicast.Receiving.Healing;

// The block of packet memory in which packets that were made of others lie, one after the other. A block for each would use up the memory
// of a node that heals much. While memory is short, no block is kept.
internal sealed class HealingBlock(SlabPool pool)
{
    private Lease? _block;
    private int _used;

    /// <summary>Gets room for one packet; null if there is no memory. The claim is the block's own.</summary>
    public Lease? TryReserve(int bytes, out int offset)
    {
        if (_block is not null && (pool.IsShort || _used + bytes > SlabPool.BlockBytes))
        {
            Close();
        }

        _block ??= pool.TryRent();
        offset = _used;
        return _block;
    }

    /// <summary>The room that was reserved last is taken.</summary>
    public void Take(int bytes) => _used += bytes;

    public void Close()
    {
        _block?.Release();
        _block = null;
        _used = 0;
    }
}
