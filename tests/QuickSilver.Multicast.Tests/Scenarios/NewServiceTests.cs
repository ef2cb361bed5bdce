using System.Collections.Immutable;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios;

// A membership service that begins again reports to each node all it knows, and knows of each what it has registered so far
// (F14; I1, I17, I19).
public sealed class NewServiceTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_sender_has_no_room_until_the_new_service_knows_that_its_node_publishes(bool knowsTopic)
    {
        var cluster = new MulticastCluster(seed: 1, nodes: 2);
        var (publisher, subscriber) = (cluster[0], cluster[1]);
        publisher.Publishes(1);
        subscriber.Subscribes(1);
        cluster.Commit();
        publisher.PublishAll(1, 3, 100);
        Assert.True(cluster.RunUntil(() => subscriber.Log.Count == 3));

        var view = new TopicView
        {
            TopicId = 1,
            Configuration = 100,
            Regions = [],
            Subscribed = false,
            Routed = false,
            Subscribers = 1,
        };
        Tell(cluster, publisher, number: 100, isSnapshot: true, knowsTopic ? [view] : []);
        publisher.OnCore(() => Assert.False(publisher.Publish(1, 100)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        Assert.Equal(1, publisher.Refused);

        Tell(cluster, publisher, number: 101, isSnapshot: false, [view with { Configuration = 101, Routed = true }]);
        Assert.True(((TopicSender)publisher.Sender(1)).HasRoom);
    }

    // A message that one region does not get would be lost there without a notice.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_topic_whose_view_names_a_region_that_is_not_known_waits_until_it_is(bool goesToOthers)
    {
        var cluster = new MulticastCluster(seed: 1, nodes: 2);
        var (publisher, subscriber) = (cluster[0], cluster[1]);
        publisher.Publishes(1);
        subscriber.Subscribes(1);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var told = publisher.Multicast.ViewOf(1)!;
        var view = told with { Configuration = 100, Regions = goesToOthers ? told.Regions.Add(0x77) : [0x77] };

        Tell(cluster, publisher, number: 100, isSnapshot: false, [view]);
        publisher.PublishAll(1, 3, 100);
        Assert.True(cluster.RunUntil(() => publisher.Multicast.Trouble is not null, seconds: 10));
        Assert.Empty(subscriber.Log);
        Assert.Contains(
            "The publisher of topic 1 waits for the membership service to say who is in region 77", publisher.Multicast.Trouble);

        var region = publisher.Multicast.RegionOf(told.Regions[0])! with { RegionId = 0x77, Configuration = 101, Group = null };
        Tell(cluster, subscriber, number: 101, isSnapshot: false, [], region);
        Tell(cluster, publisher, number: 101, isSnapshot: false, [], region);
        Assert.True(cluster.RunUntil(() => subscriber.Log.Count == 3, seconds: 10));
        Assert.True(cluster.RunUntil(() => publisher.Multicast.Trouble is null, seconds: 10));
    }

    // The service ends while it announces a view: the publisher has it, a subscriber in it does not. The next service admits them as nodes
    // that did not go through the same views.
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void Messages_of_a_view_that_a_subscriber_never_got_are_a_gap_there(int views)
    {
        var cluster = new MulticastCluster(seed: 1, nodes: 3);
        var (publisher, told, untold) = (cluster[0], cluster[1], cluster[2]);
        publisher.Publishes(1);
        told.Subscribes(1);
        untold.Subscribes(1);
        cluster.Commit();
        var topic = publisher.Multicast.ViewOf(1)!;
        var region = publisher.Multicast.RegionOf(topic.Regions[0])! with { Group = null };
        long number = 100;
        for (; number < 100 + views; number++)
        {
            region = region with { RegionId = (ulong)number, Configuration = number };
            topic = topic with { Configuration = number, Regions = [region.RegionId] };
            Tell(cluster, publisher, number, isSnapshot: false, [topic], region);
            Tell(cluster, told, number, isSnapshot: false, [topic with { Subscribed = true, Routed = false }], region);
            publisher.PublishAll(1, 3, 100);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        }

        Assert.Equal(3 * views, told.Log.Count);
        Assert.Empty(untold.Log);

        region = region with { RegionId = 0x77, Configuration = 200 };
        topic = topic with { Configuration = 200, Regions = [0x77] };
        Origin OriginOf(Host host) => new(1, host == untold ? 1 : number - 1);
        foreach (var host in cluster.Hosts)
        {
            var view = topic with { Subscribed = host != publisher, Routed = host == publisher };
            Tell(cluster, host, number: 200, isSnapshot: true, [view], OriginOf, region);
        }

        publisher.PublishAll(1, 2, 100);
        Assert.True(cluster.RunUntil(() => untold.Log.Count == 2, seconds: 10));
        var gap = Assert.Single(untold.Gaps);
        Assert.Equal((1, 3 * views, TopicGapReason.SentElsewhere), (gap.First, gap.Last, gap.Reason));
        Assert.True(cluster.RunUntil(() => told.Log.Count == (3 * views) + 2, seconds: 10));
        Assert.Empty(told.Gaps);
    }

    private static void Tell(
        MulticastCluster cluster,
        Host host,
        long number,
        bool isSnapshot,
        ImmutableArray<TopicView> topics,
        params ImmutableArray<RegionView> regions) =>
        Tell(cluster, host, number, isSnapshot, topics, originOf: null, regions);

    private static void Tell(
        MulticastCluster cluster,
        Host host,
        long number,
        bool isSnapshot,
        ImmutableArray<TopicView> topics,
        Func<Host, Origin>? originOf,
        params ImmutableArray<RegionView> regions)
    {
        var nodes = cluster.Hosts.Select(other => new NodeInfo(
            other.Key,
            other.Membership.EndPoint,
            other.Membership.JoinOrder,
            AdmittedAt: originOf is null ? 0 : number,
            Origin: originOf?.Invoke(other) ?? default));
        host.OnCore(() => ((IMembershipObserver)host.Multicast).OnConfiguration(new ConfigurationChange
        {
            Number = number,
            IsSnapshot = isSnapshot,
            Joined = isSnapshot ? [.. nodes] : [],
            Removed = [],
            Regions = regions,
            Topics = topics,
        }));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
    }
}
