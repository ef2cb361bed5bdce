using QuickSilver.Multicast;

namespace QuickSilver.Simulation.Tests.Clusters;

// Rights in a cluster of whole nodes: one that asks honestly is refused, and no node takes what one that lies sends.
public sealed class TopicRightsTests
{
    private const string Topic = "prices/eur";

    private readonly Rights _rights = new();

    [Fact]
    public void A_node_without_the_right_to_publish_is_refused_with_its_identity_and_the_topic()
    {
        using var cluster = Start(seed: 1);
        var reading = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenSubscriberAsync<string>(Topic));
        var denied = Assert.Throws<TopicAccessDeniedException>(
            () => cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenPublisherAsync<string>(Topic)));
        Assert.Equal((Topic, "reader"), (denied.Topic, denied.Identity));
        Assert.StartsWith("'reader' may not publish in the topic 'prices/eur', by the rules of the program (Rights).", denied.Message);

        // What it has open stays open.
        Assert.Equal(["a"], Exchange(cluster, reading, publisher: 0, "a"));
    }

    [Fact]
    public void Messages_of_a_member_without_the_right_are_dropped_and_delay_no_other()
    {
        foreach (ulong seed in new ulong[] { 1, 2, 3 })
        {
            _rights.LetsLiarsIn = false;
            using var cluster = Start(seed);
            var reading = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenSubscriberAsync<string>(Topic));
            var got = Collect(reading);
            // The service lets it in from here on, so it has all that it needs to publish. But subscribers know who may.
            _rights.LetsLiarsIn = true;
            var lying = cluster.RunUntilCompleted(cluster.Nodes[2].Node.OpenTopicAsync<string>(Topic));
            var publishing = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>(Topic));
            cluster.RunUntilCompleted(lying.WaitForSubscribersAsync(2));
            cluster.RunUntilCompleted(publishing.WaitForSubscribersAsync(2));
            for (int i = 0; i < 50; i++)
            {
                cluster.RunUntilCompleted(lying.PublishAsync($"forged {i}", PublishCompletion.Stable));
                cluster.RunUntilCompleted(publishing.PublishAsync($"{i}", PublishCompletion.Stable));
            }

            cluster.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(Enumerable.Range(0, 50).Select(static i => $"{i}"), got);
            Assert.Equal(50, MulticastOf(cluster.Nodes[1]).Counters.MessagesWithoutRight);
            Assert.Equal(0, MulticastOf(cluster.Nodes[1]).Counters.GapNotices);
        }
    }

    [Fact]
    public void A_publisher_that_joins_later_loses_nothing_to_the_rules()
    {
        foreach (ulong seed in Enumerable.Range(1, 10).Select(static one => (ulong)one))
        {
            using var cluster = Start(seed, later: 2, identity: "pricer 2");
            var reading = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenSubscriberAsync<string>(Topic));
            var got = Collect(reading);
            cluster.Nodes[2].Start();
            cluster.Eventually("joined", () => cluster.Nodes[2].IsJoined, TimeSpan.FromSeconds(10));
            var late = cluster.RunUntilCompleted(cluster.Nodes[2].Node.OpenPublisherAsync<string>(Topic));
            cluster.RunUntilCompleted(late.WaitForSubscribersAsync(1));
            for (int i = 0; i < 20; i++)
            {
                cluster.RunUntilCompleted(late.PublishAsync($"{i}"));
            }

            cluster.Run(TimeSpan.FromSeconds(2));
            Assert.Equal(Enumerable.Range(0, 20).Select(static i => $"{i}"), got);
            Assert.Equal(0, MulticastOf(cluster.Nodes[1]).Counters.MessagesWithoutRight);
        }
    }

    // Its own service names who may publish of those that are in its cluster, and the publisher is in another one meanwhile.
    [Fact]
    public void A_subscriber_that_was_alone_under_a_service_of_its_own_gets_a_report_of_what_it_missed()
    {
        foreach (ulong seed in new ulong[] { 1, 2, 3 })
        {
            using var cluster = Start(seed, identity: "pricer 2", placement: MembershipPlacement.Embedded);
            var reading = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenSubscriberAsync<string>(Topic));
            var got = new List<string>();
            var gaps = new List<GapNotice>();
            reading.SubscribeInline((in message) => got.Add(message.Value), gaps.Add);
            var publishing = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>(Topic));
            cluster.RunUntilCompleted(publishing.WaitForSubscribersAsync(1));
            Publish("together");

            cluster.Network.Partition([1], [0, 2]);
            AwaitMembers(node: 1, 1);
            AwaitMembers(node: 0, 2);
            Publish("apart");
            cluster.Network.Heal();
            AwaitMembers(node: 1, 3);
            AwaitMembers(node: 0, 3);
            cluster.RunUntilCompleted(publishing.WaitForSubscribersAsync(1));
            Publish("together again");

            Assert.Equal(["together", "together again"], got);
            Assert.Equal((2, 2), (Assert.Single(gaps).First, gaps[0].Last));
            Assert.Equal(0, MulticastOf(cluster.Nodes[1]).Counters.MessagesWithoutRight);

            void AwaitMembers(int node, int members) => cluster.Eventually(
                $"{members} members at {node}", () => cluster.Nodes[node].Node.Status.Members == members, TimeSpan.FromSeconds(60));

            void Publish(string message)
            {
                cluster.RunUntilCompleted(publishing.PublishAsync(message));
                cluster.Run(TimeSpan.FromSeconds(1));
            }
        }
    }

    [Fact]
    public void A_right_that_is_denied_denies_nothing_that_is_asked_for_at_the_same_time()
    {
        using var cluster = Start(seed: 1);
        var node = cluster.Nodes[1].Node;
        var denied = node.OpenPublisherAsync<string>(Topic);
        var reading = node.OpenSubscriberAsync<string>(Topic);
        var deniedAsWell = node.OpenPublisherAsync<string>(Topic);
        Assert.Throws<TopicAccessDeniedException>(() => cluster.RunUntilCompleted(denied));
        Assert.Throws<TopicAccessDeniedException>(() => cluster.RunUntilCompleted(deniedAsWell));
        Assert.Equal(["a"], Exchange(cluster, cluster.RunUntilCompleted(reading), publisher: 0, "a"));
    }

    private static MulticastNode MulticastOf(SimulatedNode node) => (MulticastNode)node.Life!.Parts.Multicast;

    private static List<string> Collect(ITopicSubscriber<string> reading)
    {
        var got = new List<string>();
        reading.SubscribeInline((in Message<string> message) => got.Add(message.Value));
        return got;
    }

    private static List<string> Exchange(SimulatedCluster cluster, ITopicSubscriber<string> reading, int publisher, string message)
    {
        var got = Collect(reading);
        var publishing = cluster.RunUntilCompleted(cluster.Nodes[publisher].Node.OpenPublisherAsync<string>(Topic));
        cluster.RunUntilCompleted(publishing.WaitForSubscribersAsync(1));
        cluster.RunUntilCompleted(publishing.PublishAsync(message, PublishCompletion.Stable));
        cluster.Run(TimeSpan.FromSeconds(1));
        return got;
    }

    private SimulatedCluster Start(
        ulong seed, int? later = null, string identity = "liar", MembershipPlacement placement = MembershipPlacement.Dedicated)
    {
        var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 3,
            Seed = seed,
            Membership = placement,
            NodeOptions = new QuickSilverOptions { Membership = { Hosted = { Rights = _rights } } },
        });
        string[] identities = ["pricer", "reader", identity];
        foreach (var node in cluster.Nodes)
        {
            node.Identity = identities[node.Number];
            if (node.Number != later)
            {
                node.Start();
            }
        }

        cluster.Eventually(
            "joined", () => cluster.Nodes.All(node => node.IsJoined || node.Number == later), TimeSpan.FromSeconds(10));
        return cluster;
    }

    private sealed class Rights : ITopicRights
    {
        public bool LetsLiarsIn { get; set; }

        public bool MayPublish(string identity, string topic) =>
            identity.StartsWith("pricer", StringComparison.Ordinal) || (identity == "liar" && LetsLiarsIn);

        public bool MaySubscribe(string identity, string topic) => true;
    }
}
