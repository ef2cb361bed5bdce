using System.Buffers;

namespace QuickSilver.Simulation.Network;

// The bytes of one send while they are under way: shared by all copies for all receivers, and given back with the last.
internal sealed class Flight
{
    private byte[] _bytes;
    private int _claims = 1;

    public Flight(ReadOnlySpan<byte> bytes)
    {
        _bytes = ArrayPool<byte>.Shared.Rent(bytes.Length);
        bytes.CopyTo(_bytes);
    }

    public Span<byte> Slice(int offset, int length) => _bytes.AsSpan(offset, length);

    public void AddClaim() => _claims++;

    public void Release()
    {
        if (--_claims == 0)
        {
            ArrayPool<byte>.Shared.Return(_bytes);
            _bytes = [];
        }
    }
}

// Equal segments (the last may be shorter) of one send that travel together. Who is given one owns one claim.
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
