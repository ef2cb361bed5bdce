using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service;

// I7; the ordinary life of a cluster.
public sealed class ServiceTests
{
    [Fact]
    public void Nodes_that_join_learn_of_each_other()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        Assert.All(nodes, node => Assert.Equal(new ulong[] { 1, 2, 3 }, node.Nodes.Keys.Select(key => key.Id).Order()));
        Assert.All(nodes, node => Assert.True(node.Changes[0].IsSnapshot));
        Assert.All(nodes, node => Assert.True(node.Reachable));
        Assert.Equal(3, nodes[0].Nodes.Values.Select(info => info.JoinOrder).Distinct().Count());
    }

    // The paper's figure: topics A, B and C overlap in every way, and each combination is a region.
    [Fact]
    public void Each_overlap_of_topics_A_B_and_C_is_a_region()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(8);
        string[][] sets = [["A"], ["A", "B"], ["B"], ["B", "C"], ["C"], ["A", "C"], ["A", "B", "C"], ["A", "B", "C"]];
        for (int i = 0; i < sets.Length; i++)
        {
            nodes[i].Subscribe(sets[i]);
        }

        cluster.Run(1);
        Assert.Equal(7, cluster.Service.RegionCount);
        Assert.Equal(4, nodes[0].View("A").Regions.Length);
        Assert.Equal(5, nodes[0].View("A").Subscribers);
        Assert.Equal([[1], [2], [6], [7, 8]], Sorted(nodes[0].MembersOf("A")));
        Assert.Equal([[2], [3], [4], [7, 8]], Sorted(nodes[2].MembersOf("B")));
        Assert.Equal([[4], [5], [6], [7, 8]], Sorted(nodes[6].MembersOf("C")));
        Assert.Equal(7, nodes.SelectMany(node => node.Regions.Values).Select(view => view.Group).Distinct().Count());
    }

    [Fact]
    public void A_node_that_only_publishes_is_in_no_region_and_knows_those_it_sends_to()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        nodes[0].Open("A", TopicRole.Publish);
        cluster.Run(0.5);
        Assert.Empty(nodes[0].View("A").Regions);
        Assert.Equal(0, nodes[0].View("A").Subscribers);

        nodes[1].Subscribe("A");
        nodes[2].Subscribe("A", "B");
        cluster.Run(0.5);
        Assert.False(nodes[0].View("A").Subscribed);
        Assert.True(nodes[1].View("A").Subscribed);
        Assert.Equal([[2], [3]], Sorted(nodes[0].MembersOf("A")));
        Assert.DoesNotContain(nodes[0].Regions.Values, view => view.Members.Contains(nodes[0].Key));
    }

    [Fact]
    public void One_batch_is_one_configuration_with_the_same_number_for_all_nodes()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(4);
        cluster.Run(1);
        var before = nodes.Select(node => node.Changes.Count).ToArray();
        nodes[0].Subscribe("A", "B");
        nodes[1].Subscribe("A", "B");
        nodes[2].Open("A", TopicRole.Publish);
        cluster.Run(1);
        for (int i = 0; i < nodes.Length; i++)
        {
            Assert.Equal(before[i] + 1, nodes[i].Changes.Count);
        }

        long number = nodes[0].Changes[^1].Number;
        Assert.All(nodes, node => Assert.Equal(number, node.Changes[^1].Number));
        Assert.Single(nodes[0].View("A").Regions);
        Assert.Equal(number, nodes[2].View("A").Configuration);
        Assert.Empty(nodes[3].Changes[^1].Regions);
        Assert.Empty(nodes[3].Changes[^1].Topics);
    }

    [Fact]
    public void The_first_changes_after_a_quiet_time_go_out_at_once_and_a_stream_of_them_in_batches()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        cluster.Run(1);
        var start = cluster.World.Now;
        node.Subscribe("first");
        cluster.World.RunUntil(() => node.Has("first"));
        Assert.InRange((cluster.World.Now - start).TotalMilliseconds, 10, 15);

        int before = node.Changes.Count;
        for (int i = 0; i < 100; i++)
        {
            node.Subscribe($"topic {i}");
            cluster.Run(0.01);
        }

        Assert.InRange(node.Changes.Count - before, 20, 42);
        before = node.Changes.Count;
        for (int i = 100; i < 200; i++)
        {
            node.Subscribe($"topic {i}");
            cluster.Run(0.01);
        }

        Assert.InRange(node.Changes.Count - before, 8, 12);
        cluster.Run(0.5);
        Assert.Equal(201, node.Topics.Count);
    }

    [Fact]
    public void Topics_that_a_node_opens_one_after_another_take_some_10_ms_each()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        cluster.Run(5);
        var start = cluster.World.Now;
        for (int i = 0; i < 20; i++)
        {
            node.Subscribe($"topic {i}");
            cluster.World.RunUntil(() => node.Has($"topic {i}"));
        }

        Assert.InRange((cluster.World.Now - start).TotalMilliseconds, 200, 400);
    }

    [Fact]
    public void Thousands_of_topics_that_are_opened_at_once_take_few_configurations()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        cluster.Run(5);
        int before = nodes[0].Changes.Count;
        for (int i = 0; i < 3000; i++)
        {
            nodes[i % 3].Subscribe($"topic {i}");
        }

        cluster.World.RunUntil(() => nodes.All(static node => node.Topics.Count == 1000));
        Assert.InRange(nodes[0].Changes.Count - before, 1, 5);
    }

    [Fact]
    public void Members_that_open_topics_together_keep_their_region_and_its_group_under_a_new_view()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Subscribe("A");
        nodes[1].Subscribe("A");
        cluster.Run(1);
        var first = nodes[0].Regions.Values.Single();
        nodes[0].Subscribe("B");
        nodes[1].Subscribe("B");
        cluster.Run(1);
        var second = nodes[0].Regions.Values.Single();
        Assert.Equal(first.RegionId, second.RegionId);
        Assert.Equal(first.Group, second.Group);
        Assert.Equal(first.Number + 1, second.Number);
        Assert.Equal(first.Members.AsEnumerable(), second.Members);
        Assert.Equal([second.RegionId], nodes[1].View("B").Regions.AsEnumerable());
    }

    [Fact]
    public void A_node_that_moves_leaves_a_new_view_behind_and_former_members_are_notified()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        foreach (var node in nodes)
        {
            node.Subscribe("A");
        }

        cluster.Run(1);
        var old = nodes[0].Regions.Values.Single();
        nodes[2].Close("A");
        nodes[2].Subscribe("B");
        cluster.Run(1);
        Assert.Equal([1UL, 2], nodes[0].Regions[old.RegionId].Members.Select(member => member.Id));
        var told = nodes[2].Changes[^1].Regions.Single(view => view.RegionId == old.RegionId);
        Assert.Equal(old.Number + 1, told.Number);
        Assert.DoesNotContain(nodes[2].Key, told.Members);
    }

    [Fact]
    public void A_topic_closed_and_opened_again_in_one_batch_starts_in_a_new_view()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Subscribe("A");
        nodes[1].Subscribe("A");
        cluster.Run(1);
        var old = nodes[0].Regions.Values.Single();
        nodes[1].Close("A");
        nodes[1].Subscribe("A");
        cluster.Run(1);
        var now = nodes[0].Regions.Values.Single();
        Assert.Equal(old.RegionId, now.RegionId);
        Assert.Equal(old.Number + 1, now.Number);
        Assert.Equal(now, nodes[1].Regions[now.RegionId], RegionEquality);
        Assert.Equal(now.Configuration, nodes[1].View("A").Configuration);
    }

    [Fact]
    public void Settled_is_the_lowest_configuration_that_every_live_node_has_confirmed()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        cluster.Run(1);
        nodes[2].Confirms = false;
        long before = nodes[2].Changes[^1].Number;
        nodes[0].Subscribe("A");
        cluster.Run(1);
        long after = nodes[0].Changes[^1].Number;
        Assert.True(after > before);
        Assert.All(nodes, node => Assert.Equal(before, node.Settled));

        nodes[2].Client.Confirm(after, []);
        cluster.Run(0.1);
        Assert.All(nodes, node => Assert.Equal(after, node.Settled));
    }

    [Fact]
    public void Settled_is_announced_at_once_when_the_last_member_confirms_although_one_was_removed_before()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(5);
        cluster.Run(1);
        nodes[3].Confirms = nodes[4].Confirms = false;
        nodes[0].Client.Leave(static () => { });
        cluster.Run(1);
        long after = nodes[1].Changes[^1].Number;
        nodes[4].Client.Confirm(after, []);
        cluster.Run(1);
        Assert.True(nodes[1].Settled < after);

        nodes[3].Client.Confirm(after, []);
        cluster.Run(cluster.Options.SettleInterval.TotalSeconds / 2);
        Assert.All(nodes[1..], node => Assert.Equal(after, node.Settled));
    }

    [Fact]
    public void A_view_that_is_named_as_open_holds_up_no_other()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        cluster.Run(1);
        nodes[1].Confirms = nodes[2].Confirms = false;
        nodes[0].Subscribe("A");
        cluster.Run(1);
        long after = nodes[0].Changes[^1].Number;
        OpenView one = new(7, 1), other = new(3, 9);
        nodes[1].Client.Confirm(after, [one]);
        nodes[2].Client.Confirm(after, [one, other]);
        cluster.Run(0.1);
        Assert.All(nodes, node => Assert.Equal(after, node.Settled));
        Assert.All(nodes, node => Assert.Equal<OpenView>([other, one], node.StillOpen));

        nodes[2].Client.Confirm(after, []);
        cluster.Run(0.1);
        Assert.All(nodes, node => Assert.Equal<OpenView>([one], node.StillOpen));
        nodes[1].Client.Confirm(after, []);
        cluster.Run(0.1);
        Assert.All(nodes, node => Assert.Empty(node.StillOpen));
    }

    [Fact]
    public void The_views_that_a_node_names_go_with_it()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        cluster.Run(1);
        nodes[2].Client.Confirm(nodes[2].Changes[^1].Number, [new OpenView(7, 1)]);
        cluster.Run(0.1);
        Assert.Single(nodes[0].StillOpen);

        nodes[2].Environment.Crash();
        cluster.World.RunUntil(() => nodes[0].Nodes.Count == 2);
        Assert.Single(nodes[0].StillOpen);
        cluster.Run(0.5);
        Assert.Empty(nodes[0].StillOpen);
        Assert.Equal(nodes[0].Changes[^1].Number, nodes[0].Settled);
    }

    [Fact]
    public void A_node_that_never_confirms_holds_settlement_only_while_it_lives()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[1].Confirms = false;
        nodes[0].Subscribe("A");
        cluster.Run(1);
        Assert.True(nodes[0].Settled < nodes[0].Changes[^1].Number);
        nodes[1].Environment.Crash();
        cluster.World.RunUntil(() => nodes[0].Nodes.Count == 1);
        cluster.Run(0.5);
        Assert.Equal(nodes[0].Changes[^1].Number, nodes[0].Settled);
    }

    // Covers I11: by that word views are closed, in which the survivors must first agree about what it sent.
    [Theory]
    [InlineData(1)]
    [InlineData(1.02)]
    [InlineData(1.04)]
    [InlineData(1.06)]
    [InlineData(1.08)]
    public void A_removed_nodes_unconfirmed_views_settle_only_after_all_know_of_its_removal(double begin)
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        cluster.Run(begin);
        nodes[1].Confirms = false;
        nodes[0].Subscribe("A");
        cluster.Run(1);
        long open = nodes[0].Settled;
        int grown = 0;
        nodes[0].WhenSettled = _ =>
        {
            Assert.DoesNotContain(nodes[1].Key, nodes[0].Nodes.Keys);
            grown++;
        };
        nodes[1].Environment.Crash();
        // Changes all the while, so that the removal waits for the next configuration.
        for (int i = 0; i < 2_000 && nodes[0].Nodes.Count == 3; i++)
        {
            nodes[2].Subscribe($"B{i}");
            cluster.Run(0.03);
        }

        cluster.Run(0.5);
        Assert.Equal(2, nodes[0].Nodes.Count);
        Assert.True(grown > 0 && nodes[0].Settled > open);
    }

    [Fact]
    public void Leaving_is_confirmed_and_reported_to_the_others()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Subscribe("A");
        nodes[1].Subscribe("A");
        cluster.Run(1);
        bool left = false;
        nodes[1].Client.Leave(() => left = true);
        cluster.Run(0.5);
        Assert.True(left);
        Assert.Equal([nodes[0].Key], nodes[0].Nodes.Keys);
        Assert.Equal([[1]], nodes[0].MembersOf("A"));
        Assert.Null(nodes[1].Expelled);
        Assert.Equal(0, cluster.Counters.NodesRemoved);
    }

    [Fact]
    public void Leaving_an_unreachable_service_ends_at_once()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        cluster.ServiceEnvironment.Crash();
        cluster.Run(0.1);
        bool left = false;
        node.Client.Leave(() => left = true);
        Assert.True(left);
    }

    private static List<ulong[]> Sorted(List<ulong[]> regions) => [.. regions.OrderBy(members => members[0])];

    private static bool RegionEquality(RegionView a, RegionView b) =>
        a with { Members = [] } == b with { Members = [] } && a.Members.SequenceEqual(b.Members);

    // F23: a node that is set to speak less often than the service listens was removed, again and again.
    [Theory]
    [InlineData(60_000)]
    [InlineData(50)]
    public void Nodes_speak_as_often_as_the_service_says_whatever_they_are_set_to(int ownMilliseconds)
    {
        var cluster = new FakeCluster();
        var own = new MembershipServiceOptions
        {
            Failures = new FailureDetectorOptions { HeartbeatInterval = TimeSpan.FromMilliseconds(ownMilliseconds), HeartbeatsMissed = 2 },
        };
        var odd = FakeNode.Start(cluster.World, 1, FakeCluster.EndPoint, own);
        var usual = cluster.AddNode(2);
        cluster.World.RunUntil(() => usual.Nodes.Count == 2);
        cluster.Run(60);
        Assert.Null(odd.Expelled);
        Assert.Equal(2, usual.Nodes.Count);
        Assert.Equal(0, odd.Client.Counters.ServiceLosses);

        // It also gives a silent service up no later than the others do.
        cluster.World.IsBlocked = (_, _) => true;
        cluster.Run(6.5);
        Assert.Equal(1, odd.Client.Counters.ServiceLosses);
        Assert.Equal(1, usual.Client.Counters.ServiceLosses);
    }
}
