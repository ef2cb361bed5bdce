using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Takeover;

// F4 (the membership service), F8; I7, I19.
public sealed class RestartTests
{
    [Fact]
    public void A_service_without_state_learns_from_its_nodes_and_numbers_above_their_configurations()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        nodes[0].Open("A", TopicRole.Publish);
        nodes[1].Subscribe("A", "B");
        nodes[2].Subscribe("A", "B");
        cluster.Run(1);
        long last = nodes[0].Changes[^1].Number;
        int before = nodes[0].Changes.Count;
        var orders = nodes[0].Nodes.ToDictionary(entry => entry.Key, entry => entry.Value.JoinOrder);

        cluster.ServiceEnvironment.Crash();
        cluster.Run(5);
        Assert.All(nodes, node => Assert.False(node.Reachable));
        Assert.Equal([[2, 3]], nodes[0].MembersOf("A"));

        cluster.Store = new MemoryMembershipStore();
        cluster.StartService();
        cluster.World.RunUntil(() => nodes.All(node => node.Changes.Count > before));
        var change = nodes[0].Changes[before];
        Assert.True(change.IsSnapshot);
        Assert.True(change.Number >> 32 > last >> 32);
        // Not one view was made without a node that was there before.
        Assert.Equal(3, change.Joined.Length);
        Assert.All(nodes, node => Assert.Equal([[2, 3]], node.Has("A") ? node.MembersOf("A") : []));
        Assert.Equal(orders, nodes[0].Nodes.ToDictionary(entry => entry.Key, entry => entry.Value.JoinOrder));
        cluster.Run(1);
        Assert.All(nodes, node => Assert.Equal(node.Changes[^1].Number, node.Settled));
        Assert.All(nodes, node => Assert.True(node.Reachable));
    }

    [Fact]
    public void When_all_known_nodes_are_back_the_grace_ends_early()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        cluster.Run(1);
        int before = nodes[0].Changes.Count;
        cluster.ServiceEnvironment.Crash();
        cluster.StartService();
        var at = cluster.World.Now;
        cluster.World.RunUntil(() => nodes.All(node => node.Changes.Count > before));
        Assert.InRange((cluster.World.Now - at).TotalSeconds, 0, 0.3);
    }

    [Fact]
    public void A_node_that_does_not_return_within_the_grace_period_is_left_out()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(3);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        cluster.Run(1);
        int before = nodes[0].Changes.Count;
        cluster.ServiceEnvironment.Crash();
        nodes[2].Environment.Crash();
        cluster.StartService();
        var at = cluster.World.Now;
        cluster.World.RunUntil(() => nodes[0].Changes.Count > before);
        Assert.InRange((cluster.World.Now - at).TotalSeconds, 1.9, 2.3);
        Assert.Equal([[1, 2]], nodes[0].MembersOf("A"));
        Assert.Equal(2, nodes[0].Nodes.Count);
    }

    [Fact]
    public void A_new_node_waits_for_the_old_ones_where_the_store_knows_of_a_service_before()
    {
        var store = new MemoryMembershipStore();
        store.SaveEpoch(77);
        var cluster = new FakeCluster(store: store);
        var node = cluster.AddNode(1);
        cluster.Run(1.9);
        Assert.True(node.Client.IsReachable);
        Assert.Empty(node.Changes);
        cluster.Run(0.3);
        Assert.Single(node.Changes);
    }

    [Fact]
    public void The_epoch_never_goes_back_even_when_the_clock_does()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        long epoch = node.Changes[^1].Number >> 32;
        Assert.Equal(epoch, cluster.Store.LoadEpoch());
        cluster.ServiceEnvironment.Crash();
        int before = node.Changes.Count;
        cluster.Store.SaveEpoch(epoch + (1 << 20));
        cluster.StartService();
        cluster.World.RunUntil(() => node.Changes.Count > before);
        Assert.Equal(epoch + (1 << 20) + 1, node.Changes[^1].Number >> 32);
    }

    [Fact]
    public void Numbers_grow_from_life_to_life_whatever_the_clocks_of_the_machines_say()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        foreach (int years in new[] { 100, -40, 5000, 0 })
        {
            cluster.ServiceEnvironment.Crash();
            cluster.Store = new MemoryMembershipStore();
            int before = node.Changes.Count;
            long last = node.Changes[^1].Number;
            cluster.StartService();
            cluster.ServiceEnvironment.ClockError = TimeSpan.FromDays(365 * years);
            cluster.World.RunUntil(() => node.Changes.Count > before);
            Assert.Equal((last >> 32) + 1, node.Changes[^1].Number >> 32);
        }
    }

    [Fact]
    public void A_topic_opened_during_an_outage_of_the_service_opens_after_it()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        cluster.ServiceEnvironment.Crash();
        cluster.Run(1);
        node.Subscribe("A");
        cluster.Run(1);
        Assert.Empty(node.Outcomes);
        cluster.StartService();
        cluster.World.RunUntil(() => node.Has("A"));
        Assert.Equal(["granted"], node.Outcomes);
    }

    [Fact]
    public void A_request_that_is_closed_before_it_was_granted_is_answered()
    {
        var cluster = new FakeCluster();
        var node = cluster.AddNodes(1)[0];
        cluster.ServiceEnvironment.Crash();
        cluster.Run(1);
        node.Subscribe("A");
        node.Close("A");
        Assert.Equal(["Topic 'A' was closed before it was opened."], node.Outcomes);
    }

    [Fact]
    public void A_store_that_fails_does_not_stop_the_service()
    {
        var cluster = new FakeCluster(store: new BrokenStore());
        Assert.Single(cluster.AddNodes(1)[0].Nodes);
    }

    [Fact]
    public void A_store_that_kept_an_old_epoch_since_its_disk_is_full_is_overtaken_by_what_nodes_report()
    {
        var kept = new MemoryMembershipStore();
        kept.SaveEpoch(40);
        var cluster = new FakeCluster(store: kept);
        var node = cluster.AddNodes(1)[0];
        Assert.Equal(41, node.Changes[^1].Number >> 32);
        cluster.ServiceEnvironment.Crash();
        int before = node.Changes.Count;
        cluster.Store = new BrokenStore { Kept = 12 };
        cluster.StartService();
        cluster.World.RunUntil(() => node.Changes.Count > before);
        Assert.Equal(42, node.Changes[^1].Number >> 32);
        Assert.Null(node.Expelled);
    }

    [Fact]
    public void A_step_that_is_missing_is_made_good_by_a_snapshot()
    {
        var cluster = new FakeCluster();
        var nodes = cluster.AddNodes(2);
        nodes[0].Subscribe("A");
        cluster.Run(1);
        // A backlog too small for anything: a node that was away cannot be updated step by step.
        var tight = new FakeCluster(new MembershipServiceOptions { Limits = new SessionLimits { MaxBacklogBytes = 1 } });
        var pair = tight.AddNodes(2);
        pair[0].Subscribe("A");
        tight.Run(1);
        pair[1].Environment.BreakStreams();
        pair[0].Subscribe("B");
        pair[1].Subscribe("C");
        tight.Run(1);
        Assert.True(pair[1].Changes[^1].IsSnapshot || pair[1].Changes[^2].IsSnapshot);
        Assert.True(tight.Counters.SnapshotsSent > 0);
        Assert.Equal(pair[0].Changes[^1].Number, pair[1].Changes[^1].Number);
        Assert.Equal(1, pair[1].View("C").Subscribers);
    }

    [Fact]
    public void Parts_that_do_not_follow_each_other_are_refused()
    {
        var assembler = new ConfigurationAssembler();
        Assert.False(assembler.TryAdd(new ConfigurationMessage { Number = 1, Part = 1 }, out _));
        Assert.True(assembler.TryAdd(new ConfigurationMessage { Number = 1, Part = 0 }, out _));
        Assert.False(assembler.TryAdd(new ConfigurationMessage { Number = 2, Part = 1, IsLast = true }, out _));
    }

    private sealed class BrokenStore : IMembershipStore
    {
        public long? Kept { get; init; }

        public long LoadEpoch() => Kept ?? throw new IOException("the disk is gone");

        public void SaveEpoch(long epoch) => throw new IOException("the disk is full");

        public bool IsHeld => true;

        public void Claim(long configuration, Action onClaimed) => onClaimed();

        public Task ReleaseAsync() => Task.CompletedTask;
    }
}
