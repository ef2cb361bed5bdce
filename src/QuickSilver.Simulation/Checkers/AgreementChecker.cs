using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I11: if one live subscriber received a message of a sender that is gone, all live subscribers that were in the same view receive it. As
// long as one keeper of a packet lives, nothing that was delivered is lost. Each packet is kept by at least as many members of its view as
// the view has replicas, so nothing is required of a view that has lost that many members, including the sender. Nothing is required either
// where nodes may lose each other and stay alive, such as when the membership service changes, because it is not defined then who owes
// what.
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
                string others = $"but {given.Subscription} did: both live and were in view {Name(view)}, and its sender is gone";
                Violate(Last, $"{lacking.Subscription} did not receive {message}, {others}.");
                return;
            }
        }
    }
}
