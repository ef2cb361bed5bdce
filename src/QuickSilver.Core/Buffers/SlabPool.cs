namespace QuickSilver.Core.Buffers;

// Packet memory: blocks of BlockBytes cut from large pinned slabs, so that a steady stream allocates nothing and the
// collector neither moves nor scans what is in flight. Bounded: when MaxBytes is leased, TryRent says no and the caller
// sheds load (a receive is put off, a send waits). Rent and release are the core thread's; no lock.
internal sealed class SlabPool
{
    // A run of segmentation offload is at most 65,507 bytes; one block takes any run.
    public const int BlockBytes = 64 * 1024;
    private const int BlocksPerSlab = 16;

    private readonly Stack<Lease> _free = new();
    private readonly long _maxBlocks;
    private long _blocks;

    public SlabPool(long maxBytes)
    {
        _maxBlocks = Math.Max(BlocksPerSlab, maxBytes / BlockBytes);
    }

    /// <summary>Set in debug runs and tests: knows who holds what.</summary>
    public LeaseTracker? Tracker { get; init; }

    public long LeasedBlocks => _blocks - _free.Count;

    public long AllocatedBytes => _blocks * BlockBytes;

    /// <summary>A block with one claim on it, or null when the bound is reached.</summary>
    public Lease? TryRent()
    {
        if (!_free.TryPop(out var lease))
        {
            if (_blocks >= _maxBlocks)
            {
                return null;
            }

            Grow();
            lease = _free.Pop();
        }

        lease.Begin();
        Tracker?.OnRent(lease);
        return lease;
    }

    internal void Return(Lease lease)
    {
        Tracker?.OnReturn(lease);
        _free.Push(lease);
    }

    private void Grow()
    {
        var slab = GC.AllocateUninitializedArray<byte>(BlockBytes * BlocksPerSlab, pinned: true);
        for (int i = 0; i < BlocksPerSlab; i++)
        {
            _free.Push(new Lease(this, slab, i * BlockBytes));
        }

        _blocks += BlocksPerSlab;
    }
}
