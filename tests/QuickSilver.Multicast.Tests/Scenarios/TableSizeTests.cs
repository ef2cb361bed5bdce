using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Multicast.Views;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Multicast.Tests.Scenarios;

// What a node remembers of what is over: for as long as a node may ask, and no longer.
public sealed class TableSizeTests
{
    [Fact]
    public void Closed_views_are_remembered_while_a_node_may_ask_and_then_forgotten()
    {
        var cluster = new MulticastCluster(1, nodes: 3);
        cluster[0].Publishes(1);
        cluster[1].Subscribes(1);
        cluster.Commit();
        for (ulong topic = 2; topic < 52; topic++)
        {
            cluster[1].Subscribes(topic);
            cluster.Commit();
            cluster[1].Unsubscribes(topic);
            cluster.Commit();
        }

        Assert.True(cluster.RunUntil(() => cluster[1].Multicast.Regions.Count == 1));
        Assert.InRange(cluster[1].Multicast.RememberedViews, 50, 101);
        cluster.Simulation.Run(ClosedViews.Age + TimeSpan.FromSeconds(10));
        Assert.Equal(0, cluster[1].Multicast.RememberedViews);
    }

    [Fact]
    public void A_view_stays_closed_for_as_long_as_it_is_remembered_and_takes_older_ones_with_it()
    {
        var machines = new SimulatedMachines(1);
        var closed = new ClosedViews(machines.AddNode().Environment);
        closed.Add(7, 3);
        machines.Run(TimeSpan.FromSeconds(1));
        closed.Add(7, 5);
        Assert.True(closed.Contains(7, 4));
        Assert.False(closed.Contains(7, 6));
        Assert.False(closed.Contains(8, 1));
        machines.Run(ClosedViews.Age - TimeSpan.FromSeconds(0.5));
        Assert.Equal((1, true), (closed.Count, closed.Contains(7, 3)));
        machines.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((0, false), (closed.Count, closed.Contains(7, 3)));
    }

    [Fact]
    public void However_many_views_are_closed_at_once_the_oldest_are_forgotten_first()
    {
        var closed = new ClosedViews(new SimulatedMachines(1).AddNode().Environment);
        for (ulong region = 1; region <= ClosedViews.Most + 10; region++)
        {
            closed.Add(region, 1);
        }

        Assert.Equal(ClosedViews.Most, closed.Count);
        Assert.False(closed.Contains(10, 1));
        Assert.True(closed.Contains(11, 1));
    }

    [Fact]
    public void A_view_in_use_remembers_the_departed_nodes_that_others_may_still_report()
    {
        var member = new LoneMember(members: 3, rank: 1);
        member.Remove(member.Keys[2]);
        for (ulong i = 0; i < 5_000; i++)
        {
            member.Environment.Pass(TimeSpan.FromMilliseconds(100));
            member.Region.OnNodeGone(new LostNode(new NodeKey(1_000 + i, 1), Since: 1), configuration: null);
        }

        Assert.InRange(member.Region.Departed, 50, 1_100);
        Assert.True(member.Region.IsGone(new NodeKey(5_999, 1)));
        Assert.True(member.Region.IsGone(member.Keys[2]));
    }

    [Fact]
    public void Topics_that_were_opened_and_never_published_leave_nothing()
    {
        var cluster = new MulticastCluster(2, nodes: 2);
        for (ulong topic = 1; topic <= 100; topic++)
        {
            cluster[0].Publishes(topic);
        }

        cluster.Commit();
        for (ulong topic = 1; topic <= 100; topic++)
        {
            ulong closing = topic;
            cluster[0].OnCore(() => cluster[0].StopsPublishing(closing));
        }

        Settle(cluster);
        Assert.Equal((0, 0), cluster[0].Multicast.NumberedTopics);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_topic_that_is_closed_leaves_its_next_number_and_continues_with_it(bool reliable)
    {
        var cluster = new MulticastCluster(3, nodes: 2);
        cluster[0].Publishes(1, reliable);
        cluster[1].Subscribes(1, reliable);
        cluster.Commit();
        cluster[0].PublishAll(1, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 10));
        cluster[0].OnCore(() => cluster[0].StopsPublishing(1));
        Settle(cluster);
        Assert.Equal((0, 1), cluster[0].Multicast.NumberedTopics);

        cluster[0].Publishes(1, reliable);
        cluster.Commit();
        Assert.Equal((1, 0), cluster[0].Multicast.NumberedTopics);
        cluster[0].PublishAll(1, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 20));
        Assert.Empty(cluster[1].Gaps);
        MulticastCluster.AssertRun(cluster[1], cluster[0], 1, 1, 20);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_inbox_leaves_no_number_when_its_node_is_gone(bool goneFirst)
    {
        const int Nodes = 12;
        var cluster = new MulticastCluster(4, nodes: Nodes);
        long last = 0;
        for (int i = 1; i < Nodes; i++)
        {
            var requester = cluster[i];
            ulong inbox = TopicId.Of(InboxName.Of(requester.Key.ToString()));
            cluster.Inboxes.Add(inbox);
            cluster.Service.Pinned.Add(inbox);
            requester.Subscribes(inbox);
            cluster[0].Publishes(inbox);
            cluster.Commit();
            cluster[0].PublishAll(inbox, 3, 100);
            Assert.True(cluster.RunUntil(() => requester.Log.Count == 3));
            Assert.Empty(requester.Gaps);
            // A subscriber that is taken back takes no number for one that it has had.
            Assert.True(requester.Log[0].Sequence > last || i == 1);
            last = requester.Log[2].Sequence;

            if (goneFirst)
            {
                Remove(cluster, requester);
                cluster[0].OnCore(() => cluster[0].StopsPublishing(inbox));
                Settle(cluster);
            }
            else
            {
                cluster[0].OnCore(() => cluster[0].StopsPublishing(inbox));
                Settle(cluster);
                Assert.Equal((0, 1), cluster[0].Multicast.NumberedTopics);
                Remove(cluster, requester);
            }

            Assert.Equal((0, 0), cluster[0].Multicast.NumberedTopics);
        }

        static void Remove(MulticastCluster cluster, Host node)
        {
            node.Node.Crash();
            cluster.Service.Remove(node.Key);
            cluster.Commit();
        }
    }

    [Fact]
    public void A_topic_that_is_closed_and_opened_at_once_keeps_what_its_views_still_need()
    {
        var cluster = new MulticastCluster(4, nodes: 3);
        cluster[0].Publishes(1);
        cluster[1].Subscribes(1);
        cluster.Commit();
        cluster[0].PublishAll(1, 10, 100);
        cluster[0].OnCore(() => cluster[0].StopsPublishing(1));
        cluster.Simulation.Run(TimeSpan.FromTicks(1));
        cluster[2].Subscribes(1);
        cluster[0].Publishes(1);
        cluster.Commit();
        cluster[0].PublishAll(1, 10, 100);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 20 && cluster[2].Log.Count == 10));
        MulticastCluster.AssertRun(cluster[1], cluster[0], 1, 1, 20);
        MulticastCluster.AssertRun(cluster[2], cluster[0], 1, 11, 20);
    }

    // A change that has nothing to do with the topics, confirmed by all.
    private static void Settle(MulticastCluster cluster)
    {
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        for (int i = 0; i < 3; i++)
        {
            cluster.Commit();
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        }
    }
}
