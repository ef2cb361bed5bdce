using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Core.Buffers;

// A counted claim on one block of a slab. Who keeps a piece of it adds a claim and releases it once; the last release
// returns the block. A release too many throws: memory given out twice would corrupt packets silently.
//
// Without a tracker the pool gives the same lease object out again, and a late second release takes the claim of whoever
// holds it by then. With one every rental has an object of its own, so the culprit is caught in the act.
[DebuggerDisplay("claims = {_claims}")]
internal sealed class Lease
{
    private readonly SlabPool _pool;
    private readonly byte[] _slab;
    private readonly int _offset;
    private int _claims;

    internal Lease(SlabPool pool, byte[] slab, int offset)
    {
        _pool = pool;
        _slab = slab;
        _offset = offset;
    }

    public Span<byte> Span => _slab.AsSpan(_offset, SlabPool.BlockBytes);

    public Memory<byte> Memory => _slab.AsMemory(_offset, SlabPool.BlockBytes);

    /// <summary>The array in which the block lies, from Start on: for who hands parts of it on.</summary>
    public byte[] Slab => _slab;

    public int Start => _offset;

    public int Claims => _claims;

    internal void Begin() => _claims = 1;

    // The same block under a new object.
    internal Lease Renew() => new(_pool, _slab, _offset);

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
            _pool.Return(this);
        }
    }

    [DoesNotReturn]
    private void ThrowReleased() =>
        throw new InvalidOperationException(
            "This lease was already returned: a claim was released twice or kept without AddClaim."
            + _pool.Tracker?.DescribeReturn(this));
}
