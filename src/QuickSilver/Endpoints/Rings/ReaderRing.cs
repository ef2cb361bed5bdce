using System.Diagnostics.CodeAnalysis;
using QuickSilver.Endpoints.Subscriptions;

namespace QuickSilver.Endpoints.Rings;

// The bounded buffer between the core thread and one reader.
//
// A lock guards it although the core thread takes it too: when the core thread drops the oldest message it is a second consumer, and a gap
// notice must be exactly between the messages that it separates. The lock is held for some tens of nanoseconds, and no other code is called
// under it; wakes and continuations run after it is released. While there are handlers and no reader, the core thread sees that without the
// lock and does not use the ring. A ring without messages or a reader has the lock and nothing else (RingContents).
//
// The first reader or handler claims the ring. Until then, all messages are buffered here and nowhere else. A handler that comes first gets
// them as a backlog, and the ring is off until a reader comes. The claim is made under the lock that guards additions, so each message is
// either in the backlog or after it.
//
// The reader takes several messages at once (RingBatch), so that it takes the lock once for all of them.
//
// The buffers of byte payloads belong to the slots. When messages are taken, their buffers are swapped with those of the messages taken
// before. The bytes of a message therefore belong to the reader until it asks for the next message, and nothing is allocated.
internal sealed class ReaderRing<T>(int capacity, SlowReaderPolicy policy)
{
    // The limit in bytes, so that a reader of large messages does not hold a thousand of them. One message always fits.
    public const long MaxBytes = 64L << 20;

    /// <summary>Returned by Add instead of a count.</summary>
    public const int WasClaimed = -1;

    /// <summary>Returned by Add instead of a count: the ring has ended and does not have the message.</summary>
    public const int HasEnded = -2;

    private readonly Lock _lock = new();
    // Null until there is something to buffer or read.
    private RingContents<T>? _contents;
    private IRingWaiter? _waiter;
    private Exception? _error;
    private volatile bool _hasReader;
    private bool _wantsRoom;
    private bool _isEnded;
    private volatile bool _isLifted;
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

    /// <summary>Any thread: whether messages or gap notices wait for a reader.</summary>
    public bool HasUnread
    {
        get
        {
            lock (_lock)
            {
                return Waiting > 0 || _contents is { Gaps.IsEmpty: false };
            }
        }
    }

    /// <summary>Core thread. False only with the policy Wait and a reader: the senders must then wait.</summary>
    public bool CanAccept(int payloadBytes) => policy != SlowReaderPolicy.Wait || !_hasReader || _isLifted
        || _contents!.HadRoom(payloadBytes) || HasRoom(payloadBytes);

    /// <summary>Any thread: whether a reader or a handler has been attached. Never changes back to false.</summary>
    public bool IsClaimed => _isClaimed;

    /// <summary>
    /// Any thread: whether the first handlers have not yet received the messages that were buffered before they were attached.
    /// </summary>
    public bool OwesBacklog => _backlog is not null;

    /// <summary>Any thread: whether nothing is buffered, because there are handlers and no reader.</summary>
    public bool IsOff => _isOff;

    /// <summary>
    /// Core thread: adds a message, or applies the policy. Returns how many messages were dropped. If <paramref name="isClaimed"/> is false
    /// and the ring is claimed, returns WasClaimed and does nothing: handlers, if there are any, must be served first.
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

            _contents!.TakeMemory(Owner, 0, ref dropped);
            _contents.Slots.Append(payloadBytes).Message = message;
            _contents.NoteRoom();
            waiter = TakeWaiter();
        }

        waiter?.Wake();
        return dropped;
    }

    /// <summary>Core thread: like Add, for a byte payload, which is copied into the slot's buffer.</summary>
    public int AddBytes(
        ReadOnlySpan<byte> payload, NodeId sender, long sequence, bool isClaimed = true, MessageOrigin origin = default)
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

            _contents!.TakeMemory(Owner, payload.Length, ref dropped);
            _contents.AppendBytes(payload, sender, sequence, origin);
            _contents.NoteRoom();
            waiter = TakeWaiter();
        }

        waiter?.Wake();
        return dropped;
    }

    /// <summary>Core thread: adds a gap after all messages so far. False in the case in which Add returns WasClaimed.</summary>
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

    /// <summary>
    /// Any thread: with the policy Wait, the ring refuses nothing any more, because nothing is sent to it any more, and what has come must
    /// be read before the end. That is bounded by what may wait below the ring.
    /// </summary>
    public void Lift() => _isLifted = true;

    /// <summary>
    /// Any thread: no more messages will be added. Buffered messages can still be read. If they are discarded, the reader gets gap notices
    /// in their place. Returns those for which there is no reader.
    /// </summary>
    public IReadOnlyList<GapNotice> End(Exception? error, bool discard)
    {
        IRingWaiter? waiter;
        IRingReader? reader = null;
        IReadOnlyList<GapNotice> dropped = [];
        lock (_lock)
        {
            if (discard)
            {
                // The reader drops the messages that it has already taken.
                _isDiscarded = true;
                _contents?.DropAll(GapReason.SubscriberEnded);
                reader = _contents?.Reader;
            }

            if (!_isEnded)
            {
                _isEnded = true;
                _error = error;
            }

            if (!_hasReader)
            {
                dropped = TakeRest();
            }

            waiter = TakeWaiter();
        }

        reader?.OnDiscarded();
        waiter?.Wake();
        SignalRoomIfWanted();
        return dropped;
    }

    /// <summary>
    /// Called when handlers were attached. The first ones get the buffered messages, and nothing is buffered after that until a reader
    /// comes, because no reader would need the copies. True if there is a backlog to deliver to them.
    /// </summary>
    public bool TryClaim(HandlerEndpoint<T>[] handlers)
    {
        lock (_lock)
        {
            if (_isClaimed)
            {
                return false;
            }

            // Set before the claim becomes visible: a thread that sees the claim delivers the backlog first.
            _backlog = _contents is null or { IsEmpty: true } ? null : _contents.TakeAll(handlers);
            _isOff = true;
            _isClaimed = true;
            return _backlog is not null;
        }
    }

    /// <summary>Core thread: takes the backlog of the first handlers; null if there is none, or it was already taken.</summary>
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

    /// <summary>Any thread: whether the reader is a consumer.</summary>
    public bool HasConsumer
    {
        get
        {
            lock (_lock)
            {
                return _contents?.Reader is not null;
            }
        }
    }

    /// <summary>Attaches a reader. False if there already is one.</summary>
    public bool TryAttach(IRingReader? reader = null)
    {
        lock (_lock)
        {
            if (_hasReader)
            {
                return false;
            }

            Prepare();
            _contents.Reader = reader;
            _hasReader = true;
            _isOff = false;
            _isClaimed = true;
        }

        Owner?.OnReader();
        return true;
    }

    /// <summary>
    /// Called when the reader leaves. The messages that it has not read wait for the next one. If the ring has ended there will be none,
    /// and they are dropped and returned as gaps, behind the notices that the reader has not received.
    /// </summary>
    public IReadOnlyList<GapNotice> Detach()
    {
        IReadOnlyList<GapNotice> dropped = [];
        lock (_lock)
        {
            _contents!.PutBack();
            _contents.Reader = null;
            _hasReader = false;
            _waiter = null;
            if (_isEnded)
            {
                dropped = TakeRest();
            }
        }

        SignalRoomIfWanted();
        return dropped;
    }

    /// <summary>Any thread: whether a reader or a consumer is attached.</summary>
    public bool HasReader => _hasReader;

    /// <summary>Of an ended ring: what was dropped and its reader does not come for.</summary>
    public IReadOnlyList<GapNotice> PeekUnread()
    {
        lock (_lock)
        {
            return _contents?.PeekUnread(GapReason.SubscriberEnded) ?? [];
        }
    }

    /// <summary>The reader's next step. If it is Wait, the waiter will be woken once, unless the wait is cancelled.</summary>
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
            if (_isDiscarded)
            {
                _contents!.PutBack();
                _contents.DropAll(GapReason.SubscriberEnded);
            }

            _contents!.Batch.Settle();
            taken = TakeBatch(waiter, out gap);
            if (_wantsRoom && Waiting <= capacity / 2 && _contents.WaitingBytes <= MaxBytes / 2)
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

    /// <summary>Cancels a wait. False if the waiter is already being woken.</summary>
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

    /// <summary>
    /// Core thread: takes the memory that the next message needs, so that adding it does not fail when handlers have had it. The message
    /// has at most so many bytes that are copied.
    /// </summary>
    /// <exception cref="OutOfMemoryException">There is none. Nothing is changed.</exception>
    public void Reserve(int copiedBytes)
    {
        int none = 0;
        lock (_lock)
        {
            // A full ring drops a message first, whose place the next one gets.
            if (!_isEnded && !_isOff && Waiting < capacity)
            {
                Prepare();
                _contents.TakeMemory(Owner, copiedBytes, ref none);
            }
        }
    }

    private bool HasRoom(int payloadBytes)
    {
        lock (_lock)
        {
            if (!_hasReader || _isEnded || !_contents!.IsFull(payloadBytes))
            {
                return true;
            }

            _wantsRoom = true;
            return false;
        }
    }

    // Called under the lock before anything is buffered or read.
    [MemberNotNull(nameof(_contents))]
    private void Prepare() => _contents ??= new RingContents<T>(capacity);

    private long Waiting => _contents?.Waiting ?? 0;

    private RingTake TakeBatch(IRingWaiter waiter, out GapNotice gap)
    {
        if (_contents!.Gaps.TryTake(_contents.Slots.Head, out gap))
        {
            return RingTake.Gap;
        }

        if (_contents.Slots.Count > 0)
        {
            // Not beyond the next gap, which is reported between the messages that it separates.
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
        dropped = _isEnded ? HasEnded : 0;
        if (_isEnded || _isOff)
        {
            return false;
        }

        Prepare();
        // With the policy Wait, a message beyond the capacity was admitted just before the reader came.
        if (_hasReader && policy == SlowReaderPolicy.Wait)
        {
            return true;
        }

        if (_hasReader && policy == SlowReaderPolicy.DropWrite)
        {
            if (!_contents.IsFull(payloadBytes))
            {
                return true;
            }

            dropped = 1;
            _contents.Gaps.Append(_contents.Slots.Tail, new GapNotice(sender, sequence, sequence, GapReason.ReaderFull));
            return false;
        }

        dropped = _contents.DropOldestFor(payloadBytes);
        return true;
    }

    // What an application never asked for, as it attached neither a reader nor a handler, it does not miss.
    private List<GapNotice> TakeRest()
    {
        var rest = _contents?.TakeRest(GapReason.SubscriberEnded) ?? [];
        return _isClaimed ? rest : [];
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
}
