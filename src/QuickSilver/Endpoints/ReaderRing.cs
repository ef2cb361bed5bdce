using System.Buffers;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace QuickSilver.Endpoints;

internal enum RingTake
{
    Message,
    Gap,
    // Nothing now; the waiter will be woken.
    Wait,
    Ended,
}

// The bounded buffer between the core thread and one reader. Positions count messages from the start; a slot is a position
// modulo the array's length, and the array grows to the capacity only as it is needed.
//
// A lock guards it although the core thread takes it: dropping the oldest makes the core thread a second consumer, and a
// gap notice must stand exactly between the messages that it parts. It is held for some tens of nanoseconds and nothing
// is called within it; wakes and resumptions happen after it is left.
//
// Byte payloads lie in buffers that belong to the slots. Taking a message swaps its buffer with the one the reader
// held before, so a message's bytes are the reader's until it asks for the next one, and nothing is allocated.
internal sealed class ReaderRing<T>(int capacity, SlowReaderPolicy policy)
{
    public const string DroppedOldest = "the reader was slow and the oldest messages made room";
    public const string DroppedNewest = "the reader was slow and the newest messages were not taken";

    // The bound in bytes, so that a reader of large messages does not hold a thousand of them. One message always fits.
    public const long MaxBytes = 64L << 20;
    private const int FirstSlots = 16;
    private const int MaxKeptBytes = 4 << 10;
    private const int MinBufferBytes = 64;

    private readonly Lock _lock = new();
    private readonly GapLine _gaps = new();
    private Slot[] _slots = new Slot[FirstSlots];
    private long _head;
    private long _tail;
    private long _bytes;
    private byte[]? _held;
    private IRingWaiter? _waiter;
    private Exception? _error;
    private bool _hasReader;
    private bool _wantsRoom;
    private bool _isEnded;
    private bool _isOff;

    /// <summary>Called on the reader's thread, outside the lock, when a refused message may come again.</summary>
    public Action? OnRoom { get; init; }

    public long Count
    {
        get
        {
            lock (_lock)
            {
                return _tail - _head;
            }
        }
    }

    /// <summary>Core thread. False only under the policy Wait while someone reads: the senders are to wait.</summary>
    public bool CanAccept(int payloadBytes)
    {
        lock (_lock)
        {
            if (policy != SlowReaderPolicy.Wait || !_hasReader || _isEnded || !IsFull(payloadBytes))
            {
                return true;
            }

            _wantsRoom = true;
            return false;
        }
    }

    /// <summary>Core thread: adds a message, or what the policy says instead. Returns how many were dropped.</summary>
    public int Add(in Message<T> message, int payloadBytes)
    {
        IRingWaiter? waiter;
        int dropped;
        lock (_lock)
        {
            if (!TryMakeRoom(message.Sender, message.Sequence, payloadBytes, out dropped))
            {
                return dropped;
            }

            ref var slot = ref NextSlot(payloadBytes);
            slot.Message = message;
            waiter = TakeWaiter();
        }

        waiter?.Wake();
        return dropped;
    }

    /// <summary>Core thread: as Add, for a payload of bytes, which are copied into the slot's buffer.</summary>
    public int AddBytes(ReadOnlySpan<byte> payload, SenderId sender, long sequence)
    {
        IRingWaiter? waiter;
        int dropped;
        lock (_lock)
        {
            if (!TryMakeRoom(sender, sequence, payload.Length, out dropped))
            {
                return dropped;
            }

            ref var slot = ref NextSlot(payload.Length);
            slot.Buffer = Fit(slot.Buffer, payload.Length);
            payload.CopyTo(slot.Buffer);
            var memory = new ReadOnlyMemory<byte>(slot.Buffer, 0, payload.Length);
            slot.Message = new Message<T>(Unsafe.As<ReadOnlyMemory<byte>, T>(ref memory), sender, sequence);
            waiter = TakeWaiter();
        }

        waiter?.Wake();
        return dropped;
    }

    /// <summary>Core thread: a gap after all messages so far.</summary>
    public void AddGap(in GapNotice gap)
    {
        IRingWaiter? waiter;
        lock (_lock)
        {
            if (_isEnded || _isOff)
            {
                return;
            }

            _gaps.Append(_tail, gap);
            waiter = TakeWaiter();
        }

        waiter?.Wake();
    }

    /// <summary>Any thread: no more will come. What is buffered can still be read, unless it is discarded.</summary>
    public void End(Exception? error, bool discard)
    {
        IRingWaiter? waiter;
        lock (_lock)
        {
            if (discard)
            {
                Clear();
            }

            if (!_isEnded)
            {
                _isEnded = true;
                _error = error;
            }

            waiter = TakeWaiter();
        }

        waiter?.Wake();
        SignalRoomIfWanted();
    }

    /// <summary>Buffers nothing from now on until a reader comes.</summary>
    public void SwitchOff()
    {
        lock (_lock)
        {
            if (!_hasReader)
            {
                _isOff = true;
                Clear();
            }
        }
    }

    /// <summary>A reader comes; false when there is one.</summary>
    public bool TryAttach()
    {
        lock (_lock)
        {
            if (_hasReader)
            {
                return false;
            }

            _hasReader = true;
            _isOff = false;
            return true;
        }
    }

    public void Detach()
    {
        lock (_lock)
        {
            _hasReader = false;
            _waiter = null;
        }

        SignalRoomIfWanted();
    }

    /// <summary>The reader's next step. On Wait, the waiter will be woken once, unless it takes itself back.</summary>
    public RingTake Take(IRingWaiter waiter, out Message<T> message, out GapNotice gap)
    {
        bool signalRoom = false;
        message = default;
        lock (_lock)
        {
            if (_gaps.TryTake(_head, out gap))
            {
                return RingTake.Gap;
            }

            if (_head == _tail)
            {
                if (_isEnded)
                {
                    return _error is null ? RingTake.Ended : throw _error;
                }

                _waiter = waiter;
                return RingTake.Wait;
            }

            ref var slot = ref _slots[_head & (_slots.Length - 1)];
            message = slot.Message;
            slot.Message = default;
            _head++;
            _bytes -= slot.Bytes;
            (slot.Buffer, _held) = (Keep(_held), slot.Buffer);
            if (_wantsRoom && _tail - _head <= capacity / 2 && _bytes <= MaxBytes / 2)
            {
                _wantsRoom = false;
                signalRoom = true;
            }
        }

        if (signalRoom)
        {
            OnRoom?.Invoke();
        }

        return RingTake.Message;
    }

    /// <summary>Takes a waiter back; false when it is being woken already.</summary>
    public bool TryCancelWait(IRingWaiter waiter)
    {
        lock (_lock)
        {
            if (!ReferenceEquals(_waiter, waiter))
            {
                return false;
            }

            _waiter = null;
            return true;
        }
    }

    private bool IsFull(int payloadBytes) => _tail - _head >= capacity || (_tail > _head && _bytes + payloadBytes > MaxBytes);

    private bool TryMakeRoom(SenderId sender, long sequence, int payloadBytes, out int dropped)
    {
        dropped = 0;
        if (_isEnded || _isOff)
        {
            return false;
        }

        // Under Wait a message beyond the capacity is one that was let in just before the reader came.
        if (_hasReader && policy == SlowReaderPolicy.Wait)
        {
            return true;
        }

        if (_hasReader && policy == SlowReaderPolicy.DropNewest)
        {
            if (!IsFull(payloadBytes))
            {
                return true;
            }

            dropped = 1;
            _gaps.Append(_tail, new GapNotice(sender, sequence, sequence, DroppedNewest));
            return false;
        }

        while (IsFull(payloadBytes))
        {
            DropHead();
            dropped++;
        }

        return true;
    }

    private void DropHead()
    {
        ref var slot = ref _slots[_head & (_slots.Length - 1)];
        _gaps.Drop(_head, new GapNotice(slot.Message.Sender, slot.Message.Sequence, slot.Message.Sequence, DroppedOldest));
        slot.Message = default;
        slot.Buffer = Keep(slot.Buffer);
        _bytes -= slot.Bytes;
        _head++;
    }

    private ref Slot NextSlot(int payloadBytes)
    {
        if (_tail - _head == _slots.Length)
        {
            Grow();
        }

        ref var slot = ref _slots[_tail++ & (_slots.Length - 1)];
        slot.Bytes = payloadBytes;
        _bytes += payloadBytes;
        return ref slot;
    }

    private void Grow()
    {
        var grown = new Slot[_slots.Length * 2];
        for (long position = _head; position < _tail; position++)
        {
            grown[position & (grown.Length - 1)] = _slots[position & (_slots.Length - 1)];
        }

        _slots = grown;
    }

    // Small buffers stay with their slots; large ones are rented for one message.
    private static byte[] Fit(byte[]? buffer, int bytes)
    {
        if (buffer is not null && buffer.Length >= bytes)
        {
            return buffer;
        }

        return bytes <= MaxKeptBytes
            ? GC.AllocateUninitializedArray<byte>((int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(bytes, MinBufferBytes)))
            : ArrayPool<byte>.Shared.Rent(bytes);
    }

    private static byte[]? Keep(byte[]? buffer)
    {
        if (buffer is not null && buffer.Length > MaxKeptBytes)
        {
            ArrayPool<byte>.Shared.Return(buffer);
            return null;
        }

        return buffer;
    }

    private void Clear()
    {
        while (_head < _tail)
        {
            ref var slot = ref _slots[_head++ & (_slots.Length - 1)];
            slot.Buffer = Keep(slot.Buffer);
            slot.Message = default;
        }

        _bytes = 0;
        _gaps.Clear();
    }

    private IRingWaiter? TakeWaiter()
    {
        var waiter = _waiter;
        _waiter = null;
        return waiter;
    }

    private void SignalRoomIfWanted()
    {
        bool signalRoom;
        lock (_lock)
        {
            signalRoom = _wantsRoom;
            _wantsRoom = false;
        }

        if (signalRoom)
        {
            OnRoom?.Invoke();
        }
    }

    private struct Slot
    {
        public Message<T> Message;
        public byte[]? Buffer;
        public int Bytes;
    }
}

internal interface IRingWaiter
{
    void Wake();
}
