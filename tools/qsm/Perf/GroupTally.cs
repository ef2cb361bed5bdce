using System.Diagnostics;

namespace QuickSilver.Tool.Perf;

// What one member of a measured group got: how many messages in how long since the warm-up, in which order, and how late. Take runs on the
// core thread; the rest is read after Done.
internal sealed class GroupTally(int senders, double warmUpSeconds)
{
    private long _warmUntil;
    private TimeSpan _cpuBefore;
    private int _ended;

    public TaskCompletionSource Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public LatencyHistogram Latency { get; } = new();

    public long Delivered { get; private set; }

    /// <summary>A hash of all messages in their order: the same at members that got the same.</summary>
    public ulong Order { get; private set; } = 14_695_981_039_346_656_037;

    public double Seconds { get; private set; }

    /// <summary>Processor time of the whole process for each message.</summary>
    public double CpuMicros => (System.Environment.CpuUsage.TotalTime - _cpuBefore).TotalMicroseconds / Math.Max(1, Delivered);

    public void Take(NodeId sender, in GroupStamp stamp)
    {
        long now = Stopwatch.GetTimestamp();
        if (_warmUntil == 0)
        {
            _warmUntil = now + (long)(warmUpSeconds * Stopwatch.Frequency);
        }

        Order = (((Order ^ sender.Id) * 1_099_511_628_211) ^ (ulong)stamp.Number) * 1_099_511_628_211;
        if (now >= _warmUntil)
        {
            if (Delivered++ == 0)
            {
                _cpuBefore = System.Environment.CpuUsage.TotalTime;
            }

            Seconds = Stopwatch.GetElapsedTime(_warmUntil, now).TotalSeconds;
            Latency.RecordTicks(now - stamp.SentAtTicks);
        }

        if (stamp.IsLast && ++_ended == senders)
        {
            Done.TrySetResult();
        }
    }
}
