namespace QuickSilver.Multicast.Ordering.Credit;

// One sender's run in one topic, from when readers have no room for it until the sender was notified often enough that it has no limit: the
// number up to which the sender may send.
//
// Intuition: the sender may have so many messages on the way as the readers take in 0.2 s (Ahead). Then there is always something for them
// to take, a step of credit follows the last one after 0.1 s (StepInterval), and what waits beyond the readers' buffers is little.
// Application: after each step, what was taken since the step before gives the rate. The messages that came before the sender heard of
// its first limit may be far more than that, up to what was in flight. While that is parked, the sender gets half of what the readers take:
// it continues slowly instead of standing still, and what is parked becomes less.
// What goes wrong: room that the readers make before the sender has used its credit is no progress of theirs, but a credit that is too
// small. So when the sink itself says that it has room (OnRoom), which buffers do when half of them is free, the credit doubles. And where
// parking is nearly full (HasPlenty), credit would end in packets that hold back other topics: then a run of which messages are parked has
// none, and any other has the least.
// Credit counts messages, but parking is bounded in bytes: what the sender may be ahead without proof that the readers take so much is at
// most half of a topic's parking, in messages as large as those that came last (OnArrived). One large message among small ones must not
// hold the run to the rate of large ones, so the mean counts and not the largest.
internal sealed class SlowRun(TopicReceiver receiver, SenderOrder order, long parkedBytes)
{
    /// <summary>From one step of credit to the next.</summary>
    public static readonly TimeSpan StepInterval = TimeSpan.FromMilliseconds(100);

    /// <summary>The sender removes a limit after several of these intervals without a repetition (CreditLimits).</summary>
    public static readonly TimeSpan HoldInterval = TimeSpan.FromMilliseconds(500);

    private static readonly TimeSpan Ahead = 2 * StepInterval;
    private static readonly TimeSpan RepeatInterval = TimeSpan.FromMilliseconds(20);
    // Steps of fast readers, which make room often.
    private static readonly TimeSpan LeastInterval = TimeSpan.FromMilliseconds(5);
    // How often a limit is sent first, and its end, in case a packet is lost: without a limit, the sender fills the parking in a moment.
    private const int Repeats = 3;
    // While nothing waits, so that there is something to measure.
    private const long LeastAhead = 16;

    private TimeSpan _heldAt;
    private TimeSpan _steppedAt;
    private TimeSpan _reportedAt;
    private long _takenAtStep;
    // How many messages the sender may be ahead of what is taken.
    private long _ahead;
    // What is left when what was taken is halved: a reader may take one message in a step, or none.
    private long _owed;
    // The sink has said that it has room since it refused a message.
    private bool _hadRoom;
    private int _repeatsLeft;
    // What has arrived since the last step, and how many messages as large as those that came last are half of a topic's parking.
    private long _arrived;
    private long _arrivedBytes;
    private long _mostAhead = CreditPacket.Unlimited / 4;

    public TopicReceiver Receiver { get; } = receiver;

    public SenderOrder Order { get; } = order;

    /// <summary>The sender has a limit.</summary>
    public bool IsHeld { get; private set; }

    /// <summary>Messages of a view that is not installed yet wait for the readers too: no credit until it is.</summary>
    public bool IsAhead { get; set; }

    /// <summary>The last number that the sender may send.</summary>
    public long Through { get; private set; } = CreditPacket.Unlimited;

    public TimeSpan NextAt { get; private set; }

    /// <summary>Whether messages wait for readers now.</summary>
    public bool IsBlocked => IsHeld && (IsAhead || Order.IsBlocked);

    public bool IsOver => !IsHeld && _repeatsLeft <= 0;

    /// <summary>The readers have no room: the sender gets a limit.</summary>
    public void Hold(TimeSpan now)
    {
        IsHeld = true;
        Through = Order.Next - 1;
        _ahead = 0;
        _owed = 0;
        _hadRoom = false;
        _repeatsLeft = Repeats;
        _heldAt = now;
        Begin(now);
        NextAt = now + RepeatInterval;
    }

    /// <summary>The sender may send all it has.</summary>
    public void Release(TimeSpan now)
    {
        IsHeld = false;
        IsAhead = false;
        Through = CreditPacket.Unlimited;
        _repeatsLeft = Repeats;
        NextAt = now;
    }

    /// <summary>Called for each message that the sink takes or that is parked.</summary>
    public void OnArrived(int bytes)
    {
        _arrived++;
        _arrivedBytes += ParkingBudget.Cost(bytes);
    }

    /// <summary>
    /// Called when the sink had room by itself, and took what it could. A reader that takes all at once is not slow. If everything was
    /// taken later than that, the credit was too small.
    /// </summary>
    public void OnRoom(TimeSpan now)
    {
        _hadRoom = true;
        if (Order.IsBlocked || IsAhead)
        {
            NextAt = Earlier(_steppedAt + LeastInterval);
        }
        else if (now - _heldAt < StepInterval)
        {
            Release(now);
        }
        else
        {
            _ahead = Math.Min(Math.Max(2 * _ahead, Math.Min(4 * LeastAhead, _mostAhead)), CreditPacket.Unlimited / 4);
            NextAt = Earlier(_steppedAt + LeastInterval);
        }
    }

    /// <summary>Gives the next step of credit, if the run is held. True if something must be sent to the sender.</summary>
    public bool Step(TimeSpan now, bool mayPark)
    {
        if (!IsHeld)
        {
            _repeatsLeft--;
            NextAt = now + RepeatInterval;
            return true;
        }

        // The readers keep up: they have room, and for a whole step the sender has not used what it was given. While their buffers are
        // nearly full, that means only that the sender was late, and all that it has would come at once.
        _hadRoom &= !IsBlocked;
        if (_hadRoom && Order.Next - 1 < Through && now - _steppedAt >= StepInterval)
        {
            Release(now);
            return Step(now, mayPark);
        }

        if (_arrived > 0)
        {
            _mostAhead = Math.Max(1, parkedBytes / 2 / (_arrivedBytes / _arrived));
            _arrived = _arrivedBytes = 0;
        }

        long before = Through;
        Through = Math.Max(Through, Next(now, mayPark));
        Begin(now);
        if (--_repeatsLeft > 0)
        {
            NextAt = now + RepeatInterval;
            return true;
        }

        return Through != before || now - _reportedAt >= HoldInterval;
    }

    public void OnReported(TimeSpan now) => _reportedAt = now;

    private long Next(TimeSpan now, bool mayPark)
    {
        long arrived = Order.Next - 1;
        long taken = Order.Taken - _takenAtStep;
        double intervals = Math.Max((now - _steppedAt) / Ahead, 1e-3);
        long measured = Math.Min((long)(taken / intervals), Math.Max(2 * taken, _mostAhead));
        _ahead = Math.Max(_ahead * 3 / 4, measured);
        _owed += taken;
        long half = _owed / 2;
        _owed -= 2 * half;
        if (IsAhead)
        {
            return arrived;
        }

        // Nothing of this run is parked: what others have parked must not stop it, because no more room may come that would end that.
        if (!Order.IsBlocked)
        {
            long least = Math.Min(LeastAhead, _mostAhead);
            return Order.Taken + (mayPark ? (_ahead = Math.Max(_ahead, least)) : least);
        }

        return mayPark ? Math.Max(arrived + half, Order.Taken + _ahead) : arrived;
    }

    private void Begin(TimeSpan now)
    {
        _takenAtStep = Order.Taken;
        _steppedAt = now;
        NextAt = now + StepInterval;
    }

    private TimeSpan Earlier(TimeSpan at) => at < NextAt ? at : NextAt;
}
