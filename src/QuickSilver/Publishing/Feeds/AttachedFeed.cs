using System.Numerics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Feeds;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Publishing.Feeds;

// The pull model: the core thread gives the feed a turn when the network can take messages, and passes each message on while the feed
// writes it. A message that is not taken is kept and sent first in the next turn; nothing else is buffered.
//
// Invariants: while a message is kept, the feed is not asked. The messages are sent in the order of their numbers, so those that were sent
// are all but the kept one.
internal abstract class AttachedFeed : IAttachedFeed
{
    private const int LeastBufferBytes = 512;
    private const int MaxBufferBytes = 64 << 10;

    private readonly TopicPublisher _publisher;
    private readonly PublishOrigin _origin;
    private readonly SignalRequest _signal;
    private readonly SignalRequest _attach;
    private readonly SignalRequest _detach;
    // Null if the feed does not want to know what is stable.
    private readonly FeedMarks? _marks;
    private byte[] _buffer = [];
    // The length of the message that is kept in the buffer because there was no room for it; -1 if there is none.
    private int _kept = -1;
    // What is left of the turn.
    private PullBudget _turn;
    // Whether the application is being asked.
    private bool _isAsked;
    // The feed has reported that it has no message. It is asked again only after a signal.
    private bool _isIdle;
    // Between OnAttach and OnDetach.
    private bool _isAttached;
    private volatile bool _isDisposed;

    protected AttachedFeed(TopicPublisher publisher, PublishOrigin origin, Action<Exception> fault, bool isNotified)
    {
        _publisher = publisher;
        _origin = origin;
        Fault = fault;
        Place = new LinkedListNode<AttachedFeed>(this);
        _marks = isNotified ? new FeedMarks(publisher.Environment, this) : null;
        // The application runs within, and may hold the core thread.
        _signal = new ActionSignal(publisher.Environment, OnSignal, this);
        _attach = new ActionSignal(publisher.Environment, OnAttach, this);
        _detach = new ActionSignal(publisher.Environment, OnDetach, this);
    }

    /// <summary>From any thread: whether the application is not called any more.</summary>
    public bool HasEnded => _marks?.HasEnded ?? _isDisposed;

    /// <summary>The feed's place in the rotation.</summary>
    public LinkedListNode<AttachedFeed> Place { get; }

    /// <summary>The bytes that the feed may still give in its turn; the rotation's.</summary>
    public int Credit { get; set; }

    /// <summary>The number of messages that the feed wrote.</summary>
    public long Given { get; private set; }

    public bool CanWrite => _isAsked && !_turn.IsSpent;

    public int MessagesLeft => CanWrite ? Math.Min(_turn.Items, 1 + ((_turn.Bytes - 1) / MessageHeader.Bytes)) : 0;

    public int BytesLeft => CanWrite ? _turn.Bytes : 0;

    /// <summary>Called on the core thread with an exception of the application's feed.</summary>
    protected Action<Exception> Fault { get; }

    public void Attach() => _attach.Signal();

    public void Signal()
    {
        if (!_isDisposed)
        {
            _signal.Signal();
        }
    }

    public void Dispose()
    {
        if (!_isDisposed)
        {
            _isDisposed = true;
            _detach.Signal();
        }
    }

    /// <summary>
    /// Notifies the feed that its endpoint has ended. On the core thread, or on another one when the core thread has ended.
    /// </summary>
    public void End(Exception reason, bool isFailure)
    {
        DropKept();
        _marks?.End(reason, isFailure);
    }

    /// <summary>Core thread: whether there is room to note what is sent next.</summary>
    public bool HasRoomForMark => _marks?.HasRoom ?? true;

    /// <summary>
    /// Core thread: makes that room, before a turn or before the message that was kept. False: the heap has no memory.
    /// </summary>
    public bool TryMakeRoomForMark() => _marks?.TryGrow() ?? true;

    /// <summary>
    /// Core thread: the feed's turn, in which it sends what the budget allows. Returns whether it has more.
    /// </summary>
    public bool Pull(ITopicSender sender, ref PullBudget budget)
    {
        if (_origin.DropReason is not null || _origin.Loss is not null)
        {
            return false;
        }

        _turn = budget;
        long before = Given;
        bool isKept = _kept >= 0 && !TrySendKept();
        if (!isKept && !_turn.IsSpent && !_isIdle && !_isDisposed)
        {
            _isIdle = !Ask() || Given == before;
        }

        budget = _turn;
        long sent = _kept >= 0 ? Given - 1 : Given;
        _marks?.OnSent(sender, sent, isLast: _isIdle);
        return _kept >= 0 || !(_isIdle || _isDisposed);
    }

    /// <summary>Core thread: the message that was kept when the feed was detached was sent.</summary>
    public void OnKeptSent(ITopicSender sender) => _marks?.OnSent(sender, Given, isLast: true);

    /// <summary>Core thread: the message that was kept can never be sent.</summary>
    public void OnKeptLost(Exception reason) => _marks?.Fail(reason);

    /// <summary>Core thread: the application threw. If it were asked again at once, it could throw forever.</summary>
    public void OnFault(Exception exception)
    {
        _isIdle = true;
        Fault(exception);
    }

    /// <summary>Whether this object of the application is the feed.</summary>
    public abstract bool IsOf(object feed);

    /// <summary>Notifies the application up to where its messages are stable.</summary>
    public abstract void NotifyStable(long through);

    /// <summary>Notifies the application of the end of all notifications.</summary>
    public abstract void NotifyEnded(Exception? reason);

    /// <summary>Asks the application, which writes its messages. Returns whether it has more.</summary>
    protected abstract bool AskApplication();

    /// <summary>Takes the next message, encoded. It is sent now, or kept if there is no room.</summary>
    protected void Take(ReadOnlySpan<byte> message)
    {
        if (!TrySend(message))
        {
            // If there is no memory, the message is not taken, and the application gets the exception.
            Keep(message);
            _isAsked = false;
        }

        Given++;
    }

    protected Span<byte> Buffer(int bytes)
    {
        if (bytes > _buffer.Length)
        {
            int length = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(bytes, LeastBufferBytes));
            _buffer = GC.AllocateUninitializedArray<byte>(length);
        }

        return _buffer;
    }

    protected void CheckTurn()
    {
        if (!CanWrite)
        {
            throw new InvalidOperationException(
                _isAsked || _kept >= 0
                    ? "The budget of the feed's turn is used up. Check CanWrite before each message, and return true if there are more."
                    : "The writer was used outside the feed's turn. Use it only until Pull returns.");
        }
    }

    protected void CheckSize(int bytes)
    {
        MessageTooLargeException.ThrowIfOver(bytes);

        if (bytes > _publisher.MostBytes)
        {
            throw MessageTooLargeException.ForNow(bytes, _publisher.MostBytes);
        }
    }

    private bool Ask()
    {
        if (_buffer.Length > MaxBufferBytes)
        {
            _buffer = [];
        }

        _isAsked = true;
        try
        {
            return AskApplication();
        }
        catch (Exception exception)
        {
            OnFault(exception);
            return false;
        }
        finally
        {
            _isAsked = false;
        }
    }

    private bool TrySend(ReadOnlySpan<byte> message)
    {
        if (!_publisher.TrySendFromFeed(message, _origin.StampsTime, out var impossible))
        {
            return false;
        }

        if (impossible is not null)
        {
            OnKeptLost(impossible);
        }

        _turn.Charge(message.Length + MessageHeader.Bytes);
        return true;
    }

    private bool TrySendKept()
    {
        if (!TrySend(_buffer.AsSpan(0, _kept)))
        {
            return false;
        }

        _kept = -1;
        return true;
    }

    private void Keep(ReadOnlySpan<byte> message)
    {
        if (!message.Overlaps(_buffer))
        {
            message.CopyTo(Buffer(message.Length));
        }

        _kept = message.Length;
    }

    private void DropKept()
    {
        if (_kept >= 0)
        {
            _kept = -1;
            _origin.CountDropped(1);
        }
    }

    private void OnSignal()
    {
        _isIdle = false;
        if (_isAttached)
        {
            _publisher.Register(this);
        }
    }

    private void OnAttach()
    {
        if (!_isDisposed)
        {
            _isAttached = true;
            _publisher.Register(this);
        }
    }

    private void OnDetach()
    {
        _isAttached = false;
        _publisher.Remove(this);
        if (_origin.DropReason is not null)
        {
            // The endpoint has ended, and will say so.
            DropKept();
            return;
        }

        int kept = _kept;
        _kept = -1;
        if (kept >= 0)
        {
            byte[] buffer = _buffer;
            _buffer = [];
            _publisher.TakeKept(_origin, buffer, kept, this);
        }

        _marks?.OnDetached();
    }
}
