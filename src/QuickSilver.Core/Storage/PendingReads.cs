namespace QuickSilver.Core.Storage;

internal readonly record struct PendingRead(long Offset, Memory<byte> Into)
{
    public long End => Offset + Into.Length;
}

// Reads that wait for their turn, first come first served.
internal sealed class PendingReads
{
    // Enough to keep a disk busy. More reads at a time would slow the user down.
    public const int Limit = 16;

    private readonly PendingRead[] _reads = new PendingRead[Limit];
    private int _first;

    public int Count { get; private set; }

    public bool IsFull => Count == Limit;

    public PendingRead First => _reads[_first];

    public void Add(in PendingRead read)
    {
        _reads[(_first + Count) % Limit] = read;
        Count++;
    }

    public PendingRead TakeFirst()
    {
        var read = _reads[_first];
        _reads[_first] = default;
        _first = (_first + 1) % Limit;
        Count--;
        return read;
    }
}
