namespace QuickSilver.Core.Transport.Streams;

// What a stream has received and its handler has not consumed, in one piece. Grows by doubling, so a large frame is not copied for each
// piece of it that arrives.
internal struct HeldBytes
{
    private const int SmallestBytes = 4096;
    private byte[]? _bytes;

    public int Count { get; private set; }

    public readonly ReadOnlySpan<byte> Span => _bytes.AsSpan(0, Count);

    public void Append(ReadOnlySpan<byte> bytes)
    {
        int needed = Count + bytes.Length;
        if (_bytes is null || _bytes.Length < needed)
        {
            Array.Resize(ref _bytes, Math.Max(SmallestBytes, Math.Max(needed, (_bytes?.Length ?? 0) * 2)));
        }

        bytes.CopyTo(_bytes.AsSpan(Count));
        Count = needed;
    }

    public void Consume(int bytes)
    {
        Count -= bytes;
        if (Count == 0)
        {
            // Most streams are idle most of the time; a large frame's memory must not stay with each.
            _bytes = null;
        }
        else if (bytes > 0)
        {
            Buffer.BlockCopy(_bytes!, bytes, _bytes!, 0, Count);
        }
    }
}
