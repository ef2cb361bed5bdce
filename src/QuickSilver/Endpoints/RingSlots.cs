namespace QuickSilver.Endpoints;

// The places of a reader's buffer. Positions count messages from the start; a slot is a position modulo the array's length,
// and the array grows only as it is needed. Not thread-safe: the ring's lock guards it.
internal sealed class RingSlots<T>
{
    private const int FirstSlots = 16;

    // None until a message comes: most endpoints have a handler, and buffer nothing.
    private Slot[] _slots = [];

    /// <summary>The position of the oldest message.</summary>
    public long Head { get; private set; }

    /// <summary>The position that the next message will have.</summary>
    public long Tail { get; private set; }

    /// <summary>Payload bytes in all slots.</summary>
    public long Bytes { get; private set; }

    public long Count => Tail - Head;

    /// <summary>The oldest message's slot; there must be one.</summary>
    public ref Slot Oldest => ref _slots[Head & (_slots.Length - 1)];

    /// <summary>The place for one more message, with whatever buffer it has.</summary>
    public ref Slot Append(int payloadBytes)
    {
        if (Count == _slots.Length)
        {
            Grow();
        }

        ref var slot = ref _slots[Tail++ & (_slots.Length - 1)];
        slot.Bytes = payloadBytes;
        Bytes += payloadBytes;
        return ref slot;
    }

    /// <summary>The place for a message before all others, which was here before; with whatever buffer it has.</summary>
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

    /// <summary>The oldest message is no longer here; its slot keeps its buffer.</summary>
    public void RemoveOldest()
    {
        ref var slot = ref Oldest;
        slot.Message = default;
        Bytes -= slot.Bytes;
        Head++;
    }

    /// <summary>Forgets all messages, and large buffers with them.</summary>
    public void Clear()
    {
        while (Count > 0)
        {
            Oldest.Buffer = SlotBuffer.Keep(Oldest.Buffer);
            RemoveOldest();
        }
    }

    /// <summary>Lets go of all buffers: the messages that lay in them went elsewhere.</summary>
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
