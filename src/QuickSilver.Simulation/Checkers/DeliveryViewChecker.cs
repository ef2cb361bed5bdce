using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I8: a message is delivered in a view that it was sent in. The promise of a reliable topic, as the guarantees state it, is
// weaker than that of a group in one point: an old view lives on, so a receiver may be in a newer one already. But it was
// told that view, is a member of it, and subscribed in it; and to every such subscriber that stays up a message goes whose
// sender stays up. Promised from when the subscription is told of: what came before it could listen, nobody can judge. Two
// that parted when the service changed owe each other nothing from before; that this is told, I1 sees to.
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
            : "no view that it was told and is a member of";
        Violate(delivered.At, $"{delivered.Subscription} was given {message}, which was sent in {Names(run.Views)}: {what}.");
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
                    Violate(Last, $"{listener.Subscription} is in {view}, and never got it.");
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
