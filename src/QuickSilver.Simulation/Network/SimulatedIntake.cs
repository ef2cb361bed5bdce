using QuickSilver.Core.Buffers;

namespace QuickSilver.Simulation.Network;

// Where what a life receives lies, as the loop of a machine places it: small runs close behind each other in a block that
// they share, so that what keeps a small packet pins a share of a block; a long one in a block of its own.
internal sealed class SimulatedIntake(SlabPool pool)
{
    private const int LongestSharedBytes = 16 * 1024;
    private const int Alignment = 64;

    private Lease? _shared;
    private int _used;

    /// <summary>Places a run; the caller releases its claim. Null: no memory is left.</summary>
    public Lease? TryPlace(ReadOnlySpan<byte> run, out int offset)
    {
        offset = 0;
        Lease? lease;
        if (run.Length > LongestSharedBytes)
        {
            lease = pool.TryRent();
        }
        else
        {
            lease = TryShare(run.Length);
            offset = _used;
            lease?.AddClaim();
            _used += (run.Length + Alignment - 1) & -Alignment;
        }

        if (lease is not null)
        {
            run.CopyTo(lease.Span[offset..]);
        }

        return lease;
    }

    /// <summary>Gives the shared block back when nobody keeps anything of it.</summary>
    public void Trim()
    {
        if (_shared is { Claims: 1 })
        {
            _shared.Release();
            _shared = null;
        }
    }

    private Lease? TryShare(int bytes)
    {
        if (_shared is { Claims: 1 })
        {
            _used = 0;
        }
        else if (_shared is not null && _used + bytes > SlabPool.BlockBytes)
        {
            _shared.Release();
            _shared = null;
        }

        if (_shared is null)
        {
            _shared = pool.TryRent();
            _used = 0;
        }

        return _shared;
    }
}
