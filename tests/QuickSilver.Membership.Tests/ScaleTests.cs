using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests;

public sealed class ScaleTests
{
    [Fact]
    public void Three_nodes_that_open_8192_topics_share_one_region_within_a_few_configurations()
    {
        const int Topics = 8192;
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        cluster.Run(1);
        int before = nodes[0].Changes.Count;
        foreach (var node in nodes)
        {
            for (int i = 0; i < Topics; i++)
            {
                node.Open($"topic {i}");
            }
        }

        cluster.World.RunUntil(() => nodes.All(node => node.Outcomes.Count == Topics && node.Topics.Count == Topics), limitSeconds: 1);
        cluster.Run(0.5);
        Assert.Equal(1, cluster.Service.RegionCount);
        Assert.All(nodes, node => Assert.All(node.Topics.Values, view => Assert.Equal(3, view.Subscribers)));
        Assert.InRange(nodes[0].Changes.Count - before, 1, 5);
        // All of it was sent a few times at most: some 40 bytes a topic and node.
        Assert.InRange(cluster.Counters.ConfigurationBytes, 1, 5L * Topics * nodes.Length * 64);

        int settledBefore = nodes[0].Changes.Count;
        Array.ForEach(nodes, node => node.Close("topic 0"));
        cluster.Run(0.5);
        Assert.Equal(settledBefore + 1, nodes[0].Changes.Count);
        Assert.Equal(1, cluster.Service.RegionCount);
        Assert.Equal(0, cluster.Counters.SlowSessionsClosed);
    }

    [Fact]
    public void A_broadcast_is_encoded_once_and_decoded_once()
    {
        var cluster = new FakeCluster();
        var few = JoinAndSubscribe(cluster, 1, 100);
        long writtenForFew = cluster.Counters.ConfigurationBytesWritten;
        long toldToFew = cluster.Counters.ConfigurationBytes;

        var large = new FakeCluster();
        var many = JoinAndSubscribe(large, 1, 400);
        Assert.InRange(large.Counters.ConfigurationBytesWritten, 1, 6 * writtenForFew);
        Assert.InRange(large.Counters.ConfigurationBytes, 12 * toldToFew, long.MaxValue);

        // Nodes that get the same have it from one place, whatever their own parts of it say.
        // A collection in between makes the next node read it again.
        foreach (var nodes in (FakeNode[][])[few, many])
        {
            Assert.InRange(nodes.Select(node => node.Changes[0].Joined).Distinct().Count(), 1, nodes.Length / 10);
            Assert.InRange(nodes.Select(node => node.Changes[^1].Regions).Distinct().Count(), 1, nodes.Length / 10);
            Assert.InRange(nodes.Select(node => node.Changes[^1].Topics).Distinct().Count(), 1, nodes.Length / 10);
        }
    }

    private static FakeNode[] JoinAndSubscribe(FakeCluster cluster, int first, int count)
    {
        var nodes = Enumerable.Range(first, count).Select(id => cluster.AddNode((ulong)id)).ToArray();
        Array.ForEach(nodes, node => node.Subscribe("all"));
        cluster.World.RunUntil(() => nodes.All(node => node.Topics.Count == 1 && node.View("all").Subscribers == count));
        return nodes;
    }

    // Random subscriptions over the wire, with connections that break: everybody ends with the same, right picture.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Churn_with_broken_connections_ends_in_views_that_are_right(ulong seed)
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(8);
        var dice = cluster.World.AddNode(seed);
        var open = nodes.Select(_ => new SortedSet<string>()).ToArray();
        for (int step = 0; step < 300; step++)
        {
            int who = (int)(dice.NextRandom() % 8);
            string topic = $"topic {dice.NextRandom() % 6}";
            if (open[who].Remove(topic))
            {
                nodes[who].Close(topic);
            }
            else
            {
                open[who].Add(topic);
                nodes[who].Subscribe(topic);
            }

            if (dice.NextRandom() % 20 == 0)
            {
                nodes[dice.NextRandom() % 8].Environment.BreakStreams();
            }

            cluster.World.Run(TimeSpan.FromMilliseconds(dice.NextRandom() % 60));
        }

        cluster.Run(3);
        for (int i = 0; i < nodes.Length; i++)
        {
            Assert.Equal(open[i].Count, nodes[i].Topics.Count);
            foreach (string topic in open[i])
            {
                var subscribers = nodes.Where((_, other) => open[other].Contains(topic)).Select(node => node.Key);
                MembershipOracle.CheckTopic(nodes[i].View(topic), region => nodes[i].Regions[region], subscribers);
                Assert.True(nodes[i].View(topic).Subscribed);
            }
        }

        Assert.Equal(0, cluster.Counters.NodesRemoved);
        Assert.True(cluster.Counters.NodesResumed > 5);
        Assert.All(nodes, node => Assert.Equal(cluster.Service.Configuration, node.Settled));
    }
}
