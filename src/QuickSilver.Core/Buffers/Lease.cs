using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Core.Buffers;

// A counted claim on one block of a slab. A holder of a piece of it adds a claim and releases it once; the last release
// returns the block. A release too many throws: memory given out twice would corrupt packets silently.
//
// Without a tracker the pool gives the same lease object out again, and a late second release takes the claim of the one that
// holds it by then. With one every rental has an object of its own, so the culprit is caught in the act.
[DebuggerDisplay("claims = {_claims}")]
internal sealed unsafe class Lease
{
    private readonly ILeaseHome _home;
    private readonly byte* _first;
    private readonly int _bytes;
    private int _claims;

    internal Lease(ILeaseHome home, Slab slab, int offset, int bytes)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)offset + (ulong)(uint)bytes, (ulong)slab.Length);
        _home = home;
        Slab = slab;
        _first = slab.First + offset;
        _bytes = bytes;
    }

    public Span<byte> Span => new(_first, _bytes);

    public Memory<byte> Memory => Slab.MemoryOf(Start, _bytes);

    /// <summary>The memory in which the block lies, from Start on: for code that hands parts of it on.</summary>
    public Slab Slab { get; }

    public int Start => (int)(_first - Slab.First);

    /// <summary>Where the block begins: for the system.</summary>
    public byte* Address => _first;

    /// <summary>A place within a block, and not a block.</summary>
    public bool IsPlace => _bytes < SlabPool.BlockBytes;

    public int Claims => _claims;

    /// <summary>A sender packs into the block: it counts against the senders' share.</summary>
    internal bool IsToSend { get; private set; }

    internal void Begin(bool toSend = false)
    {
        _claims = 1;
        IsToSend = toSend;
    }

    // The same block under a new object.
    internal Lease Renew() => new(_home, Slab, Start, _bytes);

    public void AddClaim()
    {
        if (_claims <= 0)
        {
            ThrowReleased();
        }

        _claims++;
    }

    public void Release()
    {
        if (_claims <= 0)
        {
            ThrowReleased();
        }

        if (--_claims == 0)
        {
            _home.Return(this);
        }
    }

    [DoesNotReturn]
    private void ThrowReleased() =>
        throw new InvalidOperationException(
            "The lease was already returned: a claim was released twice, or used without AddClaim."
            + _home.Tracker?.DescribeReturn(this));
}

// Where a lease goes with its last claim.
internal interface ILeaseHome
{
    LeaseTracker? Tracker { get; }

    void Return(Lease lease);
}
