using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Seeds.Tests.Stops;

// Passes what the programs of a run see to its history.
internal sealed class StopHistory(History history, Func<TimeSpan> now)
{
    private long _subscriptions;

    public Subscription Subscribe(int node, string topic)
    {
        var subscription = new Subscription(++_subscriptions, node, TopicId.Of(topic));
        history.Subscribed(now(), subscription);
        return subscription;
    }

    public void BeginEnd(Subscription subscription) => history.Unsubscribed(now(), subscription);

    public void End(Subscription subscription, long unhandled, long told, bool isAtOnce) =>
        history.Ended(new SubscriberEnded(now(), subscription, unhandled, told) { IsAtOnce = isAtOnce });

    public void Count(int node, NodeCounters counters) =>
        history.Counted(new UnhandledCounted(now(), node, counters.Unhandled + counters.ReaderDrops));

    public void Handled(Subscription subscription, NodeId sender, long number) =>
        history.Delivered(now(), subscription, new MessageId(KeyOf(sender), subscription.Topic, number), 0);

    public void Gap(Subscription subscription, in GapNotice gap) =>
        history.Gap(now(), subscription, KeyOf(gap.Sender), gap.First, gap.Last);

    public void Stable(NodeId sender, string topic, long number) =>
        history.Stable(now(), new MessageId(KeyOf(sender), TopicId.Of(topic), number));

    public void End(NodeId sender, string topic, long accepted, NodeCounters counters) =>
        history.Ended(new PublisherEnded(now(), KeyOf(sender), TopicId.Of(topic))
        {
            Accepted = accepted,
            Sent = counters.Published,
            Dropped = counters.PublishDrops,
            Unacknowledged = counters.Unacknowledged,
        });

    private static NodeKey KeyOf(NodeId node) => new(node.Id, node.Incarnation);
}
