using QuickSilver.Core.Alarms;
using QuickSilver.Core.Wire;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests;

// The kinds of faults beyond the common ones have their effect, and no more: F5, F7, F8, F11, F12, F14, F15, F17. As drawn: what
// a plan draws is what is tried.
public sealed class RareFaultTests
{
    private const ulong Cluster = 77;

    private readonly Bench _bench = new(nodes: 3);

    private SimulatedMachine Node => _bench.Cluster.Nodes[1];

    [Fact]
    public void After_a_restart_arrives_what_the_life_before_it_sent()
    {
        var draw = Draw(FaultKinds.Restart);
        bool heardOfTheDead = false, gapIsShort = true;
        var downSince = TimeSpan.Zero;
        var sentBy = new List<int>();
        _bench.Unicast[0].Then = run =>
            heardOfTheDead |= run.Span.Length == 100 && sentBy[BitConverter.ToInt32(run.Span)] < Node.Lives;
        _bench.Cluster.NodeStarted = _ => gapIsShort &= _bench.Cluster.Now - downSince <= Ms(50);
        _bench.Cluster.NodeEnded = _ => downSince = _bench.Cluster.Now;
        draw.Start(_bench.Cluster);
        for (int i = 0; i < 500; i++)
        {
            if (Node.IsUp && Node.Lives == 1)
            {
                sentBy.Add(Node.Lives);
                _bench.Send(_bench.AddressOf(0), from: 1);
            }

            _bench.Run(10);
        }

        Assert.True(heardOfTheDead);
        Assert.True(Node.Lives > 1);
        Assert.True(gapIsShort);
        Assert.Equal(TimeSpan.Zero, Node.Faults.OutboundHold);
    }

    [Fact]
    public void A_slow_node_takes_its_time_for_each_datagram_and_alarm()
    {
        var life = Node.Environment;
        Node.Model = Node.Model with { CoalesceProbability = 0 };
        Node.Faults.Slowness = Ms(2);
        _bench.Send(_bench.AddressOf(1), count: 10);
        var alarms = new List<TimeSpan>();
        for (int i = 0; i < 3; i++)
        {
            life.Schedule(new Alarm(() => alarms.Add(life.Now)), Ms(50));
        }

        _bench.Run();
        var runs = _bench.Unicast[1].Runs;
        Assert.Equal(10, runs.Count);
        Assert.True(alarms[2] - alarms[0] >= Ms(4));
        Assert.True(life.Spent >= Ms(2 * (10 + 3)));
        Assert.Equal(TimeSpan.Zero, _bench.Cluster.Nodes[2].Environment.Spent);
    }

    [Fact]
    public void A_clock_that_runs_fast_fires_its_alarms_early_and_keeps_what_it_gained()
    {
        var life = Node.Environment;
        TimeSpan firedAt = default, ownTime = default;
        Node.Clock.Rate = 1.1;
        life.Schedule(new Alarm(() => (firedAt, ownTime) = (_bench.Cluster.Now, life.Now)), Ms(110));
        _bench.Run(1000);
        Assert.InRange(firedAt, Ms(100), Ms(100) + TimeSpan.FromMicroseconds(1));
        Assert.InRange(ownTime, Ms(110), Ms(110) + TimeSpan.FromMicroseconds(1));
        Assert.Equal(Ms(1100), life.Now);
        Node.Clock.Rate = 1;
        _bench.Run(1000);
        Assert.Equal(Ms(2100), life.Now);
        Assert.Equal(Ms(2000), _bench.Cluster.Nodes[0].Environment.Now);
    }

    [Fact]
    public void An_alarm_never_fires_before_its_time_by_the_clock_of_its_node()
    {
        var life = Node.Environment;
        TimeSpan own = default;
        life.Schedule(new Alarm(() => own = life.Now), Ms(100));
        _bench.Run(50);
        Node.Clock.Rate = 0.5;
        _bench.Run(50);
        Assert.Equal(default, own);
        _bench.Run(51);
        Assert.InRange(own, Ms(100), Ms(100) + TimeSpan.FromMicroseconds(1));
    }

    [Fact]
    public void Drawn_clocks_are_set_and_run_wrong_and_well_again_in_the_end()
    {
        bool wasSet = false, ranWrong = false;
        Draw(FaultKinds.Clock).Start(_bench.Cluster);
        for (int i = 0; i < 1000; i++)
        {
            _bench.Run(10);
            wasSet |= Node.ClockStep != TimeSpan.Zero;
            ranWrong |= Node.Clock.Rate is (< 0.999 or > 1.001) and (> 0.89 and < 1.11);
        }

        Assert.True(wasSet);
        Assert.True(ranWrong);
        Assert.Equal(1, Node.Clock.Rate);
    }

    [Fact]
    public void In_a_black_hole_large_datagrams_vanish_and_small_ones_do_not()
    {
        Draw(FaultKinds.BlackHole).Start(_bench.Cluster);
        int vanished = 0;
        for (int i = 0; i < 1000; i++)
        {
            int small = _bench.Unicast[1].Runs.Count;
            _bench.Send(_bench.AddressOf(1), bytes: 1500);
            _bench.Send(_bench.AddressOf(1), bytes: 100);
            _bench.Run(10);
            int arrived = _bench.Unicast[1].Runs.Count - small;
            Assert.InRange(arrived, 1, 2);
            vanished += 2 - arrived;
        }

        Assert.InRange(vanished, 100, 900);
    }

    [Fact]
    public void Multicast_stops_in_silence_while_unicast_works()
    {
        Draw(FaultKinds.MulticastLoss).Start(_bench.Cluster);
        int[] missed = new int[3];
        for (int i = 0; i < 1000; i++)
        {
            int[] before = [.. _bench.Multicast.Select(receiver => receiver.Runs.Count)];
            _bench.Send(Bench.GroupAddress);
            _bench.Send(_bench.AddressOf(1));
            _bench.Run(10);
            Assert.Equal(i + 1, _bench.Unicast[1].Runs.Count);
            for (int node = 0; node < 3; node++)
            {
                missed[node] += before[node] == _bench.Multicast[node].Runs.Count ? 1 : 0;
            }
        }

        // A node hears itself. For some time all are cut off, for some only the one that the plan names.
        Assert.Equal(0, missed[0]);
        Assert.InRange(missed[2], 1, missed[1] - 1);
    }

    [Fact]
    public void Processes_flap_and_end_together_and_are_all_up_in_the_end()
    {
        var bench = new Bench(nodes: 6);
        var schedule = FaultSchedule.Draw(
            new FaultPlan { Kinds = FaultKinds.Membership, Crashable = [1, 2, 3, 4, 5], Until = Ms(30_000) }, 3, nodes: 6);
        int mostDown = 0;
        schedule.Start(bench.Cluster);
        for (int i = 0; i < 3001; i++)
        {
            bench.Run(10);
            mostDown = Math.Max(mostDown, bench.Cluster.Nodes.Count(node => !node.IsUp));
        }

        Assert.True(mostDown > 1);
        Assert.All(bench.Cluster.Nodes, node => Assert.True(node.IsUp));
        Assert.Equal(1, bench.Cluster.Nodes[0].Lives);
        Assert.True(bench.Cluster.Nodes.Max(node => node.Lives) > 5);
    }

    [Theory]
    [InlineData(MembershipPlacement.Dedicated)]
    [InlineData(MembershipPlacement.Embedded)]
    public void The_membership_service_restarts_and_all_nodes_form_one_cluster_again(MembershipPlacement placement)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 4,
            Seed = 5,
            Membership = placement,
            NodeOptions = new QuickSilverOptions { Membership = { Hosted = { HeartbeatInterval = Ms(200) } } },
        });
        cluster.Start();
        var host = cluster.Machines.Nodes.Single(machine => machine.Life!.Endpoints.IsListening);
        Assert.Equal(placement == MembershipPlacement.Dedicated, host.IsService);
        var plan = new FaultPlan { Kinds = FaultKinds.Membership, Until = Ms(20_000) };
        cluster.RunFaults(FaultSchedule.Draw(plan, 4, nodes: 4));
        Assert.True(host.Lives > 1);
        cluster.Eventually("all know each other", () => cluster.Nodes.All(node => node.KnownNodes == 4));
    }

    [Fact]
    public void A_node_deaf_to_repair_hears_all_but_requests_for_it()
    {
        Node.Faults.IsDeafToRepair = true;
        foreach (var kind in Enum.GetValues<PacketKind>())
        {
            _bench.Ports[0].Send(Packet(kind), 200, _bench.AddressOf(1));
        }

        _bench.Run();
        var kinds = _bench.Unicast[1].Datagrams(200).Select(datagram => (PacketKind)datagram[PacketHeader.KindOffset]);
        Assert.Equal(Enum.GetValues<PacketKind>().Where(kind => kind != PacketKind.Pull), kinds);
        Node.Faults.Heal();
        _bench.Ports[0].Send(Packet(PacketKind.Pull), 200, _bench.AddressOf(1));
        _bench.Run();
        Assert.Equal(Enum.GetValues<PacketKind>().Length, _bench.Unicast[1].Datagrams(200).Count());
    }

    [Fact]
    public void Foreign_datagrams_come_beside_the_genuine_ones_and_are_well_formed_but_for_their_version_or_kind()
    {
        const int Count = 2000;
        Node.Faults.ForeignProbability = 0.2;
        for (int i = 0; i < Count; i++)
        {
            _bench.Ports[0].Send(Packet(PacketKind.Data), 200, _bench.AddressOf(1));
        }

        _bench.Run();
        var reasons = _bench.Unicast[1].Datagrams(200).Select(datagram => PacketHeader.Validate(datagram, Cluster)).ToArray();
        Assert.Equal(Count, reasons.Count(reason => reason == DropReason.None));
        Assert.InRange(reasons.Count(reason => reason == DropReason.UnknownVersion), Count * 0.07, Count * 0.13);
        Assert.InRange(reasons.Count(reason => reason == DropReason.UnknownKind), Count * 0.07, Count * 0.13);
        Assert.Equal(reasons.Length - Count, _bench.Network.Link(0, 1).Strange);
    }

    private static byte[] Packet(PacketKind kind)
    {
        byte[] packet = new byte[200];
        new PacketTemplate(Cluster, sender: 1, incarnation: 2, region: 3, view: 4).Write(packet, kind, PacketFlags.None, 5, 0, 0);
        PacketTemplate.Seal(packet);
        return packet;
    }

    // Ten seconds of one kind, and of node 1 alone where it is a matter of nodes.
    private static FaultSchedule Draw(FaultKinds kind) =>
        FaultSchedule.Draw(new FaultPlan { Kinds = kind, Nodes = [1], Until = Ms(10_000) }, seed: 2, nodes: 3);

    private static TimeSpan Ms(int milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
