using System.Diagnostics;

namespace QuickSilver.Tool.Perf;

// The receiving side of a measurement. Take runs on the core thread for every message and allocates nothing; all else is
// read by the command's thread, exactly only after Done.
internal sealed class Receiver(int topicCount, long? limit)
{
    private int _openTopics = topicCount;
    private long _delivered;
    private long _firstTicks;
    private long _lastTicks;

    public ManualResetEventSlim First { get; } = new();

    public ManualResetEventSlim Done { get; } = new();

    public LatencyHistogram Latency { get; } = new();

    public long Delivered => Volatile.Read(ref _delivered);

    public long Bytes { get; private set; }

    public long Gaps { get; private set; }

    public long Duplicates { get; private set; }

    public long Malformed { get; private set; }

    public double Seconds => Stopwatch.GetElapsedTime(_firstTicks, _lastTicks).TotalSeconds;

    /// <summary>What is to handle one topic's messages: an object of its own, so that a message of many topics looks at one.</summary>
    public MessageHandler<ReadOnlyMemory<byte>> Topic() => new ReceivedTopic(this).Take;

    private void Take(ReceivedTopic topic, in Message<ReadOnlyMemory<byte>> message)
    {
        if (Done.IsSet)
        {
            return;
        }

        if (!PerfMessage.TryRead(message.Value.Span, out long sentAtTicks, out long sequence))
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
                Count(message.Value.Length, sentAtTicks);
            }
        }
        else if (!endedBefore && --_openTopics == 0)
        {
            _lastTicks = Stopwatch.GetTimestamp();
            First.Set();
            Done.Set();
        }
    }

    private void Begin(ReceivedTopic topic)
    {
        topic.IsMeasured = true;
        if (!First.IsSet)
        {
            _firstTicks = Stopwatch.GetTimestamp();
            First.Set();
        }
    }

    private void Count(int bytes, long sentAtTicks)
    {
        if (sentAtTicks != 0)
        {
            _lastTicks = Stopwatch.GetTimestamp();
            Latency.RecordTicks(_lastTicks - sentAtTicks);
        }

        Bytes += bytes;
        long delivered = _delivered + 1;
        Volatile.Write(ref _delivered, delivered);
        if (delivered == limit)
        {
            _lastTicks = Stopwatch.GetTimestamp();
            Done.Set();
        }
    }

    private sealed class ReceivedTopic(Receiver receiver)
    {
        // A struct: part of this object.
        public SequenceCheck Check = new();

        public bool IsMeasured { get; set; }

        public void Take(in Message<ReadOnlyMemory<byte>> message) => receiver.Take(this, message);
    }
}
