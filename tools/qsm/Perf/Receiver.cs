using System.Diagnostics;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Perf;

// The receiving side of a measurement. Take runs for every message, on the core thread or in the one reader's task, and
// allocates nothing; all else is read by the command's thread, exactly only after Done.
//
// With several senders, what counts is the time in which all of them send: from the last one's begin to the first one's end.
internal sealed class Receiver<T, TPayload>(int topicCount, int senders, long? limit)
    where TPayload : struct, IPerfPayload<T>
{
    private int _openTopics = topicCount;
    private int _begunSenders;
    private Dictionary<NodeId, long> _lastAtBegin = [];
    private long _delivered;
    private long _firstTicks;
    private long _lastTicks;

    public ManualResetEventSlim First { get; } = new();

    public ManualResetEventSlim Done { get; } = new();

    public LatencyHistogram Latency { get; } = new();

    public long Delivered => Volatile.Read(ref _delivered);

    public long Gaps { get; private set; }

    public long Duplicates { get; private set; }

    public long Malformed { get; private set; }

    /// <summary>With several senders: how many messages of each came while all of them sent.</summary>
    public long[] BySender { get; private set; } = [];

    /// <summary>0 if nothing was measured: the sender died after its begin, or of several, one ended before all had begun.</summary>
    public double Seconds => _firstTicks == 0 ? 0 : Math.Max(0, Stopwatch.GetElapsedTime(_firstTicks, _lastTicks).TotalSeconds);

    /// <summary>What is to handle one topic's messages: an object of its own, so that a message of many topics looks at one.</summary>
    public MessageHandler<T> Topic() => new ReceivedTopic(this).Take;

    /// <summary>Reads the only topic until it is cancelled. However it ends, nothing waits for more.</summary>
    public async Task ReadAsync(ITopicSubscriber<T> topic)
    {
        try
        {
            var received = new ReceivedTopic(this);
            await foreach (var message in topic.ReadAllAsync())
            {
                received.Take(message);
            }
        }
        finally
        {
            First.Set();
            Done.Set();
        }
    }

    private void Take(ReceivedTopic topic, in Message<T> message)
    {
        if (Done.IsSet)
        {
            return;
        }

        if (!TPayload.TryRead(message.Value, out long sentAtTicks, out long sequence))
        {
            Malformed++;
            return;
        }

        if (PerfMessage.IsBegin(sequence))
        {
            Begin(topic);
            return;
        }

        bool endedBefore = topic.Check.Ended;
        (long missing, bool duplicate) = topic.Check.Take(message.Sender, sequence);
        Gaps += missing;
        Duplicates += duplicate ? 1 : 0;
        if (!PerfMessage.IsEnd(sequence))
        {
            if (topic.IsMeasured)
            {
                Count(sentAtTicks);
            }
        }
        else if (senders > 1)
        {
            EndOne(topic, endedBefore);
        }
        else if (!endedBefore && --_openTopics == 0)
        {
            _lastTicks = Stopwatch.GetTimestamp();
            First.Set();
            Done.Set();
        }
    }

    private void EndOne(ReceivedTopic topic, bool endedBefore)
    {
        if (!endedBefore)
        {
            _lastTicks = Stopwatch.GetTimestamp();
            topic.IsMeasured = false;
            BySender = [.. topic.Check.Last().Select(last => last.Value - _lastAtBegin.GetValueOrDefault(last.Key))];
        }

        if (topic.Check.EndedSenders == senders)
        {
            First.Set();
            Done.Set();
        }
    }

    private void Begin(ReceivedTopic topic)
    {
        if (++_begunSenders < senders || topic.Check.Ended)
        {
            return;
        }

        if (senders > 1)
        {
            _lastAtBegin = topic.Check.Last();
        }

        topic.IsMeasured = true;
        if (!First.IsSet)
        {
            _firstTicks = Stopwatch.GetTimestamp();
            First.Set();
        }
    }

    private void Count(long sentAtTicks)
    {
        if (sentAtTicks != 0)
        {
            _lastTicks = Stopwatch.GetTimestamp();
            Latency.RecordTicks(_lastTicks - sentAtTicks);
        }

        long delivered = _delivered + 1;
        Volatile.Write(ref _delivered, delivered);
        if (delivered == limit)
        {
            _lastTicks = Stopwatch.GetTimestamp();
            Done.Set();
        }
    }

    private sealed class ReceivedTopic(Receiver<T, TPayload> receiver)
    {
        // A struct: part of this object.
        public SequenceCheck Check = new();

        public bool IsMeasured { get; set; }

        public void Take(in Message<T> message) => receiver.Take(this, message);
    }
}
