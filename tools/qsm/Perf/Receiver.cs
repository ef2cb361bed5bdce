using System.Diagnostics;

namespace QuickSilver.Tool.Perf;

// The receiving side of a measurement. Take runs on the core thread for every message and allocates nothing; all else is
// read by the command's thread, exactly only after Done.
internal sealed class Receiver(int topicCount, long? limit)
{
    private readonly SequenceCheck[] _checks = Enumerable.Range(0, topicCount).Select(_ => new SequenceCheck()).ToArray();
    private readonly bool[] _isMeasured = new bool[topicCount];
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

    public void Take(int topic, in Message<ReadOnlyMemory<byte>> message)
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

        SequenceCheck check = _checks[topic];
        bool endedBefore = check.Ended;
        (long missing, bool duplicate) = check.Take(message.Sender, sequence);
        Gaps += missing;
        Duplicates += duplicate ? 1 : 0;
        if (!PerfMessage.IsEnd(sequence))
        {
            if (_isMeasured[topic])
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

    private void Begin(int topic)
    {
        _isMeasured[topic] = true;
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
}
