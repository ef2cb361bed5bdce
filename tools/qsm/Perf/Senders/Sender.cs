using System.Diagnostics;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Perf.Senders;

// How long to send: for so many seconds, or until so many messages are sent.
internal readonly record struct SendLength(double Seconds, long? Messages);

// The sending side of a measurement: over all topics, numbered in each from 1.
internal abstract class Sender<T, TPayload>(PerfTopics<ITopicPublisher<T>> topics, TPayload payload)
    where TPayload : struct, IPerfPayload<T>
{
    // One in so many carries its send time, and the clock decides about the end; at a rate one in a burst.
    protected const int UnstampedRun = 64;

    // Not measured as steady: what the first second (or fifth, in a short run) sets up.
    private const double UnsteadySeconds = 1;
    private const double UnsteadyShare = 0.2;

    /// <summary>Messages so far, over all topics; markers are not counted.</summary>
    public long Sent { get; protected set; }

    protected PerfTopics<ITopicPublisher<T>> Topics { get; } = topics;

    protected TPayload Payload => payload;

    public abstract Task SendAsync(SendLength length, Steady? steady, CancellationToken stop);

    /// <summary>Says on each topic that the warm-up has ended.</summary>
    public Task MarkBeginAsync() => MarkAsync(static _ => PerfMessage.Begin);

    /// <summary>Says on each topic that all was sent, and which number was the last.</summary>
    public Task MarkEndAsync() => MarkAsync(PerfMessage.End);

    /// <summary>Sends on each topic, after all that was sent there, one message with the number that this gives for the last.</summary>
    protected abstract Task MarkAsync(Func<long, long> sequenceAfter);

    // The moments and the numbers at which a run is steady, and over.
    protected readonly struct SendRun
    {
        private readonly long _steadyTicks;
        private readonly long _endTicks;
        private readonly Steady? _steady;

        public SendRun(SendLength length, Steady? steady, long sent)
        {
            long start = Stopwatch.GetTimestamp();
            Last = length.Messages is long count ? sent + count : long.MaxValue;
            _endTicks = length.Messages is null ? start + ToTicks(length.Seconds) : long.MaxValue;
            _steadyTicks = start
                + ToTicks(length.Messages is null ? Math.Min(UnsteadySeconds, length.Seconds * UnsteadyShare) : UnsteadySeconds);
            _steady = steady;
        }

        public long Last { get; }

        /// <summary>Looks at the clock: false when the run is over.</summary>
        public bool GoesOn(long sent)
        {
            long now = Stopwatch.GetTimestamp();
            if (now >= _steadyTicks && _steady is { HasBegun: false } steady)
            {
                steady.Begin(sent);
            }

            return now < _endTicks && sent < Last;
        }

        private static long ToTicks(double seconds) => (long)(seconds * Stopwatch.Frequency);
    }
}
