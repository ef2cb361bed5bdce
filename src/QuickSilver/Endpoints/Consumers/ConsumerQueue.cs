using System.Runtime.CompilerServices;
using QuickSilver.Endpoints.Rings;

namespace QuickSilver.Endpoints.Consumers;

internal enum QueueAdd
{
    Added,
    // The intake will be run when there is room.
    Full,
    Closed,
}

internal enum QueueTake
{
    Message,
    // The worker will be run when there is a message.
    Wait,
    Closed,
}

// The messages between a consumer's intake and its workers: one queue for all workers or, if messages have keys, one for each. It is small,
// because messages wait in the endpoint's buffer, where the policy for slow readers holds.
//
// The bytes of a payload are copied into a buffer of the slot, and the worker that takes the message swaps its own buffer for it. They are
// therefore the worker's until it takes the next message, and nothing is allocated.
internal sealed class ConsumerQueue<T>(int workers)
{
    public const int Capacity = 16;
    private const long MaxBytes = 1 << 20;

    private readonly Lock _lock = new();
    private readonly Slot[] _slots = new Slot[Capacity];
    private readonly ConsumerWorker<T>[] _idle = new ConsumerWorker<T>[workers];
    private int _idleCount;
    private int _head;
    private int _count;
    private long _bytes;
    private bool _wantsRoom;
    private bool _isClosed;

    /// <summary>Intake: adds a message, if there is room. One message always fits.</summary>
    public QueueAdd Add(in Message<T> message, Exception? fault)
    {
        int bytes = BytesOf(message).Length;
        ConsumerWorker<T>? woken = null;
        lock (_lock)
        {
            if (_isClosed)
            {
                return QueueAdd.Closed;
            }

            if (_count == Capacity || (_count > 0 && _bytes + bytes > MaxBytes))
            {
                _wantsRoom = true;
                return QueueAdd.Full;
            }

            ref var slot = ref _slots[(_head + _count) % Capacity];
            slot.Message = Keep(message, ref slot.Buffer);
            slot.Bytes = bytes;
            slot.Fault = fault;
            _count++;
            _bytes += bytes;
            if (_idleCount > 0)
            {
                woken = _idle[--_idleCount];
            }
        }

        woken?.Wake();
        return QueueAdd.Added;
    }

    /// <summary>
    /// A worker's next message. <paramref name="signalsRoom"/>: the intake waits for room, and the caller must run it.
    /// </summary>
    public QueueTake Take(
        ConsumerWorker<T> worker, ref byte[]? buffer, out Message<T> message, out Exception? fault, out bool signalsRoom)
    {
        message = default;
        fault = null;
        signalsRoom = false;
        lock (_lock)
        {
            if (_count == 0)
            {
                if (!_isClosed)
                {
                    _idle[_idleCount++] = worker;
                }

                return _isClosed ? QueueTake.Closed : QueueTake.Wait;
            }

            ref var slot = ref _slots[_head];
            (message, fault) = (slot.Message, slot.Fault);
            (buffer, slot.Buffer) = (slot.Buffer, SlotBuffer.Keep(buffer));
            Remove(ref slot);
            if (_wantsRoom && _count <= Capacity / 2 && _bytes <= MaxBytes / 2)
            {
                _wantsRoom = false;
                signalsRoom = true;
            }

            return QueueTake.Message;
        }
    }

    /// <summary>
    /// No more messages will be added. Wakes the workers that wait. Passes on each message that is dropped. Returns whether the intake must
    /// be run because it waited for room.
    /// </summary>
    public bool Close(bool discard, Action<NodeId, long> dropped)
    {
        ConsumerWorker<T>[] woken;
        bool signalsRoom;
        lock (_lock)
        {
            _isClosed = true;
            while (discard && _count > 0)
            {
                ref var slot = ref _slots[_head];
                dropped(slot.Message.Sender, slot.Message.Sequence);
                slot.Buffer = SlotBuffer.Keep(slot.Buffer);
                Remove(ref slot);
            }

            (signalsRoom, _wantsRoom) = (_wantsRoom, false);
            woken = _idle[.._idleCount];
            _idleCount = 0;
        }

        foreach (var worker in woken)
        {
            worker.Wake();
        }

        return signalsRoom;
    }

    private static ReadOnlySpan<byte> BytesOf(in Message<T> message) => typeof(T) == typeof(ReadOnlyMemory<byte>)
        ? Unsafe.As<Message<T>, Message<ReadOnlyMemory<byte>>>(ref Unsafe.AsRef(in message)).Value.Span
        : default;

    private static Message<T> Keep(in Message<T> message, ref byte[]? buffer)
    {
        if (typeof(T) != typeof(ReadOnlyMemory<byte>))
        {
            return message;
        }

        var bytes = BytesOf(message);
        buffer = SlotBuffer.Fit(buffer, bytes.Length);
        bytes.CopyTo(buffer);
        var memory = new ReadOnlyMemory<byte>(buffer, 0, bytes.Length);
        return message with { Value = Unsafe.As<ReadOnlyMemory<byte>, T>(ref memory) };
    }

    private void Remove(ref Slot slot)
    {
        slot.Message = default;
        slot.Fault = null;
        _bytes -= slot.Bytes;
        _head = (_head + 1) % Capacity;
        _count--;
    }

    private struct Slot
    {
        public Message<T> Message;
        public byte[]? Buffer;
        public int Bytes;
        public Exception? Fault;
    }
}
