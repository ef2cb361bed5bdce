using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Arbitration;

// Members that speak to the service and that datagrams do not pass to or from.
public sealed class ReachabilityTests
{
    private readonly FakeCluster _cluster = new();
    private readonly HashSet<IPAddress> _dead = [];

    private FakeNode[] Start(int count)
    {
        var nodes = _cluster.AddNodes(count);
        Array.ForEach(nodes, Wire);
        // A node that reports another shares a region with it.
        Array.ForEach(nodes, static node => node.Subscribe("A"));
        _cluster.Run(1);
        return nodes;
    }

    private void Wire(FakeNode node) =>
        node.Reaches = target => !_dead.Contains(target.Address) && !_dead.Contains(node.Environment.LocalAddress);

    // A node at an address that another had, as after a restart of its process.
    private FakeNode Return(FakeNode before, ulong id)
    {
        var node = new FakeNode(before.Environment, new MembershipClientOptions
        {
            Self = new NodeKey(id, 1),
            EndPoint = before.EndPoint,
            Services = [FakeCluster.EndPoint],
            Hosted = _cluster.Options,
        });
        Wire(node);
        node.Client.Start();
        node.Subscribe("A");
        return node;
    }

    private double SecondsUntil(Func<bool> condition, Action? eachSecond = null)
    {
        var begun = _cluster.World.Now;
        for (int second = 0; second < 60; second++)
        {
            eachSecond?.Invoke();
            var end = _cluster.World.Now + TimeSpan.FromSeconds(1);
            while (_cluster.World.Now < end)
            {
                if (condition())
                {
                    return (_cluster.World.Now - begun).TotalSeconds;
                }

                _cluster.Run(0.05);
            }
        }

        throw new TimeoutException("it did not come to be");
    }

    [Fact]
    public void An_unrefuted_report_removes_within_five_heartbeats_and_the_node_learns_what_to_look_at()
    {
        var nodes = Start(4);
        _dead.Add(nodes[2].Environment.LocalAddress);
        double seconds = SecondsUntil(
            () => nodes[2].Expelled is not null, () => nodes[0].Client.ReportSuspect(nodes[2].Key, "no answer to 3 probes"));
        Assert.InRange(seconds, 3.5, 5);
        Assert.Contains("check the firewall for UDP port 5000", nodes[2].Expelled);
        Assert.Contains(nodes[2].EndPoint.Address.ToString(), nodes[2].Expelled);
        Assert.Equal(3, nodes[0].Nodes.Count);
        Assert.Equal(1, _cluster.Counters.NodesUnreachable);
    }

    [Fact]
    public void A_report_that_the_others_refute_removes_no_node()
    {
        var nodes = Start(4);
        for (int second = 0; second < 30; second++)
        {
            nodes[0].Client.ReportSuspect(nodes[2].Key, "no answer to 3 probes");
            _cluster.Run(1);
        }

        Assert.Equal(4, nodes[0].Nodes.Count);
        Assert.True(_cluster.Counters.FaultArbitrations > 0);
    }

    // The leader is blamed while a member that failed breaks its ring, each time for some seconds.
    [Fact]
    public void A_healthy_leader_stays_while_one_member_after_the_other_fails_and_goes_when_it_alone_is_to_blame()
    {
        var nodes = Start(9);
        for (int failed = 3; failed < 9; failed++)
        {
            nodes[failed].Environment.Crash();
            SecondsUntil(() => nodes[0].Nodes.Count == 11 - failed, Blame);
        }

        Assert.Null(nodes[2].Expelled);
        SecondsUntil(() => nodes[2].Expelled is not null, Blame);
        Assert.Contains("although it answers echoes", nodes[2].Expelled);

        void Blame() => Array.ForEach(nodes[..2], node => node.Client.ReportSuspect(nodes[2].Key, "no acknowledgement"));
    }

    [Fact]
    public void A_publisher_in_a_topic_of_the_node_begins_an_arbitration_and_cannot_have_a_healthy_one_removed()
    {
        var nodes = Start(4);
        nodes[3].Subscribe("B");
        nodes[0].Open("B", TopicRole.Publish);
        nodes[1].Open("B", TopicRole.Publish);
        Array.ForEach(nodes[..3], static node => node.Close("A"));
        _cluster.Run(2);
        for (int second = 0; second < 30; second++)
        {
            nodes[0].Client.ReportSuspect(nodes[3].Key, "no acknowledgement");
            nodes[1].Client.ReportSuspect(nodes[3].Key, "no acknowledgement");
            _cluster.Run(1);
        }

        Assert.Null(nodes[3].Expelled);
        Assert.Equal(0, _cluster.Counters.SuspicionsIgnored);
        _dead.Add(nodes[3].Environment.LocalAddress);
        SecondsUntil(() => nodes[3].Expelled is not null, () => nodes[0].Client.ReportSuspect(nodes[3].Key, "no acknowledgement"));
    }

    [Fact]
    public void A_node_that_hears_no_other_and_reports_all_is_removed_itself()
    {
        var nodes = Start(5);
        _dead.Add(nodes[1].Environment.LocalAddress);
        SecondsUntil(
            () => nodes[1].Expelled is not null,
            () => Array.ForEach(nodes, node => nodes[1].Client.ReportSuspect(node.Key, "no answer to 3 probes")));
        _cluster.Run(20);
        Assert.All(nodes.Where(node => node != nodes[1]), node => Assert.Null(node.Expelled));
    }

    [Fact]
    public void A_node_knows_itself_that_no_datagram_comes_back_and_says_so_until_one_does()
    {
        var nodes = Start(3);
        Array.ForEach(nodes, node => _dead.Add(node.Environment.LocalAddress));
        SecondsUntil(() => nodes[2].Client.Isolation is not null, () => nodes[0].Client.ReportSuspect(nodes[2].Key, "no answer"));
        Assert.Contains("TCP reaches the membership service at", nodes[2].Client.Isolation!.Description);
        Assert.Contains($"Interface ({nodes[2].EndPoint.Address})", nodes[2].Client.Isolation!.Description);
        _dead.Clear();
        SecondsUntil(() => nodes[2].Client.Isolation is null, () => nodes[0].Client.ReportSuspect(nodes[2].Key, "no answer"));
        Assert.Equal(3, nodes[0].Nodes.Count);
    }

    [Fact]
    public void A_node_that_returns_to_the_address_is_admitted_only_when_datagrams_pass()
    {
        var nodes = Start(3);
        _dead.Add(nodes[2].Environment.LocalAddress);
        SecondsUntil(() => nodes[2].Expelled is not null, () => nodes[0].Client.ReportSuspect(nodes[2].Key, "no answer"));
        var back = Return(nodes[2], 77);
        _cluster.Run(60);
        Assert.Equal(2, nodes[0].Nodes.Count);
        Assert.Empty(back.Changes);
        Assert.Contains("check the firewall", back.Client.LastRefusal);
        Assert.Contains("TCP reaches the membership service", back.Client.Isolation!.Description);
        _dead.Clear();
        Assert.InRange(SecondsUntil(() => nodes[0].Nodes.Count == 3), 0, 3);
        Assert.Null(back.Client.LastRefusal);
        Assert.Null(back.Client.Isolation);
    }

    [Fact]
    public void The_oftener_an_address_was_removed_the_longer_datagrams_must_pass_and_never_for_more_than_some_seconds()
    {
        var nodes = Start(3);
        var bad = nodes[2];
        var waits = new List<double>();
        for (int time = 0; time < 6; time++)
        {
            _dead.Add(bad.Environment.LocalAddress);
            SecondsUntil(() => bad.Expelled is not null, () => nodes[0].Client.ReportSuspect(bad.Key, "no answer"));
            bad = Return(bad, 100 + (ulong)time);
            _cluster.Run(5);
            _dead.Clear();
            waits.Add(SecondsUntil(() => nodes[0].Nodes.Count == 3));
        }

        Assert.True(waits[^1] > waits[0] + 1, string.Join(", ", waits));
        Assert.All(waits, wait => Assert.InRange(wait, 0, 6));
    }

    [Fact]
    public void A_node_that_does_not_hear_one_member_is_kept_out_by_that_one_alone()
    {
        var nodes = Start(5);
        nodes[4].Reaches = target => !target.Equals(nodes[0].EndPoint);
        nodes[0].Reaches = target => !target.Equals(nodes[4].EndPoint);
        SecondsUntil(() => nodes[4].Expelled is not null, () => nodes[0].Client.ReportSuspect(nodes[4].Key, "no answer"));
        var back = Return(nodes[4], 77);
        back.Reaches = nodes[4].Reaches;
        _cluster.Run(30);
        Assert.Equal(4, nodes[0].Nodes.Count);
        nodes[0].Client.Leave(() => { });
        SecondsUntil(() => nodes[1].Nodes.ContainsKey(back.Key));
    }

    [Fact]
    public void Alone_with_the_service_it_is_let_in()
    {
        var nodes = Start(2);
        _dead.Add(nodes[1].Environment.LocalAddress);
        SecondsUntil(() => nodes[1].Expelled is not null, () => nodes[0].Client.ReportSuspect(nodes[1].Key, "no answer"));
        nodes[0].Client.Leave(() => { });
        _cluster.Run(1);
        var back = Return(nodes[1], 77);
        SecondsUntil(() => back.Nodes.Count == 1);
    }

    [Fact]
    public void Other_addresses_are_not_tried()
    {
        var nodes = Start(3);
        _dead.Add(nodes[2].Environment.LocalAddress);
        SecondsUntil(() => nodes[2].Expelled is not null, () => nodes[0].Client.ReportSuspect(nodes[2].Key, "no answer"));
        var other = _cluster.AddNode(50);
        _cluster.World.RunUntil(() => nodes[0].Nodes.ContainsKey(other.Key), limitSeconds: 1);
        Assert.Equal(0, other.Inquiries);
    }

    [Fact]
    public void A_node_of_the_loopback_interface_is_refused_by_a_service_elsewhere_with_both_addresses_named()
    {
        var environment = _cluster.World.AddNode(5);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new NodeKey(9, 1),
            EndPoint = new IPEndPoint(IPAddress.Loopback, 5000),
            Services = [FakeCluster.EndPoint],
            Hosted = _cluster.Options,
        });
        node.Client.Start();
        _cluster.Run(5);
        Assert.Contains("127.0.0.1", node.Client.LastRefusal);
        Assert.Contains(environment.LocalAddress.ToString(), node.Client.LastRefusal);
        Assert.Contains("Interface", node.Client.LastRefusal);
        Assert.Equal(0, _cluster.Service.MemberCount);
    }

    // A lie or a defect: most of the reports are refuted, and repeated forever.
    [Theory]
    [InlineData(0)]
    [InlineData(32)]
    public void One_member_that_reports_many_healthy_ones_does_not_keep_a_dead_one_in(int falseSuspects)
    {
        var nodes = Start(40);
        var bad = nodes[39];
        _dead.Add(bad.Environment.LocalAddress);
        for (int second = 0; second < 20 && bad.Expelled is null; second++)
        {
            for (int i = 2; i < 2 + falseSuspects; i++)
            {
                nodes[0].Client.ReportSuspect(nodes[i].Key, "no answer to 3 probes");
            }

            nodes[1].Client.ReportSuspect(bad.Key, "no answer to 3 probes");
            _cluster.Run(1);
        }

        Assert.NotNull(bad.Expelled);
    }
}
