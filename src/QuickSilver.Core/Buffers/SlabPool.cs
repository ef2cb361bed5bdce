namespace QuickSilver.Core.Buffers;

// Packet memory: blocks of BlockBytes cut from large slabs, so that a steady stream allocates nothing and the
// collector neither moves nor scans what is in flight. Bounded: when MaxBytes is leased, TryRent says no and the caller
// sheds load (a receive is put off, a send waits). Before that, code that keeps what was received, or packs what is to be sent, asks
// whether its share is used up (MemoryShares). It grows by need, on the collector's heap, or is reserved whole before the first
// packet, outside of it. Rent and release are the core thread's; no lock.
//
// The block that was returned last is rented first. So the blocks at the bottom of the stack of free ones are those of the last burst,
// and what lies below the lowest level of the stack since some time was not used since then. Of a reserved pool that is given back
// (GiveBack): the blocks stay, and the system gives them pages again when they are touched.
//
// Invariants: LeasedBlocks is the sum of the blocks to send, those under places, and those that were received into. The lowest _clean
// free blocks have no pages.
internal sealed class SlabPool : ILeaseHome
{
    // A run of segmentation offload, and the largest datagram, are at most 65,507 bytes; one block takes any.
    public const int BlockBytes = 64 * 1024;
    private const int BlocksPerSlab = 16;
    // A reserved pool of so many bytes uses pages of 2 MiB, each of which is resident whole once a byte of it was touched.
    private const long LeastLargeBytes = 64 << 20;
    // A call of GiveBack takes about a millisecond for these, in pages of 4 KiB.
    private const int MostGivenBack = 256;
    // What is given back was not used in one to two of these spans of calls.
    private const int CallsInSpan = 3;
    // What a tracked block is filled with when it is returned: a late reader sees no packet.
    private const byte ReturnedFill = 0xDB;

    private static readonly IComparer<Lease> Descending =
        Comparer<Lease>.Create(static (one, other) => AddressOf(other).CompareTo(AddressOf(one)));

    private readonly long _maxBlocks;
    // A stack, whose bottom is the beginning.
    private Lease[] _free = [];
    private int _count;
    // The lowest level of the stack in the present span of calls, and in the one before.
    private int _lowest;
    private int _lowestBefore;
    private int _callsInSpan;
    private int _clean;
    // Those that were reserved.
    private Slab[] _slabs = [];
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

    // Free, and not reserved.
    private long Unclaimed => AvailableBlocks - Shares.Intake - (Shares.Places - _underPlaces);

    private long Received => LeasedBlocks - _toSend - _underPlaces;

    /// <summary>The most that this pool ever holds: what it was given, in whole blocks.</summary>
    public long MaxBytes => _maxBlocks * BlockBytes;

    /// <summary>Set in debug runs and tests: knows who holds what.</summary>
    public LeaseTracker? Tracker { get; init; }

    public long LeasedBlocks => _blocks - _count;

    /// <summary>Blocks that can still be rented before the bound is reached.</summary>
    public long AvailableBlocks => _maxBlocks - LeasedBlocks;

    public bool IsHalfUsed => LeasedBlocks > _maxBlocks / 2;

    public long AllocatedBytes => _blocks * BlockBytes;

    /// <summary>The most that can be resident of a reserved pool: blocks that were used since they were reserved, or given back.</summary>
    public long TouchedBlocks => _blocks - Math.Min(_clean, _lowest);

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
        if (_count == 0)
        {
            if (_blocks >= _maxBlocks)
            {
                return null;
            }

            int blocks = (int)Math.Min(BlocksPerSlab, _maxBlocks - _blocks);
            Add(Slab.Pinned(blocks * BlockBytes));
        }

        var lease = _free[--_count];
        if (_count < _lowest)
        {
            _lowest = _count;
        }

        lease.Begin(toSend);
        Tracker?.OnRent(lease);
        IsShort = FreeToKeep <= 0;
        return lease;
    }

    /// <summary>
    /// Takes everything up to the bound at once, outside the collector's heap. The system gives the pages as they are first touched.
    /// </summary>
    /// <exception cref="InsufficientMemoryException">The system refuses.</exception>
    /// <exception cref="InvalidOperationException">The pool has grown already.</exception>
    public void Reserve()
    {
        if (_blocks > 0)
        {
            throw new InvalidOperationException("Reserve the pool before the first block is rented.");
        }

        var slabs = new Slab[(MaxBytes + AddressSpace.PieceBytes - 1) / AddressSpace.PieceBytes];
        for (int i = 0; i < slabs.Length; i++)
        {
            slabs[i] = Slab.Reserved((int)Math.Min(MaxBytes - ((long)i * AddressSpace.PieceBytes), AddressSpace.PieceBytes));
        }

        _slabs = slabs;
        _free = new Lease[_maxBlocks];
        foreach (var slab in slabs)
        {
            if (MaxBytes >= LeastLargeBytes)
            {
                // Not at the top of the stack, where an idle node takes its blocks: of those it has the pages that it touched.
                slab.AdviseHugePages(slab == slabs[^1] ? AddressSpace.HugePageBytes : 0);
            }

            Add(slab);
        }

        _clean = _lowest = _lowestBefore = _count;
    }

    /// <summary>
    /// Gives pages back that were not used for some time. To be called every few seconds. A pool that uses what it used before has
    /// nothing to give.
    /// </summary>
    public void GiveBack()
    {
        if (_slabs.Length == 0)
        {
            return;
        }

        _clean = Math.Min(_clean, _lowest);
        int unused = Math.Min(Math.Min(_lowest, _lowestBefore) - _clean, MostGivenBack);
        if (unused > 0)
        {
            Discard(_free.AsSpan(_clean, unused));
            _clean += unused;
        }

        if (++_callsInSpan == CallsInSpan)
        {
            _callsInSpan = 0;
            _lowestBefore = _lowest;
            _lowest = _count;
        }
    }

    /// <summary>The node has ended: gives all pages back. What still reads leased blocks reads zeros.</summary>
    public void End()
    {
        foreach (var slab in _slabs)
        {
            slab.Discard();
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

        _free[_count++] = lease;
        IsShort = FreeToKeep <= 0;
    }

    private static unsafe nuint AddressOf(Lease block) => (nuint)block.Address;

    // Sorted, so that neighbours are given back together and then rented in the order of memory.
    private static unsafe void Discard(Span<Lease> blocks)
    {
        blocks.Sort(Descending);
        int end = 0;
        for (int i = 1; i <= blocks.Length; i++)
        {
            if (i == blocks.Length || blocks[i].Address + BlockBytes != blocks[i - 1].Address)
            {
                AddressSpace.Discard(blocks[i - 1].Address, (nuint)(i - end) * BlockBytes);
                end = i;
            }
        }
    }

    private void Add(Slab slab)
    {
        int blocks = slab.Length / BlockBytes;
        if (_free.Length < _blocks + blocks)
        {
            Array.Resize(ref _free, (int)Math.Max(_blocks + blocks, Math.Min(_blocks * 2, _maxBlocks)));
        }

        // Pushed from the end, so that they come out in the order of memory.
        for (int i = blocks - 1; i >= 0; i--)
        {
            _free[_count++] = new Lease(this, slab, i * BlockBytes, BlockBytes);
        }

        _blocks += blocks;
    }
}
