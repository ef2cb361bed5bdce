using QuickSilver.Core.Buffers;

namespace QuickSilver.Core.Loop;

// Where runs are copied to: small ones close behind each other in a block that they share, so that what keeps a small packet pins a share
// of a block; a long one in a block of its own.
internal sealed class RunPlacement(SlabPool pool)
{
    private const int LongestSharedBytes = 16 * 1024;
    private const int Alignment = 64;

    private Lease? _shared;
    private int _used;

    /// <summary>Copies a run; false: no memory is left.</summary>
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
    public bool TryCopySmall(ReadOnlySpan<byte> bytes, out PlacedRun run)
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

    /// <summary>Gives the shared block back when nobody keeps anything of it.</summary>
    public void Trim()
    {
        if (_shared is { Claims: 1 })
        {
            Release();
        }
    }

    /// <summary>Gives up the shared block; what others keep of it stays.</summary>
    public void Release()
    {
        _shared?.Release();
        _shared = null;
    }

    private bool TryMakeRoom(int length)
    {
        if (_shared is { Claims: 1 })
        {
            // Nobody keeps anything of it: begin again, in memory that the cache still has.
            _used = 0;
        }
        else if (_shared is not null && _used + length > SlabPool.BlockBytes)
        {
            Release();
        }

        if (_shared is null)
        {
            _shared = pool.TryRent();
            _used = 0;
        }

        return _shared is not null;
    }
}
