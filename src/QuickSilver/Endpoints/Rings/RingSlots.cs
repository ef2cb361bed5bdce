namespace QuickSilver.Endpoints.Rings;

// The slots of a reader's buffer. Positions count messages from the start. A slot's index is a position modulo the length of the array,
// which grows only when needed. Not thread-safe: the ring's lock guards it.
internal sealed class RingSlots<T>
{
    private const int FirstSlots = 16;

    // Empty until the first message, because most endpoints have a handler and buffer nothing.
    private Slot[] _slots = [];

    /// <summary>The position of the oldest message.</summary>
    public long Head { get; private set; }

    /// <summary>The position that the next message will have.</summary>
    public long Tail { get; private set; }

    /// <summary>The payload bytes in all slots.</summary>
    public long Bytes { get; private set; }

    public long Count => Tail - Head;

    /// <summary>The slot of the oldest message, which must exist.</summary>
    public ref Slot Oldest => ref _slots[Head & (_slots.Length - 1)];

    /// <summary>Whether the next message needs a larger array.</summary>
    public bool IsTight => Count == _slots.Length;

    /// <summary>The slot of the next message, for which there is room.</summary>
    public ref Slot Next => ref _slots[Tail & (_slots.Length - 1)];

    /// <summary>Makes room for one more message.</summary>
    public void Reserve()
    {
        if (IsTight)
        {
            Grow();
        }
    }

    /// <summary>Adds a slot at the end, which keeps the buffer that it has.</summary>
    public ref Slot Append(int payloadBytes)
    {
        Reserve();
        ref var slot = ref _slots[Tail++ & (_slots.Length - 1)];
        slot.Bytes = payloadBytes;
        Bytes += payloadBytes;
        return ref slot;
    }

    /// <summary>Adds a slot before all others, for a message that was here before. The slot keeps the buffer that it has.</summary>
    public ref Slot Prepend(int payloadBytes)
    {
        if (Count == _slots.Length)
        {
            Grow();
        }

        ref var slot = ref _slots[--Head & (_slots.Length - 1)];
        slot.Bytes = payloadBytes;
        Bytes += payloadBytes;
        return ref slot;
    }

    /// <summary>Removes the oldest message. Its slot keeps its buffer.</summary>
    public void RemoveOldest()
    {
        ref var slot = ref Oldest;
        slot.Message = default;
        Bytes -= slot.Bytes;
        Head++;
    }

    /// <summary>Releases all buffers, because the messages in them were handed over.</summary>
    public void Renew() => _slots = [];

    private void Grow()
    {
        var grown = new Slot[Math.Max(_slots.Length * 2, FirstSlots)];
        for (long position = Head; position < Tail; position++)
        {
            grown[position & (grown.Length - 1)] = _slots[position & (_slots.Length - 1)];
        }

        _slots = grown;
    }

    public struct Slot
    {
        public Message<T> Message;
        public byte[]? Buffer;
        public int Bytes;
    }
}
