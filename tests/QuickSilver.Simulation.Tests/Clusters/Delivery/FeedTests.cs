using QuickSilver.Multicast;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// Feeds of whole nodes: what is reported to them as stable, while packets are lost, members come and go, and windows are closed. Node 0
// feeds the topic "t", and the others subscribe.
public sealed class FeedTests
{
    private const int Bytes = 1000;
    private const int MessagesInPacket = 2;
    private const int RunPackets = (64 << 10) / 1472;
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // The last number that each node got.
    private readonly long[] _got = new long[6];

    [Theory]
    [InlineData(0, false)]
    [InlineData(0.02, false)]
    [InlineData(0.02, true)]
    public void Messages_reported_as_stable_are_at_all_subscribers_and_add_up_to_all_that_were_given(double loss, bool severalRegions)
    {
        using var cluster = Start(4, loss, severalRegions);
        var feed = new NumberedFeed(20_000, Bytes);
        feed.OnTold = through => Assert.All(_got[1..4], last => Assert.True(last >= through));
        var topic = Open(cluster, 3);
        using var attached = topic.AttachFeed(feed);

        cluster.Eventually("all is stable", () => feed.Stable == 20_000, Second * 60);

        Assert.InRange(feed.Marks, 10, 20_000);
        Assert.Empty(feed.Ends);
        attached.Dispose();
        cluster.Run(Second / 100);
        Assert.Equal([null], feed.Ends);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Nothing_that_a_silent_subscriber_lacks_is_stable_until_it_was_removed(bool severalRegions)
    {
        using var cluster = Start(4, loss: 0, severalRegions);
        var feed = new NumberedFeed(long.MaxValue, Bytes);
        var topic = Open(cluster, 3);
        topic.AttachFeed(feed);
        cluster.Eventually("it flows", () => feed.Stable > 1000);
        cluster.Nodes[3].Crash(silently: true);
        long held = _got[3];
        bool wasRemoved = false;
        feed.OnTold = through =>
        {
            wasRemoved |= topic.Subscribers < 3;
            Assert.True(wasRemoved || through <= held);
            Assert.All(_got[1..3], last => Assert.True(last >= through));
        };

        cluster.Eventually("it continues", () => feed.Stable > held + 1000, Second * 30);
        Assert.True(wasRemoved);
    }

    [Fact]
    public void Marks_stay_in_order_while_subscribers_come_and_leave()
    {
        using var cluster = Start(3, loss: 0.01, severalRegions: false, nodes: 6);
        var feed = new NumberedFeed(long.MaxValue, Bytes);
        feed.OnTold = through => Assert.All(_got[1..3], last => Assert.True(last >= through));
        var topic = Open(cluster, 2);
        using var attached = topic.AttachFeed(feed);
        for (int round = 0; round < 5; round++)
        {
            var others = Enumerable.Range(3, 3).Select(i => Subscribe(cluster, i, "t")).ToArray();
            cluster.Eventually("they get it", () => _got[3..].All(last => last > feed.Stable - 1000 && last > 0));
            foreach (var other in others)
            {
                cluster.RunUntilCompleted(other.DisposeAsync());
            }

            _got.AsSpan(3).Clear();
        }

        long given = feed.Given;
        cluster.Eventually("all is stable", () => feed.Stable >= given);
    }

    [Fact]
    public void Best_effort_messages_count_as_stable_when_they_have_left()
    {
        using var cluster = Start(2, loss: 0.05, severalRegions: false, guarantee: Guarantee.BestEffort);
        var feed = new NumberedFeed(20_000, Bytes);
        var topic = Open(cluster, 1, Guarantee.BestEffort);
        var sender = (MulticastNode)cluster.Nodes[0].Life!.Parts.Multicast;
        feed.OnTold = through =>
        {
            long packets = sender.Streams.Single(stream => !stream.IsReliable).Through.Sent;
            Assert.InRange(through, 1, packets * MessagesInPacket);
        };
        topic.AttachFeed(feed);
        cluster.Eventually("all has left", () => feed.Stable == 20_000, Second * 60);
        Assert.InRange(feed.Marks, 10, 20_000);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void While_the_window_is_closed_a_feed_is_asked_for_one_run_for_each_region_and_no_more(bool severalRegions)
    {
        using var cluster = Start(4, loss: 0, severalRegions);
        var feed = new NumberedFeed(long.MaxValue, Bytes);
        var topic = Open(cluster, 3);
        var sender = (MulticastNode)cluster.Nodes[0].Life!.Parts.Multicast;
        // The last message of a run may end in one packet more.
        cluster.Always("at most a run is packed and not sent", () => sender.Streams.All(
            stream => stream.Last - stream.Through.Sent <= RunPackets + 1));
        topic.AttachFeed(feed);
        cluster.Eventually("it flows", () => feed.Stable > 1000);
        // For less than the time after which its neighbors report it.
        cluster.Nodes[3].Pause();
        cluster.Run(Second / 4);
        long given = feed.Given;
        cluster.Run(Second / 4);
        Assert.Equal(given, feed.Given);

        // What was given and is not stable was sent, or is in one run; and one message was kept.
        long sent = sender.Streams.Max(stream => stream.Through.Sent - stream.Acknowledged);
        Assert.InRange(feed.Given - feed.Stable, 1, ((sent + RunPackets + 1) * MessagesInPacket) + 1);
        cluster.Nodes[3].Resume();
        cluster.Eventually("it continues", () => feed.Stable > given);
    }

    [Theory]
    [InlineData(1, 1000)]
    [InlineData(10, 100)]
    [InlineData(13 * 7, 11)]
    [InlineData(1000, 1)]
    public void A_thousand_feeds_share_a_region_within_five_percent(int topics, int feedsEach)
    {
        const int bytes = 1000;
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 2, Seed = 5, TopicDelay = TimeSpan.Zero });
        cluster.Start();
        var feeds = new List<NumberedFeed>();
        var publishers = new List<ITopicPublisher<ReadOnlyMemory<byte>>>();
        for (int i = 0; i < topics; i++)
        {
            string name = $"t{i}";
            publishers.Add(cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<ReadOnlyMemory<byte>>(name)));
            Subscribe(cluster, 1, name);
        }

        publishers.ForEach(one => cluster.RunUntilCompleted(one.WaitForSubscribersAsync(1)));
        foreach (var publisher in publishers)
        {
            for (int i = 0; i < feedsEach; i++)
            {
                feeds.Add(new NumberedFeed(long.MaxValue, bytes));
                publisher.AttachFeed(feeds[^1]);
            }
        }

        // The first was alone, and filled a run.
        cluster.Eventually("all had a turn", () => feeds.All(feed => feed.Given > 0));
        long[] before = [.. feeds.Select(feed => feed.Given)];
        // A turn is some messages, so a share is known to within a few percent after some tens of turns.
        cluster.Eventually("they had many", () => feeds.Sum(feed => feed.Given) - before.Sum() > feeds.Count * 150, Second * 60);

        long[] given = [.. feeds.Select((feed, i) => feed.Given - before[i])];
        Assert.InRange(given.Min(), 0.95 * given.Average(), given.Average());
        Assert.InRange(given.Max(), given.Average(), 1.05 * given.Average());
    }

    private SimulatedCluster Start(
        int subscribedBefore, double loss, bool severalRegions, int? nodes = null, Guarantee guarantee = Guarantee.Reliable)
    {
        var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = nodes ?? subscribedBefore,
            Seed = 3,
            Link = new LinkModel { Loss = loss, BytesPerSecond = 30_000_000, QueueLimit = Second },
            NodeOptions = new QuickSilverOptions { Membership = { Hosted = { HeartbeatInterval = TimeSpan.FromMilliseconds(500) } } },
        });
        cluster.Start();
        for (int i = 1; i < subscribedBefore; i++)
        {
            Subscribe(cluster, i, "t", guarantee);
            if (severalRegions)
            {
                Subscribe(cluster, i, $"its own {i}", guarantee);
            }
        }

        return cluster;
    }

    private ITopicSubscriber<ReadOnlyMemory<byte>> Subscribe(
        SimulatedCluster cluster, int number, string topic, Guarantee guarantee = Guarantee.Reliable)
    {
        var options = new TopicOptions { Guarantee = guarantee };
        var opening = cluster.Nodes[number].Node.OpenSubscriberAsync<ReadOnlyMemory<byte>>(topic, options);
        var subscriber = cluster.RunUntilCompleted(opening);
        subscriber.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) => _got[number] = NumberedFeed.NumberOf(message));
        return subscriber;
    }

    private static ITopicPublisher<ReadOnlyMemory<byte>> Open(
        SimulatedCluster cluster, int subscribers, Guarantee guarantee = Guarantee.Reliable)
    {
        var opening = cluster.Nodes[0].Node.OpenPublisherAsync<ReadOnlyMemory<byte>>("t", new TopicOptions { Guarantee = guarantee });
        var topic = cluster.RunUntilCompleted(opening);
        cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(subscribers));
        return topic;
    }
}
