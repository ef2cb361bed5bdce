using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Deliveries;

// I8: a message is delivered in a view in which it was sent. The guarantee of a reliable topic is weaker than that of virtual synchrony in
// one point: an old view stays open, so a receiver may already be in a newer view. But the receiver got the old view, is a member of
// it, and was subscribed in it. If the sender stays up, every such subscriber that stays up receives the message. The guarantee starts when
// the subscription is announced; earlier messages cannot be judged. Two nodes that were separated when the service changed owe each other
// nothing from before; I1 checks that the gap is reported.
internal sealed class DeliveryViewChecker : DeliveryChecker
{
    private readonly Partings _partings = new();

    public override string Invariant => "I8";

    public override void On(in Configured configured) => _partings.On(configured);

    public override void On(in Delivered delivered)
    {
        base.On(delivered);
        var message = delivered.Message;
        if (Find(delivered.Subscription) is not { } listener || Find(message)?.RunOf(message.Sequence) is not { } run)
        {
            return;
        }

        bool isMember = false;
        foreach (var view in run.Views)
        {
            if (IsMember(listener.Life, view))
            {
                isMember = true;
                if (view.Configuration >= listener.Configuration)
                {
                    return;
                }
            }
        }

        string what = isMember
            ? $"older than its subscription, which is of configuration {listener.Configuration}"
            : "no view that it got and is a member of";
        Violate(delivered.At, $"{delivered.Subscription} received {message}, which was sent in {Names(run.Views)}: {what}.");
    }

    public override void OnEnd()
    {
        foreach (var listener in Open)
        {
            foreach (var log in IsBestEffort(listener.Subscription.Topic) ? [] : LogsOf(listener.Subscription.Topic))
            {
                if (!log.HasStopped && FirstOwed(log, listener) is var (number, views) && number > 0)
                {
                    var message = new MessageId(log.Sender, log.Topic, number);
                    string view = $"the view that {message} was sent in ({Names(views)})";
                    Violate(Last, $"{listener.Subscription} is in {view}, and did not receive it.");
                }
            }
        }
    }

    private static string Names(ImmutableArray<RegionView> views) =>
        views.IsEmpty ? "no view at all" : string.Join(", ", views.Select(Name));

    private (long Number, ImmutableArray<RegionView> Views) FirstOwed(SenderLog log, Listener listener)
    {
        var given = listener.Of(log.Sender);
        foreach (var run in log.Runs)
        {
            if (listener.Among(run.Views) is { } view && !_partings.HaveParted(log.Sender, run.Begun, listener.Life, view))
            {
                long missing = given.FirstMissing(run.FirstSince(listener.Since));
                if (missing <= run.Last)
                {
                    return (missing, run.Views);
                }
            }
        }

        return default;
    }
}
