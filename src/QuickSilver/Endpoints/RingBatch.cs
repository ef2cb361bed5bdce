namespace QuickSilver.Endpoints;

// What a reader has taken out of its ring at one go, to walk it without the ring's lock. Used by the reader alone, but for
// Refill, PutBack and Settle, which move messages between here and the slots, or forget them, under that lock.
//
// All but the first message of a batch still count as waiting until the reader comes for the next batch, so that the ring's
// bounds hold for both together; a batch is a small part of them.
internal sealed class RingBatch<T>(int capacity)
{
    private const int MaxMessages = 32;
    private const int MaxBytes = 64 << 10;

    private RingSlots<T>.Slot[] _taken = [];
    private int _next;
    private int _count;

    /// <summary>Messages that still count as waiting; under the ring's lock.</summary>
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

    /// <summary>The reader is done with all it had, its last message included, or is to have no more of it.</summary>
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

    /// <summary>Takes the oldest messages, of which there is one at least, up to a position. Buffers change places.</summary>
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

    /// <summary>The reader leaves: what it has not read waits for the next one.</summary>
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
