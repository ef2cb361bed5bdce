using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios;

// A membership service that begins anew tells each node all it knows, and knows of each what it has registered so far
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

    // A message that one region does not get would be lost there without a word.
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

    private static void Tell(
        MulticastCluster cluster,
        Host host,
        long number,
        bool isSnapshot,
        ImmutableArray<TopicView> topics,
        params ImmutableArray<RegionView> regions)
    {
        var nodes = cluster.Hosts.Select(other => new NodeInfo(other.Key, other.Membership.EndPoint, other.Membership.JoinOrder));
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
