using System.Collections.Immutable;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Multicast.Tests.Scenarios.Paths;

// What a node's system refuses while a configuration is applied, or after.
public sealed class RefusedPortTests
{
    private const string NoDescriptors = "Too many open files";

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void While_the_port_of_a_group_is_refused_its_member_gets_everything_by_repair(ulong seed)
    {
        var cluster = Cluster(seed, nodes: 4);
        var deaf = cluster[3];
        deaf.Node.Faults.Refusals.Begin(SystemCalls.OpenGroup, reason: NoDescriptors);
        cluster.Commit();
        Assert.True(deaf.Multicast.Regions.Single().IsDeaf);
        Assert.Contains(NoDescriptors, deaf.Multicast.Trouble, StringComparison.Ordinal);

        cluster[0].PublishAll(1, 2_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count >= 2_000), seconds: 10));

        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 2_000));
        Assert.True(deaf.Multicast.Counters.RefusedGroups > 1);
        Assert.True(deaf.Multicast.Regions.Single().IsDeaf);
    }

    [Fact]
    public void A_port_that_was_refused_is_tried_again_and_the_group_is_heard_after_that()
    {
        var cluster = Cluster(4, nodes: 3);
        var deaf = cluster[2];
        deaf.Node.Faults.Refusals.Begin(SystemCalls.OpenGroup, atMost: 5);
        cluster.Commit();
        cluster[0].PublishAll(1, 100, 500);
        Assert.True(cluster.RunUntil(() => !deaf.Multicast.Regions.Single().IsDeaf, seconds: 5));
        Assert.Null(deaf.Multicast.Trouble);
        Assert.True(cluster.RunUntil(() => deaf.Log.Count == 100, seconds: 5));

        long repairs = deaf.Multicast.Counters.RepairsReceived;
        Assert.True(repairs > 0);
        cluster[0].PublishAll(1, 1_000, 500);
        Assert.True(cluster.RunUntil(() => deaf.Log.Count == 1_100, seconds: 5));
        Assert.Equal(repairs, deaf.Multicast.Counters.RepairsReceived);
        MulticastCluster.AssertRun(deaf, cluster[0], 1, 1, 1_100);
    }

    [Fact]
    public void The_only_member_of_a_view_gets_what_was_sent_before_its_port_could_be_opened()
    {
        var cluster = Cluster(5, nodes: 2);
        cluster[1].Node.Faults.Refusals.Begin(SystemCalls.OpenGroup, atMost: 4);
        cluster.Commit();
        cluster[0].PublishAll(1, 1_000, 500);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 1_000, seconds: 5));
        MulticastCluster.AssertRun(cluster[1], cluster[0], 1, 1, 1_000);
    }

    [Fact]
    public void A_node_whose_system_refuses_permanently_leaves_with_the_reason_and_the_others_continue()
    {
        var cluster = Cluster(6, nodes: 4);
        var refused = cluster[3];
        refused.Node.Faults.Refusals.Begin(SystemCalls.OpenGroup, reason: NoDescriptors);
        cluster.Commit();
        cluster[0].PublishAll(1, 1_000, 500);
        Assert.True(cluster.RunUntil(() => refused.Membership.GaveUp is not null, cluster.Options.GroupRefusalLimit.TotalSeconds + 5));
        Assert.True(cluster.Simulation.Now >= cluster.Options.GroupRefusalLimit);
        Assert.Contains(NoDescriptors, refused.Membership.GaveUp, StringComparison.Ordinal);
        Assert.Contains("the group 239.1.0.1:20001", refused.Membership.GaveUp, StringComparison.Ordinal);

        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[0].PublishAll(1, 10_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).Take(2).All(host => host.Log.Count == 11_000), seconds: 10));
    }

    [Fact]
    public void A_view_that_ends_while_its_port_is_refused_is_not_asked_for_any_more()
    {
        var cluster = Cluster(7, nodes: 3);
        var deaf = cluster[2];
        deaf.Node.Faults.Refusals.Begin(SystemCalls.OpenGroup);
        cluster.Commit();
        deaf.Unsubscribes(1);
        cluster.Commit();
        Assert.True(cluster.RunUntil(() => deaf.Multicast.Regions.Count == 0));
        Assert.Null(deaf.Multicast.Trouble);
        long refusals = deaf.Node.Faults.Refusals.Count;
        cluster.Simulation.Run(cluster.Options.GroupRefusalLimit * 2);
        Assert.Equal(refusals, deaf.Node.Faults.Refusals.Count);
        Assert.Null(deaf.Membership.GaveUp);
    }

    [Fact]
    public void Copies_go_by_the_port_that_there_is_when_another_one_is_refused()
    {
        var cluster = Cluster(8, nodes: 3);
        cluster.Service.HasGroups = false;
        cluster[0].Node.Faults.Refusals.Begin(SystemCalls.OpenPort);
        cluster.Commit();
        cluster[0].PublishAll(1, 1_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 1_000), seconds: 5));
        Assert.Equal(1, cluster[0].Node.Faults.Refusals.Count);
    }

    [Theory]
    [InlineData(0.3, 0)]
    [InlineData(0, 0.3)]
    public void Sends_that_the_system_refuses_or_has_no_room_for_are_counted_and_made_good(double refused, double busy)
    {
        var cluster = Cluster(9, nodes: 4);
        foreach (var host in cluster.Hosts)
        {
            host.Node.Faults.Refusals.Begin(SystemCalls.Send, refused, reason: "Operation not permitted");
            host.Node.Model = host.Node.Model with { SendBusyProbability = busy };
        }

        cluster.Commit();
        cluster[0].PublishAll(1, 2_000, 500);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 2_000), seconds: 30));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 2_000));
        Assert.True((busy > 0 ? cluster[0].Multicast.Counters.BusySends : cluster[0].Multicast.Counters.RefusedSends) > 0);
    }

    [Fact]
    public void A_node_that_may_send_nothing_for_a_while_continues_afterwards()
    {
        var cluster = Cluster(10, nodes: 3);
        cluster.Commit();
        cluster[0].Node.Faults.Refusals.Begin(SystemCalls.Send, reason: "Network is down");
        cluster[0].PublishAll(1, 1_000, 500);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.All(cluster.Hosts.Skip(1), host => Assert.Empty(host.Log));
        cluster[0].Node.Faults.Refusals.End();
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 1_000), seconds: 5));
    }

    [Fact]
    public void A_node_that_cannot_apply_a_configuration_leaves_with_the_reason()
    {
        var cluster = Cluster(11, nodes: 2);
        cluster[1].Multicast.Observer = new FailingObserver();
        Assert.Throws<SimulationException>(cluster.Commit);
        Assert.Contains("configuration 1: no room in a table", cluster[1].Membership.GaveUp, StringComparison.Ordinal);
    }

    private sealed class FailingObserver : IMembershipObserver
    {
        public void OnConfiguration(ConfigurationChange change) => throw new InvalidOperationException("no room in a table");

        public void OnSettled(long configuration, ImmutableArray<OpenView> open)
        {
        }

        public void OnExpelled(string reason)
        {
        }

        public void OnGaveUp(string reason)
        {
        }

        public void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null)
        {
        }

        public void OnServiceReachable(bool reachable)
        {
        }
    }

    // Node 0 publishes, the others subscribe; nothing is committed yet.
    private static MulticastCluster Cluster(ulong seed, int nodes)
    {
        var cluster = new MulticastCluster(seed, nodes);
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        return cluster;
    }
}
