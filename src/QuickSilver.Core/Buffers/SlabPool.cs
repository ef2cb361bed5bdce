namespace QuickSilver.Core.Buffers;

// Packet memory: blocks of BlockBytes cut from large pinned slabs, so that a steady stream allocates nothing and the
// collector neither moves nor scans what is in flight. Bounded: when MaxBytes is leased, TryRent says no and the caller
// sheds load (a receive is put off, a send waits). Before that, who keeps what was received, or packs what is to be sent, asks
// whether its share is used up (MemoryShares). Memory once taken is kept: a pool that shrank would pay for it again in
// the next burst. It grows by need, or is reserved whole before the first packet. Rent and release are the core thread's; no
// lock.
//
// Invariant: LeasedBlocks is the sum of the blocks to send, those under places, and those that were received into.
internal sealed class SlabPool : ILeaseHome
{
    // A run of segmentation offload, and the largest datagram, are at most 65,507 bytes; one block takes any.
    public const int BlockBytes = 64 * 1024;
    private const int BlocksPerSlab = 16;
    private const int BlocksPerReservedSlab = 1024;
    // What a tracked block is filled with when it is returned: who still reads it sees no packet.
    private const byte ReturnedFill = 0xDB;

    private readonly Stack<Lease> _free = new();
    private readonly long _maxBlocks;
    private long _blocks;
    private long _toSend;
    private long _underPlaces;

    public SlabPool(long maxBytes)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(maxBytes, BlockBytes);
        _maxBlocks = maxBytes / BlockBytes;
        Shares = new MemoryShares(_maxBlocks);
    }

    public MemoryShares Shares { get; }

    /// <summary>Receivers have used up their share: what is received is kept only in a place of its own.</summary>
    public bool IsShort { get; private set; }

    /// <summary>Blocks that senders may still take.</summary>
    public long FreeToSend => Unclaimed - Math.Max(0, Shares.Receive - Received);

    /// <summary>Blocks that receivers may still keep.</summary>
    private long FreeToKeep => Unclaimed - Math.Max(0, Shares.Send - _toSend);

    // Free, and no one's reserve.
    private long Unclaimed => AvailableBlocks - Shares.Intake - (Shares.Places - _underPlaces);

    private long Received => LeasedBlocks - _toSend - _underPlaces;

    /// <summary>The most that this pool ever holds: what it was given, in whole blocks.</summary>
    public long MaxBytes => _maxBlocks * BlockBytes;

    /// <summary>Set in debug runs and tests: knows who holds what.</summary>
    public LeaseTracker? Tracker { get; init; }

    public long LeasedBlocks => _blocks - _free.Count;

    /// <summary>Blocks that can still be rented before the bound is reached.</summary>
    public long AvailableBlocks => _maxBlocks - LeasedBlocks;

    public bool IsHalfUsed => LeasedBlocks > _maxBlocks / 2;

    public long AllocatedBytes => _blocks * BlockBytes;

    /// <summary>A block with one claim on it, to receive into, or null when the bound is reached.</summary>
    public Lease? TryRent() => TryRent(toSend: false);

    /// <summary>A block to pack into, or null when senders have used up their share.</summary>
    public Lease? TryRentToSend()
    {
        var lease = FreeToSend > 0 ? TryRent(toSend: true) : null;
        if (lease is not null)
        {
            _toSend++;
            IsShort = FreeToKeep <= 0;
        }

        return lease;
    }

    /// <summary>A block to cut into places, or null when their share is used up.</summary>
    public Lease? TryRentForPlaces()
    {
        var lease = _underPlaces < Shares.Places ? TryRent(toSend: false) : null;
        if (lease is not null)
        {
            _underPlaces++;
            IsShort = FreeToKeep <= 0;
        }

        return lease;
    }

    /// <summary>The block was cut into places, all of which are free.</summary>
    public void ReturnFromPlaces(Lease lease)
    {
        _underPlaces--;
        lease.Release();
    }

    private Lease? TryRent(bool toSend)
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

        lease.Begin(toSend);
        Tracker?.OnRent(lease);
        IsShort = FreeToKeep <= 0;
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

    void ILeaseHome.Return(Lease lease)
    {
        _toSend -= lease.IsToSend ? 1 : 0;
        if (Tracker is { } tracker)
        {
            tracker.OnReturn(lease);
            lease.Span.Fill(ReturnedFill);
            lease = lease.Renew();
        }

        _free.Push(lease);
        IsShort = FreeToKeep <= 0;
    }

    private byte[] Grow(int most)
    {
        int blocks = (int)Math.Min(most, _maxBlocks - _blocks);
        var slab = GC.AllocateUninitializedArray<byte>(BlockBytes * blocks, pinned: true);
        _free.EnsureCapacity((int)(_blocks + blocks));
        // Pushed from the end, so that they come out in the order of memory.
        for (int i = blocks - 1; i >= 0; i--)
        {
            _free.Push(new Lease(this, slab, i * BlockBytes, BlockBytes));
        }

        _blocks += blocks;
        return slab;
    }
}
