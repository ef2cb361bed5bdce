namespace QuickSilver.Simulation.Network.Streams;

// What waits to be sent on a stream, as it was handed over: the service sends thousands of nodes the same bytes, and none of
// their streams has a copy.
internal sealed class PendingBytes
{
    // A piece of this size travels by itself, so that it need not be copied.
    public const int LeastAlone = 4096;

    // Null while nothing waits: a stream is idle nearly always.
    private Queue<ReadOnlyMemory<byte>>? _pieces;
    // Of the first piece, what was taken.
    private int _taken;

    public int Count { get; private set; }

    /// <summary>Of what waits, how many may travel together next, at most so many.</summary>
    public int Together(int most)
    {
        int together = -_taken;
        foreach (var piece in _pieces!)
        {
            bool isAlone = piece.Length >= LeastAlone;
            if (together >= most || (isAlone && together > 0))
            {
                break;
            }

            together += piece.Length;
            if (isAlone)
            {
                break;
            }
        }

        return Math.Min(together, most);
    }

    public void Add(byte[] bytes)
    {
        if (bytes.Length > 0)
        {
            (_pieces ??= new()).Enqueue(bytes);
            Count += bytes.Length;
        }
    }

    /// <summary>The next bytes, in a copy only where they lie in several pieces.</summary>
    public ReadOnlyMemory<byte> Take(int size)
    {
        var first = _pieces!.Peek()[_taken..];
        if (first.Length >= size)
        {
            Skip(size);
            return first[..size];
        }

        var bytes = new byte[size];
        for (int copied = 0; copied < size;)
        {
            var piece = _pieces.Peek()[_taken..];
            int part = Math.Min(piece.Length, size - copied);
            piece.Span[..part].CopyTo(bytes.AsSpan(copied));
            copied += part;
            Skip(part);
        }

        return bytes;
    }

    public void Clear()
    {
        _pieces = null;
        _taken = 0;
        Count = 0;
    }

    private void Skip(int bytes)
    {
        Count -= bytes;
        _taken += bytes;
        if (_taken == _pieces!.Peek().Length)
        {
            _pieces.Dequeue();
            _taken = 0;
        }

        if (Count == 0)
        {
            Clear();
        }
    }
}
