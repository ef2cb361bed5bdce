using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Sending;

// The vital signs of one outbound stream: what keeps it from sending, and how long acknowledgements take, which is measured for one packet
// at a time. The stream reports what happens per run and per acknowledgement, so nothing here costs anything per message.
internal sealed class StreamSigns(NodeContext context)
{
    // The packet that is measured; 0 while none is.
    private long _timed;
    private TimeSpan _timedAt;
    // The packets that were sent when the rate was last asked for.
    private long _sentBefore;

    /// <summary>What keeps the stream from sending.</summary>
    public StreamLimit Limit { get; private set; }

    /// <summary>How long the last packet that was measured took to be acknowledged; zero before the first.</summary>
    public TimeSpan LastTimeToAcknowledge { get; private set; }

    public void Note(StreamLimit limit)
    {
        if (limit != Limit)
        {
            context.Counters.Limits.Change(Limit, limit, context.Environment.Now);
            Limit = limit;
        }
    }

    /// <summary>A topic waits, and not for the stream, which has nothing to send because of it.</summary>
    public void OnTopicLimited(StreamLimit limit)
    {
        if (Limit == StreamLimit.Idle)
        {
            Note(limit);
        }
    }

    public void OnSent(long number, TimeSpan now)
    {
        if (_timed == 0)
        {
            (_timed, _timedAt) = (number, now);
        }
    }

    /// <summary>All packets up to there are known to be held by all members.</summary>
    public void OnAcknowledged(long through, TimeSpan now)
    {
        if (_timed != 0 && through >= _timed)
        {
            _timed = 0;
            LastTimeToAcknowledge = now - _timedAt;
            context.Counters.TimesToAcknowledge.Add(LastTimeToAcknowledge);
        }
    }

    /// <summary>The packets that were sent will not be acknowledged.</summary>
    public void GiveUp() => _timed = 0;

    /// <summary>The packets sent since the last call.</summary>
    public long TakeSent(long sent)
    {
        long since = sent - _sentBefore;
        _sentBefore = sent;
        return since;
    }
}
