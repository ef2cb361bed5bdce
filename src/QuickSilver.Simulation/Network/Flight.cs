using System.Buffers;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// The bytes of one send while they are under way: shared by all copies for all receivers, and given back with the last.
// Where receivers share packet memory too, they lie in a lease of the network's, and what receivers keep they keep there.
internal sealed class Flight
{
    private readonly int _offset;
    private readonly Lease? _lease;
    private byte[] _bytes = [];
    private int _claims = 1;
    // By segment; 0: not computed yet.
    private ulong[]? _hashes;
    private ulong _firstHash;

    public Flight(ReadOnlySpan<byte> bytes, RunMemory? shared)
    {
        if (shared is not null && shared.TryPlace(bytes, out var placed))
        {
            (_lease, _offset) = (placed.Lease, placed.Offset);
        }
        else
        {
            _bytes = ArrayPool<byte>.Shared.Rent(bytes.Length);
            bytes.CopyTo(_bytes);
        }
    }

    /// <summary>Adds a claim to the bytes and says where in the lease a slice of them lies; null where they are in none.</summary>
    public Lease? TryShare(int offset, out int offsetInLease)
    {
        _lease?.AddClaim();
        offsetInLease = _offset + offset;
        return _lease;
    }

    public Span<byte> Slice(int offset, int length) =>
        _lease is null ? _bytes.AsSpan(offset, length) : _lease.Span.Slice(_offset + offset, length);

    public void AddClaim() => _claims++;

    public void Release()
    {
        if (--_claims > 0)
        {
            return;
        }

        if (_lease is not null)
        {
            _lease.Release();
        }
        else
        {
            ArrayPool<byte>.Shared.Return(_bytes);
            _bytes = [];
        }
    }

    /// <summary>What the trace says of these segments. Each is read once, however many receivers there are.</summary>
    public ulong HashOf(in FlightSegments run)
    {
        int first = run.Offset / run.SegmentBytes;
        int count = run.Count;
        ulong hash = 0;
        for (int i = 0; i < count; i++)
        {
            hash = i == 0 ? SegmentHash(run, first) : TraceHash.Join(hash, SegmentHash(run.Part(i, 1), first + i));
        }

        return hash;
    }

    private ulong SegmentHash(in FlightSegments run, int number)
    {
        if (number == 0)
        {
            return _firstHash != 0 ? _firstHash : _firstHash = TraceHash.Of(run.Part(0, 1).Span);
        }

        _hashes ??= new ulong[SimulatedPort.MaxSegments];
        ref ulong known = ref _hashes[number];
        return known != 0 ? known : known = TraceHash.Of(run.Part(0, 1).Span);
    }
}

// Equal segments (the last may be shorter) of one send that travel together. A receiver of one owns one claim.
internal readonly record struct FlightSegments(Flight Flight, int Offset, int Length, int SegmentBytes)
{
    public int Count => (Length + SegmentBytes - 1) / SegmentBytes;

    public Span<byte> Span => Flight.Slice(Offset, Length);

    /// <summary>A part of it, from one segment on; the caller adds the claim.</summary>
    public FlightSegments Part(int first, int count)
    {
        int start = first * SegmentBytes;
        return this with { Offset = Offset + start, Length = Math.Min(count * SegmentBytes, Length - start) };
    }
}
