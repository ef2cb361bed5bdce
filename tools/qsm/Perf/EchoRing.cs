namespace QuickSilver.Tool.Perf;

// Payloads between the handler that receives them and the feed that sends them back. Both run on the core thread, so it
// needs no lock; its slots are used again, so it allocates only until each has grown to the payloads' size. What does not
// fit is counted, not kept: a full ring means that the way back is slower than the way here.
internal sealed class EchoRing
{
    // Many round trips' worth at any sane rate; a power of two.
    private const int Slots = 1024;

    private readonly byte[][] _slots = Enumerable.Repeat(Array.Empty<byte>(), Slots).ToArray();
    private readonly int[] _lengths = new int[Slots];
    private long _pushed;
    private long _pulled;

    public long Echoed => Volatile.Read(ref _pulled);

    public long Dropped { get; private set; }

    public void Push(ReadOnlySpan<byte> payload)
    {
        if (_pushed - _pulled == Slots)
        {
            Dropped++;
            return;
        }

        int slot = (int)(_pushed++ & (Slots - 1));
        if (_slots[slot].Length < payload.Length)
        {
            _slots[slot] = new byte[payload.Length];
        }

        payload.CopyTo(_slots[slot]);
        _lengths[slot] = payload.Length;
    }

    public bool Pull(out ReadOnlyMemory<byte> payload)
    {
        if (_pulled == _pushed)
        {
            payload = default;
            return false;
        }

        int slot = (int)(_pulled & (Slots - 1));
        Volatile.Write(ref _pulled, _pulled + 1);
        payload = _slots[slot].AsMemory(0, _lengths[slot]);
        return true;
    }
}
