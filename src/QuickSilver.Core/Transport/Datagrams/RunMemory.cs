using QuickSilver.Core.Buffers;

namespace QuickSilver.Core.Transport.Datagrams;

// Where runs are received to.
//
// A receive must offer room for the longest run, a whole block; most of what is received while the network is quiet is one small datagram.
// So a small run is copied out, close behind the one before it, and the whole block is offered again: what keeps a small packet pins a
// share of a block, not 64 KB. A long run goes up as it lies.
internal sealed class RunMemory(SlabPool pool)
{
    private const int LongestSharedBytes = 16 * 1024;
    private const int Alignment = 64;

    private Lease? _whole;
    private Lease? _shared;
    private int _used;

    /// <summary>A whole block to receive into, the same until a run is placed; null: no memory is left.</summary>
    public Lease? OfferBlock() => _whole ??= pool.TryRent();

    /// <summary>A whole block that is the caller's; null: no memory is left.</summary>
    public Lease? TryRentBlock() => pool.TryRent();

    /// <summary>Places a run that lies at the beginning of the block that was offered.</summary>
    public PlacedRun Place(int length) => Place(ref _whole, length);

    /// <summary>
    /// Places a run that lies at the beginning of this block. A small run is copied, and the block stays; a long one takes it, and null
    /// remains.
    /// </summary>
    public PlacedRun Place(ref Lease? block, int length)
    {
        var whole = block!;
        if (TryCopySmall(whole.Span[..length], out var copied))
        {
            return copied;
        }

        block = null;
        return new PlacedRun(whole, 0, length);
    }

    /// <summary>Copies a run that lies elsewhere; false: no memory is left.</summary>
    public bool TryPlace(ReadOnlySpan<byte> bytes, out PlacedRun run)
    {
        if (bytes.Length <= LongestSharedBytes)
        {
            return TryCopySmall(bytes, out run);
        }

        run = default;
        if (pool.TryRent() is not { } lease)
        {
            return false;
        }

        bytes.CopyTo(lease.Span);
        run = new PlacedRun(lease, 0, bytes.Length);
        return true;
    }

    /// <summary>Copies a run into the shared block; false: it is not small, or no memory is left.</summary>
    private bool TryCopySmall(ReadOnlySpan<byte> bytes, out PlacedRun run)
    {
        run = default;
        if (bytes.Length > LongestSharedBytes || !TryMakeRoom(bytes.Length))
        {
            return false;
        }

        bytes.CopyTo(_shared!.Span[_used..]);
        _shared.AddClaim();
        run = new PlacedRun(_shared, _used, bytes.Length);
        _used += (bytes.Length + Alignment - 1) & -Alignment;
        return true;
    }

    /// <summary>Gives back the memory in which nothing is kept.</summary>
    public void Trim()
    {
        ReleaseWhole();
        if (_shared is { Claims: 1 })
        {
            ReleaseShared();
        }
    }

    /// <summary>Gives the memory back; what others keep of it stays.</summary>
    public void Release()
    {
        ReleaseWhole();
        ReleaseShared();
    }

    private void ReleaseWhole()
    {
        _whole?.Release();
        _whole = null;
    }

    private void ReleaseShared()
    {
        _shared?.Release();
        _shared = null;
    }

    private bool TryMakeRoom(int length)
    {
        if (_shared is { Claims: 1 })
        {
            // Nothing of it is kept: begin again, in memory that the cache still has.
            _used = 0;
        }
        else if (_shared is not null && _used + length > SlabPool.BlockBytes)
        {
            ReleaseShared();
        }

        if (_shared is null)
        {
            _shared = pool.TryRent();
            _used = 0;
        }

        return _shared is not null;
    }
}
