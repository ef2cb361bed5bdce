namespace QuickSilver.Endpoints.Rings;

// The messages that a reader has taken out of its ring at once, to read them without the ring's lock. Only the reader uses it, except that
// Refill, PutBack and Settle, which move messages between the batch and the slots or remove them, are called under that lock.
//
// All messages of a batch except the first still count as waiting until the reader fetches the next batch, so that the limits of the ring
// hold for both together. A batch is a small part of them.
internal sealed class RingBatch<T>(int capacity)
{
    private const int MaxMessages = 32;
    private const int MaxBytes = 64 << 10;

    private RingSlots<T>.Slot[] _taken = [];
    private int _next;
    private int _count;

    /// <summary>The number of messages that still count as waiting; under the ring's lock.</summary>
    public int Waiting { get; private set; }

    /// <summary>Their payload bytes.</summary>
    public long WaitingBytes { get; private set; }

    public bool TryNext(out Message<T> message)
    {
        if (_next == _count)
        {
            message = default;
            return false;
        }

        ref var taken = ref _taken[_next++];
        message = taken.Message;
        taken.Message = default;
        return true;
    }

    /// <summary>The messages that the reader has taken and not read.</summary>
    public IEnumerable<Message<T>> Unread => _taken.Take(_next.._count).Select(static slot => slot.Message);

    /// <summary>Called when the reader has finished with all messages of the batch, or must get no more of it.</summary>
    public void Settle()
    {
        for (int i = 0; i < _count; i++)
        {
            _taken[i].Message = default;
            _taken[i].Buffer = SlotBuffer.Keep(_taken[i].Buffer);
        }

        _next = 0;
        _count = 0;
        Waiting = 0;
        WaitingBytes = 0;
    }

    /// <summary>
    /// Takes the oldest messages, of which there must be at least one, up to a position. Buffers are swapped with those of the slots.
    /// </summary>
    public void Refill(RingSlots<T> slots, long end)
    {
        Settle();
        if (_taken.Length == 0)
        {
            _taken = new RingSlots<T>.Slot[Math.Clamp(capacity / 8, 1, MaxMessages)];
        }

        long bytes = 0;
        do
        {
            ref var slot = ref slots.Oldest;
            ref var taken = ref _taken[_count];
            (taken.Message, taken.Bytes) = (slot.Message, slot.Bytes);
            (taken.Buffer, slot.Buffer) = (slot.Buffer, taken.Buffer);
            bytes += taken.Bytes;
            slots.RemoveOldest();
            _count++;
        }
        while (_count < _taken.Length && slots.Count > 0 && slots.Head < end && bytes + slots.Oldest.Bytes <= MaxBytes);
        Waiting = _count - 1;
        WaitingBytes = bytes - _taken[0].Bytes;
    }

    /// <summary>Called when the reader leaves: messages that it has not read are put back for the next reader.</summary>
    public void PutBack(RingSlots<T> slots)
    {
        while (_count > _next)
        {
            ref var taken = ref _taken[--_count];
            ref var slot = ref slots.Prepend(taken.Bytes);
            slot.Message = taken.Message;
            (taken.Buffer, slot.Buffer) = (slot.Buffer, taken.Buffer);
            taken.Message = default;
        }

        Settle();
    }
}
