using System.Diagnostics;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Perf.Senders;

// Publishes from one thread, over all topics in turn.
internal sealed class PublishingSender<T, TPayload>(PerfTopics<ITopicPublisher<T>> topics, TPayload payload, double? rate)
    : Sender<T, TPayload>(topics, payload)
    where TPayload : struct, IPerfPayload<T>
{
    // At a rate messages go in bursts no longer than this: looking at the clock costs as much as sending.
    private const double BurstSeconds = 20e-6;

    // The loop that is measured: it awaits only where the node has no room, so it allocates nothing while it flows.
    public override async Task SendAsync(SendLength length, Steady? steady, CancellationToken stop)
    {
        Pace? pace = rate is double perSecond ? new Pace(perSecond) : null;
        int burst = (int)Math.Clamp(rate * BurstSeconds ?? UnstampedRun, 1, UnstampedRun);
        long sent = Sent;
        long begun = sent;
        var run = new SendRun(length, steady, sent);
        int topic = (int)(sent % Topics.Count);
        long number = (sent / Topics.Count) + 1;
        while (run.GoesOn(sent) && !stop.IsCancellationRequested)
        {
            pace?.WaitFor(sent - begun);
            for (int i = (int)Math.Min(burst, run.Last - sent); i > 0; i--)
            {
                ValueTask accepted = Topics[topic].PublishAsync(
                    in Payload.Write(i == 1 ? Stopwatch.GetTimestamp() : 0, number), CancellationToken.None);
                if (!accepted.IsCompletedSuccessfully)
                {
                    await accepted;
                }

                sent++;
                if (++topic == Topics.Count)
                {
                    topic = 0;
                    number++;
                }
            }
        }

        Sent = sent;
    }

    protected override async Task MarkAsync(Func<long, long> sequenceAfter)
    {
        for (int i = 0; i < Topics.Count; i++)
        {
            long last = (Sent / Topics.Count) + (i < Sent % Topics.Count ? 1 : 0);
            await Topics[i].PublishAsync(in Payload.Write(Stopwatch.GetTimestamp(), sequenceAfter(last)), CancellationToken.None);
        }
    }
}
