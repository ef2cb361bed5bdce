namespace QuickSilver.Multicast.Pacing;

// How far the slowest member has probably read one stream by now, from what it reported and from the rate at which it read before.
//
// Intuition: acknowledgements may be rare, as a few tokens a second are enough for everything else, and what they report has gone up the
// rings and is old. A sender that waits for each would send one window a token. Application: a member that read so many packets a second
// continues to do so. Its report is as old as the least time that ever passed between sending a packet and hearing that all had read
// it. The sender sends as many packets more as were read since, with a growth that finds out whether it could be more. (Growth is that of
// the released source of QSM; 000, section 5.7, says only that its rate "overcompensates" for delays.) What goes wrong: a member that stops
// reads none of them, so what is sent on trust is bounded in time, by the usual distance of acknowledgements, and what is sent as growth is
// bounded in packets, by what the members' buffers have room for. While buffers overflow, there is no growth. A member that falls behind
// makes acknowledgements look older, so only the least age counts.
internal sealed class ReceiverRate
{
    // Acknowledgements that are not further apart, or older, than this need no trust: a window lasts longer.
    private static readonly TimeSpan Prompt = TimeSpan.FromMilliseconds(10);

    // The share by which a stream that could send more tries to.
    private const double Growth = 0.5;

    // How much of the usual distance between acknowledgements may pass until nothing more is sent on trust.
    private const double Horizon = 2;

    // The weight of the last distance between acknowledgements.
    private const double Weight = 0.25;

    private readonly SendTimes _sent = new();
    // What the last two samples found. A rate is measured over two: what an acknowledgement reports may have missed the last token by a
    // moment, and the next reports twice as much.
    private (TimeSpan At, long Read)? _sample;
    private (TimeSpan At, long Read)? _sampleBefore;
    private TimeSpan _leastAge = TimeSpan.MaxValue;
    private long _read;
    private long _through;
    // The members have read since then: when they last reported or, if nothing was on the way then, when the next packets were sent; and
    // how old it was already, what they reported.
    private TimeSpan _since;
    private TimeSpan _age;
    private double _interval;
    private bool _grows;
    private bool _hasDropped;

    /// <summary>The packets that the slowest member read per second between the last acknowledgements; 0 before two have come.</summary>
    public double PacketsPerSecond { get; private set; }

    /// <summary>The packets up to here were sent.</summary>
    public void OnSent(TimeSpan now, long sent)
    {
        if (_read >= _through)
        {
            _since = now;
            _age = TimeSpan.Zero;
        }

        _through = sent;
        _sent.Add(now, sent);
    }

    /// <summary>The members have reported that all have read up to here.</summary>
    /// <param name="now">The present time.</param>
    /// <param name="read">The last packet that all have read.</param>
    /// <param name="isSenderWaiting">Whether the sender had more to send than it was allowed to.</param>
    /// <param name="hasDropped">Whether a member's buffer has overflowed since.</param>
    public void OnReport(TimeSpan now, long read, bool isSenderWaiting, bool hasDropped)
    {
        _hasDropped |= hasDropped;
        if (read > _read && _sent.TakeThrough(read) is { } sentAt && now - sentAt < _leastAge)
        {
            _leastAge = now - sentAt;
        }

        double seconds = (now - _since).TotalSeconds;
        _interval = _interval == 0 ? seconds : _interval + (Weight * (seconds - _interval));
        _since = now;
        _age = _leastAge == TimeSpan.MaxValue ? TimeSpan.Zero : _leastAge;
        _read = read;
        // What passes in less time, scheduling decides.
        if (_sample is not { } last || now - last.At >= Prompt)
        {
            Sample(now, isSenderWaiting);
        }
    }

    private void Sample(TimeSpan now, bool isSenderWaiting)
    {
        if ((_sampleBefore ?? _sample) is (var since, var before))
        {
            double rate = (_read - before) / (now - since).TotalSeconds;
            // A sender that had nothing to send says nothing about what the members can read.
            PacketsPerSecond = isSenderWaiting || rate > PacketsPerSecond ? rate : PacketsPerSecond;
        }

        _grows = !_hasDropped;
        _hasDropped = false;
        _sampleBefore = _sample;
        _sample = (now, _read);
    }

    /// <summary>
    /// How many packets more than they reported all members have probably read, and how many may be sent beyond that to find out whether
    /// they can read more.
    /// </summary>
    public long Trust(TimeSpan now, int mostGrowth)
    {
        if (PacketsPerSecond <= 0)
        {
            return 0;
        }

        double seconds = Math.Min((now - _since).TotalSeconds, Horizon * _interval) + (_age - Prompt).TotalSeconds;
        double packets = seconds * PacketsPerSecond;
        return seconds <= 0 ? 0 : (long)(packets + (_grows ? Math.Min(packets * Growth, mostGrowth) : 0));
    }

    /// <summary>
    /// How long until so many packets more may be sent on trust; MaxValue if they may not be before the next acknowledgement.
    /// </summary>
    public TimeSpan TimeUntil(TimeSpan now, long more)
    {
        if (PacketsPerSecond <= 0)
        {
            return TimeSpan.MaxValue;
        }

        double elapsed = (now - _since).TotalSeconds;
        if (elapsed >= Horizon * _interval)
        {
            return TimeSpan.MaxValue;
        }

        double seconds = (more / PacketsPerSecond) + Math.Max(0, (Prompt - _age).TotalSeconds - elapsed);
        return TimeSpan.FromSeconds(Math.Min(seconds, 3600));
    }
}
