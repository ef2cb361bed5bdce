using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace QuickSilver.Endpoints;

// The bounded buffer between the core thread and one reader.
//
// A lock guards it although the core thread takes it: dropping the oldest makes the core thread a second consumer, and a
// gap notice must stand exactly between the messages that it parts. It is held for some tens of nanoseconds and nothing
// is called within it; wakes and resumptions happen after it is left. While there are handlers and no reader the core thread sees
// so without it, and leaves it alone. An idle topic has the lock and nothing else (Contents).
//
// What comes first, a reader or a handler, claims the ring. Until then all that is delivered is buffered here and nowhere else;
// a handler that comes first is handed it as a backlog, and the ring is off until a reader comes. The claim is made under
// the lock that adds, so that each message lies either in what is handed over or behind it.
//
// The reader takes several messages at one go (RingBatch), so that it comes for the lock once for all of them.
//
// Byte payloads lie in buffers that belong to the slots. Taking messages swaps their buffers with those of the messages
// taken before, so a message's bytes are the reader's until it asks for the next one, and nothing is allocated.
internal sealed class ReaderRing<T>(int capacity, SlowReaderPolicy policy)
{
    // The bound in bytes, so that a reader of large messages does not hold a thousand of them. One message always fits.
    public const long MaxBytes = 64L << 20;

    /// <summary>Returned by Add in place of a count.</summary>
    public const int WasClaimed = -1;

    private readonly Lock _lock = new();
    // Null before there is anything to buffer or to read.
    private Contents? _contents;
    private IRingWaiter? _waiter;
    private Exception? _error;
    private volatile bool _hasReader;
    private bool _wantsRoom;
    private bool _isEnded;
    private volatile bool _isDiscarded;
    private volatile bool _isOff;
    private volatile bool _isClaimed;
    private volatile HandlerBacklog<T>? _backlog;

    public IRingOwner? Owner { get; init; }

    public long Count
    {
        get
        {
            lock (_lock)
            {
                return Waiting;
            }
        }
    }

    /// <summary>Core thread. False only under the policy Wait while someone reads: the senders are to wait.</summary>
    public bool CanAccept(int payloadBytes) => policy != SlowReaderPolicy.Wait || !_hasReader
        || _contents!.HadRoom(payloadBytes) || HasRoom(payloadBytes);

    /// <summary>Any thread: whether a reader or a handler has come. Once true, always true.</summary>
    public bool IsClaimed => _isClaimed;

    /// <summary>Any thread: the first handlers have not had yet what was buffered before they came.</summary>
    public bool OwesBacklog => _backlog is not null;

    /// <summary>Any thread: nothing is buffered: handlers have come and no reader.</summary>
    public bool IsOff => _isOff;

    /// <summary>
    /// Core thread: adds a message, or what the policy says instead. Returns how many were dropped. A caller that takes the
    /// ring for unclaimed and is wrong gets WasClaimed, and nothing is done: handlers, if there are any, are served first.
    /// </summary>
    public int Add(in Message<T> message, int payloadBytes, bool isClaimed = true)
    {
        IRingWaiter? waiter;
        int dropped;
        lock (_lock)
        {
            if (_isClaimed && !isClaimed)
            {
                return WasClaimed;
            }

            if (!TryMakeRoom(message.Sender, message.Sequence, payloadBytes, out dropped))
            {
                return dropped;
            }

            _contents!.Slots.Append(payloadBytes).Message = message;
            NoteRoom();
            waiter = TakeWaiter();
        }

        waiter?.Wake();
        return dropped;
    }

    /// <summary>Core thread: as Add, for a payload of bytes, which are copied into the slot's buffer.</summary>
    public int AddBytes(ReadOnlySpan<byte> payload, NodeId sender, long sequence, bool isClaimed = true)
    {
        IRingWaiter? waiter;
        int dropped;
        lock (_lock)
        {
            if (_isClaimed && !isClaimed)
            {
                return WasClaimed;
            }

            if (!TryMakeRoom(sender, sequence, payload.Length, out dropped))
            {
                return dropped;
            }

            ref var slot = ref _contents!.Slots.Append(payload.Length);
            slot.Buffer = SlotBuffer.Fit(slot.Buffer, payload.Length);
            payload.CopyTo(slot.Buffer);
            var memory = new ReadOnlyMemory<byte>(slot.Buffer, 0, payload.Length);
            slot.Message = new Message<T>(Unsafe.As<ReadOnlyMemory<byte>, T>(ref memory), sender, sequence);
            NoteRoom();
            waiter = TakeWaiter();
        }

        waiter?.Wake();
        return dropped;
    }

    /// <summary>Core thread: a gap after all messages so far. False as Add returns WasClaimed.</summary>
    public bool TryAddGap(in GapNotice gap, bool isClaimed = true)
    {
        IRingWaiter? waiter;
        lock (_lock)
        {
            if (_isClaimed && !isClaimed)
            {
                return false;
            }

            if (_isEnded || _isOff)
            {
                return true;
            }

            Prepare();
            _contents.Gaps.Append(_contents.Slots.Tail, gap);
            waiter = TakeWaiter();
        }

        waiter?.Wake();
        return true;
    }

    /// <summary>Any thread: no more will come. What is buffered can still be read, unless it is discarded.</summary>
    public void End(Exception? error, bool discard)
    {
        IRingWaiter? waiter;
        lock (_lock)
        {
            if (discard)
            {
                // What the reader has taken already is its own to drop.
                _isDiscarded = true;
                _contents?.Clear();
                _backlog = null;
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

    /// <summary>
    /// Handlers come, already attached. The first to come are owed what is buffered, and nothing is buffered until a reader
    /// comes: a copy of every message for no one. True when there is a backlog to deliver to them.
    /// </summary>
    public bool TryClaim(HandlerEndpoint<T>[] handlers)
    {
        lock (_lock)
        {
            if (_isClaimed)
            {
                return false;
            }

            // Before the claim can be seen: whoever sees it serves the backlog first.
            _backlog = IsEmpty ? null : TakeAll(handlers);
            _isOff = true;
            _isClaimed = true;
            return _backlog is not null;
        }
    }

    /// <summary>Core thread: what is owed to the first handlers; null when nothing is, or no more.</summary>
    public HandlerBacklog<T>? TakeBacklog()
    {
        if (_backlog is null)
        {
            return null;
        }

        lock (_lock)
        {
            var backlog = _backlog;
            _backlog = null;
            return backlog;
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

            Prepare();
            _hasReader = true;
            _isOff = false;
            _isClaimed = true;
        }

        Owner?.OnReader();
        return true;
    }

    public void Detach()
    {
        lock (_lock)
        {
            if (_isDiscarded)
            {
                _contents!.Batch.Settle();
            }
            else
            {
                // What was dropped since came after what goes back; its place went with it.
                _contents!.Gaps.MoveBehind(_contents.Slots.Head);
                _contents.Batch.PutBack(_contents.Slots);
            }

            _hasReader = false;
            _waiter = null;
        }

        SignalRoomIfWanted();
    }

    /// <summary>The reader's next step. On Wait, the waiter will be woken once, unless it takes itself back.</summary>
    public RingTake Take(IRingWaiter waiter, out Message<T> message, out GapNotice gap)
    {
        gap = default;
        if (!_isDiscarded && _contents!.Batch.TryNext(out message))
        {
            return RingTake.Message;
        }

        message = default;
        RingTake taken;
        bool signalRoom = false;
        lock (_lock)
        {
            _contents!.Batch.Settle();
            taken = TakeBatch(waiter, out gap);
            if (_wantsRoom && Waiting <= capacity / 2 && WaitingBytes <= MaxBytes / 2)
            {
                _wantsRoom = false;
                signalRoom = true;
            }
        }

        if (signalRoom)
        {
            Owner?.OnRoom();
        }

        if (taken == RingTake.Message)
        {
            _contents!.Batch.TryNext(out message);
        }

        return taken;
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

    private bool HasRoom(int payloadBytes)
    {
        lock (_lock)
        {
            if (!_hasReader || _isEnded || !IsFull(payloadBytes))
            {
                return true;
            }

            _wantsRoom = true;
            return false;
        }
    }

    // Under the lock, before anything is buffered or read.
    [MemberNotNull(nameof(_contents))]
    private void Prepare() => _contents ??= new Contents(capacity);

    private long Waiting => _contents is null ? 0 : _contents.Slots.Count + _contents.Batch.Waiting;

    private long WaitingBytes => _contents is null ? 0 : _contents.Slots.Bytes + _contents.Batch.WaitingBytes;

    private bool IsEmpty => _contents is null || (_contents.Slots.Count == 0 && _contents.Gaps.IsEmpty);

    private bool IsFull(int payloadBytes) => Waiting >= capacity || (Waiting > 0 && WaitingBytes + payloadBytes > MaxBytes);

    private void NoteRoom() => _contents!.NoteRoom(capacity - Waiting, MaxBytes - WaitingBytes);

    private RingTake TakeBatch(IRingWaiter waiter, out GapNotice gap)
    {
        if (_contents!.Gaps.TryTake(_contents.Slots.Head, out gap))
        {
            return RingTake.Gap;
        }

        if (_contents.Slots.Count > 0)
        {
            // No further than the next gap: it is told between the messages that it parts.
            _contents.Batch.Refill(_contents.Slots, _contents.Gaps.Position);
            return RingTake.Message;
        }

        if (_isEnded)
        {
            return _error is null ? RingTake.Ended : throw _error;
        }

        _waiter = waiter;
        return RingTake.Wait;
    }

    private bool TryMakeRoom(NodeId sender, long sequence, int payloadBytes, out int dropped)
    {
        dropped = 0;
        if (_isEnded || _isOff)
        {
            return false;
        }

        Prepare();
        // Under Wait a message beyond the capacity is one that was let in just before the reader came.
        if (_hasReader && policy == SlowReaderPolicy.Wait)
        {
            return true;
        }

        if (_hasReader && policy == SlowReaderPolicy.DropWrite)
        {
            if (!IsFull(payloadBytes))
            {
                return true;
            }

            dropped = 1;
            _contents.Gaps.Append(_contents.Slots.Tail, new GapNotice(sender, sequence, sequence, GapReason.ReaderFull));
            return false;
        }

        while (_contents.Slots.Count > 0 && IsFull(payloadBytes))
        {
            DropHead();
            dropped++;
        }

        return true;
    }

    private void DropHead()
    {
        var slots = _contents!.Slots;
        ref var slot = ref slots.Oldest;
        var gap = new GapNotice(slot.Message.Sender, slot.Message.Sequence, slot.Message.Sequence, GapReason.ReaderFull);
        _contents.Gaps.Drop(slots.Head, gap);
        slot.Buffer = SlotBuffer.Keep(slot.Buffer);
        slots.RemoveOldest();
    }

    // The buffers of byte payloads go with their messages: the handlers' time with them is not the ring's to know.
    private HandlerBacklog<T> TakeAll(HandlerEndpoint<T>[] handlers)
    {
        var backlog = new HandlerBacklog<T>(handlers);
        while (true)
        {
            while (_contents!.Gaps.TryTake(_contents.Slots.Head, out var gap))
            {
                backlog.Add(gap);
            }

            if (_contents.Slots.Count == 0)
            {
                _contents.Slots.Renew();
                return backlog;
            }

            backlog.Add(_contents.Slots.Oldest.Message);
            _contents.Slots.RemoveOldest();
        }
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
            Owner?.OnRoom();
        }
    }

    // What is buffered, and what the reader has taken.
    private sealed class Contents(int capacity)
    {
        // The core thread's own: what had room when it last added. Nobody else adds, so there is no less by now.
        private long _roomMessages;
        private long _roomBytes;

        public GapLine Gaps { get; } = new();

        public RingSlots<T> Slots { get; } = new();

        public RingBatch<T> Batch { get; } = new(capacity);

        public bool HadRoom(int payloadBytes) => _roomMessages > 0 && payloadBytes <= _roomBytes;

        public void NoteRoom(long messages, long bytes)
        {
            _roomMessages = messages;
            _roomBytes = bytes;
        }

        public void Clear()
        {
            Slots.Clear();
            Gaps.Clear();
        }
    }
}
