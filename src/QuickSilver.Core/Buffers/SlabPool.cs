namespace QuickSilver.Core.Buffers;

// Packet memory: blocks of BlockBytes cut from large pinned slabs, so that a steady stream allocates nothing and the
// collector neither moves nor scans what is in flight. Bounded: when MaxBytes is leased, TryRent says no and the caller
// sheds load (a receive is put off, a send waits). Memory once taken is kept: a pool that shrank would pay for it again in
// the next burst. It grows by need, or is reserved whole before the first packet. Rent and release are the core thread's; no
// lock.
internal sealed class SlabPool
{
    // A run of segmentation offload is at most 65,507 bytes; one block takes any run.
    public const int BlockBytes = 64 * 1024;
    private const int BlocksPerSlab = 16;
    private const int BlocksPerReservedSlab = 1024;
    // What a tracked block is filled with when it is returned: who still reads it sees no packet.
    private const byte ReturnedFill = 0xDB;

    private readonly Stack<Lease> _free = new();
    private readonly long _maxBlocks;
    private long _blocks;

    public SlabPool(long maxBytes)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxBytes, BlockBytes);
        _maxBlocks = maxBytes / BlockBytes;
    }

    /// <summary>The most that this pool ever holds: what it was given, in whole blocks.</summary>
    public long MaxBytes => _maxBlocks * BlockBytes;

    /// <summary>Set in debug runs and tests: knows who holds what.</summary>
    public LeaseTracker? Tracker { get; init; }

    public long LeasedBlocks => _blocks - _free.Count;

    /// <summary>Blocks that can still be rented before the bound is reached.</summary>
    public long AvailableBlocks => _maxBlocks - LeasedBlocks;

    public bool IsHalfUsed => LeasedBlocks > _maxBlocks / 2;

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

            Grow(BlocksPerSlab);
            lease = _free.Pop();
        }

        lease.Begin();
        Tracker?.OnRent(lease);
        return lease;
    }

    /// <summary>
    /// Takes everything up to the bound at once, so that no burst makes the collector's budget run out: growth on the pinned
    /// heap counts as large allocations, which cause full collections. The system gives the pages as they are first touched.
    /// </summary>
    public void Reserve()
    {
        while (_blocks < _maxBlocks)
        {
            var slab = Grow(BlocksPerReservedSlab);
            if (slab.Length == BlocksPerReservedSlab * BlockBytes)
            {
                // Not for a small pool: a page of 2 MiB is resident whole once a byte of it was touched.
                HugePages.Advise(slab);
            }
        }
    }

    internal void Return(Lease lease)
    {
        if (Tracker is { } tracker)
        {
            tracker.OnReturn(lease);
            lease.Span.Fill(ReturnedFill);
            lease = lease.Renew();
        }

        _free.Push(lease);
    }

    private byte[] Grow(int most)
    {
        int blocks = (int)Math.Min(most, _maxBlocks - _blocks);
        var slab = GC.AllocateUninitializedArray<byte>(BlockBytes * blocks, pinned: true);
        _free.EnsureCapacity((int)(_blocks + blocks));
        // Pushed from the end, so that they come out in the order of memory.
        for (int i = blocks - 1; i >= 0; i--)
        {
            _free.Push(new Lease(this, slab, i * BlockBytes));
        }

        _blocks += blocks;
        return slab;
    }
}
