using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I1 for best-effort topics, which report their losses. If a sender stays up, each subscriber in the view that stays up has received each
// message sent in the view, or was notified of its loss. It is never both, because NoGapChecker finds messages after their gap. So
// delivered messages and reported losses add up to the messages sent, even if the last message was lost.
internal sealed class BestEffortChecker : DeliveryChecker
{
    private readonly Partings _partings = new();

    public override string Invariant => "I1";

    public override bool IsComplete => FirstMissing() is null;

    public override void On(in Configured configured) => _partings.On(configured);

    public override void On(in Sent sent)
    {
        if (IsBestEffort(sent.Message.Topic))
        {
            base.On(sent);
        }
    }

    public override void On(in GapReported gap)
    {
        if (gap.First <= gap.Last && IsBestEffort(gap.Subscription.Topic))
        {
            Find(gap.Subscription)?.Of(gap.Sender).Add(gap.First, gap.Last);
        }
    }

    public override void OnEnd()
    {
        if (FirstMissing() is var (listener, message))
        {
            Violate(Last, $"{listener.Subscription} neither received {message} nor was notified of its loss.");
        }
    }

    private (Listener Listener, MessageId Message)? FirstMissing()
    {
        foreach (var listener in Open)
        {
            foreach (var log in LogsOf(listener.Subscription.Topic))
            {
                if (!log.HasStopped && FirstOwed(log, listener) is var number && number > 0)
                {
                    return (listener, new MessageId(log.Sender, log.Topic, number));
                }
            }
        }

        return null;
    }

    private long FirstOwed(SenderLog log, Listener listener)
    {
        var accounted = listener.Of(log.Sender);
        foreach (var run in log.Runs)
        {
            if (listener.Among(run.Views) is { } view && !_partings.HaveParted(log.Sender, run.Begun, listener.Life, view))
            {
                long missing = accounted.FirstMissing(run.FirstSince(listener.Since));
                if (missing <= run.Last)
                {
                    return missing;
                }
            }
        }

        return 0;
    }
}
