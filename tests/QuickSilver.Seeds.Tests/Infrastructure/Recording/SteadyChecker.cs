using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests.Infrastructure.Recording;

// I22 for streams that never end: a subscription that has received from a sender that stays continues to receive from it. Unlike the
// progress of messages, this needs no view of both: a sender that no longer sends to a region whose members are there is found too.
/// <param name="isSteady">Whether a topic has such a stream of this sender.</param>
/// <param name="bound">The longest pause.</param>
internal sealed class SteadyChecker(Func<ulong, bool> isSteady, TimeSpan bound) : HistoryChecker
{
    private readonly Dictionary<(Subscription Subscription, NodeKey Sender), TimeSpan> _last = [];
    // These still take what comes until their node has left the topic's view, and are owed nothing.
    private readonly HashSet<Subscription> _closed = [];

    public override string Invariant => "I22";

    public override void On(in Delivered delivered)
    {
        if (isSteady(delivered.Message.Topic) && !_closed.Contains(delivered.Subscription))
        {
            _last[(delivered.Subscription, delivered.Message.Sender)] = delivered.At;
        }
    }

    public override void OnUnsubscribed(TimeSpan at, Subscription subscription)
    {
        _closed.Add(subscription);
        Forget(key => key.Subscription == subscription);
    }

    public override void OnStopped(TimeSpan at, int node, NodeKey life) =>
        Forget(key => key.Sender == life || key.Subscription.Node == node);

    public override void OnLook(TimeSpan at)
    {
        foreach (var ((subscription, sender), last) in _last)
        {
            if (at - last > bound)
            {
                string what = $"{subscription} has received nothing of {sender} in topic {subscription.Topic:x16} since {last:c}";
                Violate(at, $"{what}; the bound is {bound.TotalSeconds:F1} s.");
            }
        }
    }

    private void Forget(Predicate<(Subscription Subscription, NodeKey Sender)> isOver)
    {
        foreach (var key in _last.Keys.Where(key => isOver(key)).ToArray())
        {
            _last.Remove(key);
        }
    }
}
