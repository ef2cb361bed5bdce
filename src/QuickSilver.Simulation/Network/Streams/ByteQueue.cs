namespace QuickSilver.Simulation.Network.Streams;

// Bytes in order: appended at one end, read in one piece from the other. What was read is overwritten by nothing while
// its reader may still look at it: room is only made in a new array.
internal sealed class ByteQueue
{
    private const int SmallestArray = 128;

    private byte[] _bytes = [];
    private int _first;

    public int Count { get; private set; }

    public ReadOnlySpan<byte> Span => _bytes.AsSpan(_first, Count);

    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (_first + Count + bytes.Length > _bytes.Length)
        {
            var longer = new byte[Math.Max(SmallestArray, (Count + bytes.Length) * 2)];
            Span.CopyTo(longer);
            _bytes = longer;
            _first = 0;
        }

        bytes.CopyTo(_bytes.AsSpan(_first + Count));
        Count += bytes.Length;
    }

    public void Remove(int count)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(count, Count);
        _first += count;
        Count -= count;
    }
}
