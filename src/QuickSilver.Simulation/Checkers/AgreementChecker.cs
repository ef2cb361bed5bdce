using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I11: what one of those who still live was given of a sender that is gone, all are given that listened in the same view and live:
// while one of those who keep a packet lives, nothing is lost that was delivered. Each packet is kept by as many members of its
// view as the view has replicas, or more; so nothing is demanded of a view of which as many are gone, the sender among them.
// Nor where nodes may lose each other and live, as when the membership service changes: then nobody can say who owes what.
internal sealed class AgreementChecker : DeliveryChecker
{
    private readonly HashSet<NodeKey> _stopped = [];

    public override string Invariant => "I11";

    public bool MayPart { get; init; }

    public override void OnStopped(TimeSpan at, int node, NodeKey life)
    {
        base.OnStopped(at, node, life);
        _stopped.Add(life);
    }

    public override void OnEnd()
    {
        foreach (var log in Logs)
        {
            foreach (var run in log.HasStopped && !MayPart && !IsBestEffort(log.Topic) ? log.Runs : [])
            {
                foreach (var view in run.Views)
                {
                    if (view.Members.Count(_stopped.Contains) < view.Repair.Replicas)
                    {
                        Check(log, run, view);
                    }
                }
            }
        }
    }

    private void Check(SenderLog log, Run run, RegionView view)
    {
        var listeners = Open.Where(listener => listener.Subscription.Topic == log.Topic
            && view.Configuration >= listener.Configuration && IsMember(listener.Life, view)).ToList();
        var since = listeners.ConvertAll(listener => run.FirstSince(listener.Since));
        for (long number = run.First; listeners.Count > 1 && number <= run.Last; number++)
        {
            Listener? given = null;
            Listener? lacking = null;
            for (int i = 0; i < listeners.Count; i++)
            {
                if (since[i] <= number)
                {
                    bool has = listeners[i].Of(log.Sender).FirstMissing(number) > number;
                    (given, lacking) = has ? (listeners[i], lacking) : (given, listeners[i]);
                }
            }

            if (given is not null && lacking is not null)
            {
                var message = new MessageId(log.Sender, log.Topic, number);
                string others = $"as {given.Subscription} was: both live and were in view {Name(view)}, and its sender is gone";
                Violate(Last, $"{lacking.Subscription} was never given {message}, {others}.");
                return;
            }
        }
    }
}
