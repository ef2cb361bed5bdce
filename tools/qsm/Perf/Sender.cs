using System.Diagnostics;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Perf;

// How long to send: for so many seconds, or until so many messages are sent.
internal readonly record struct SendLength(double Seconds, long? Messages);

// The sending side of a measurement: over all topics in turn, numbered in each from 1, from one thread.
internal sealed class Sender<T, TPayload>(PerfTopics<T> topics, TPayload payload, double? rate)
    where TPayload : struct, IPerfPayload<T>
{
    // Where messages go as fast as they can, one in so many carries its send time, and the clock decides about the end.
    private const int UnstampedRun = 64;

    // Not measured as steady: what the first second (or fifth, in a short run) sets up.
    private const double UnsteadySeconds = 1;
    private const double UnsteadyShare = 0.2;

    /// <summary>Messages so far, over all topics; markers are not counted.</summary>
    public long Sent { get; private set; }

    // The loop that is measured: it awaits only where the node has no room, so it allocates nothing while it flows.
    public async Task SendAsync(SendLength length, Steady? steady, CancellationToken stop)
    {
        Pace? pace = rate is double perSecond ? new Pace(perSecond) : null;
        long sent = Sent;
        long begun = sent;
        long last = length.Messages is long count ? begun + count : long.MaxValue;
        long startTicks = Stopwatch.GetTimestamp();
        long endTicks = length.Messages is null ? startTicks + ToTicks(length.Seconds) : long.MaxValue;
        long steadyTicks = startTicks
            + ToTicks(length.Messages is null ? Math.Min(UnsteadySeconds, length.Seconds * UnsteadyShare) : UnsteadySeconds);
        int topic = (int)(sent % topics.Count);
        long number = (sent / topics.Count) + 1;
        for (long now = startTicks; now < endTicks && sent < last && !stop.IsCancellationRequested; now = Stopwatch.GetTimestamp())
        {
            if (now >= steadyTicks && steady is { HasBegun: false })
            {
                steady.Begin(sent);
            }

            for (int i = pace is null ? (int)Math.Min(UnstampedRun, last - sent) : 1; i > 0; i--)
            {
                pace?.WaitFor(sent - begun);
                ValueTask accepted = topics[topic].PublishAsync(
                    in payload.Write(i == 1 ? Stopwatch.GetTimestamp() : 0, number), CancellationToken.None);
                if (!accepted.IsCompletedSuccessfully)
                {
                    await accepted;
                }

                sent++;
                if (++topic == topics.Count)
                {
                    topic = 0;
                    number++;
                }
            }
        }

        Sent = sent;
    }

    /// <summary>Says on each topic that the warm-up has ended.</summary>
    public Task MarkBeginAsync() => MarkAsync(static _ => PerfMessage.Begin);

    /// <summary>Says on each topic that all was sent, and which number was the last.</summary>
    public Task MarkEndAsync() => MarkAsync(PerfMessage.End);

    private static long ToTicks(double seconds) => (long)(seconds * Stopwatch.Frequency);

    private async Task MarkAsync(Func<long, long> sequenceAfter)
    {
        for (int i = 0; i < topics.Count; i++)
        {
            long last = (Sent / topics.Count) + (i < Sent % topics.Count ? 1 : 0);
            await topics[i].PublishAsync(in payload.Write(Stopwatch.GetTimestamp(), sequenceAfter(last)), CancellationToken.None);
        }
    }
}
