using System.Net;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Network;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Machines;

public sealed class DatagramTests
{
    [Fact]
    public void A_datagram_reaches_the_addressed_port_after_the_delay_and_no_other()
    {
        var bench = new Bench(3);
        bench.Send(bench.AddressOf(1));
        bench.Run();
        var run = Assert.Single(bench.Unicast[1].Runs);
        Assert.Equal(new LinkModel().Delay, run.At);
        Assert.Empty(bench.Unicast[2].Runs);
        Assert.All(bench.Multicast, receiver => Assert.Empty(receiver.Runs));
        Assert.Equal(1, bench.Unicast[1].Batches);
    }

    [Fact]
    public void A_datagram_to_an_address_of_IPv6_is_refused()
    {
        var life = new Bench(1).Cluster.Nodes[0].Environment;
        using var port = life.OpenPort(new DatagramPortOptions(), new RecordingReceiver(life));
        Assert.Equal(SendOutcome.Refused, port.Send([1], 1, new DatagramAddress(new IPEndPoint(IPAddress.IPv6Loopback, 5))));
    }

    [Fact]
    public void Datagrams_to_a_group_reach_every_member_and_the_sender()
    {
        var bench = new Bench(3);
        bench.Network.Link(0, 1).SetModel(new LinkModel { Loss = 1 });
        bench.Network.Link(0, 0).SetModel(new LinkModel { Loss = 1 });
        bench.Send(Bench.GroupAddress, count: 5);
        bench.Run();
        Assert.Equal(5, bench.Multicast[0].Runs.Count);
        Assert.Empty(bench.Multicast[1].Runs);
        Assert.Equal(5, bench.Multicast[2].Runs.Count);
    }

    [Fact]
    public void Groups_differ_by_address_and_port_and_a_node_may_join_twice()
    {
        var bench = new Bench(1);
        var life = bench.Cluster.Nodes[0].Environment;
        var twin = new RecordingReceiver(life);
        var otherPort = new RecordingReceiver(life);
        var otherGroup = new RecordingReceiver(life);
        var second = life.OpenPort(new DatagramPortOptions { Group = Bench.Group, Port = Bench.GroupPort }, twin);
        life.OpenPort(new DatagramPortOptions { Group = Bench.Group, Port = Bench.GroupPort + 1 }, otherPort);
        life.OpenPort(new DatagramPortOptions { Group = IPAddress.Parse("239.192.0.2"), Port = Bench.GroupPort }, otherGroup);
        bench.Send(Bench.GroupAddress);
        bench.Run();
        Assert.Single(twin.Runs);
        Assert.Empty(otherPort.Runs);
        Assert.Empty(otherGroup.Runs);

        second.Dispose();
        bench.Send(Bench.GroupAddress);
        bench.Run();
        Assert.Single(twin.Runs);
        Assert.Equal(2, bench.Multicast[0].Runs.Count);
    }

    [Fact]
    public void A_run_arrives_whole_and_in_order_in_pieces_of_any_number_of_datagrams()
    {
        var bench = new Bench();
        bench.Send(bench.AddressOf(1), count: 640, bytes: 100, perRun: 64);
        bench.Run();
        var received = bench.Unicast[1];
        Assert.Equal(Enumerable.Range(0, 640), received.Numbers(100));
        Assert.All(received.Runs, run => Assert.Equal(0, run.Bytes.Length % 100));
        // Both kinds of receive happen: single datagrams, and several in one.
        Assert.Contains(received.Runs, run => run.Bytes.Length == 100);
        Assert.Contains(received.Runs, run => run.Bytes.Length > 100);
    }

    // As a careless reader of offsets must notice.
    [Fact]
    public void Runs_lie_behind_one_another_in_a_block_while_something_of_it_is_kept()
    {
        var bench = new Bench();
        Lease? kept = null;
        bench.Unicast[1].Then = run =>
        {
            if (kept is null)
            {
                kept = run.Lease;
                kept.AddClaim();
            }
        };
        bench.Send(bench.AddressOf(1), count: 10, bytes: 100, perRun: 1);
        bench.Run();
        Assert.Equal(Enumerable.Range(0, 10), bench.Unicast[1].Numbers(100));
        Assert.Equal(10, bench.Unicast[1].Offsets.Distinct().Count());
        Assert.Equal(1, bench.Cluster.Nodes[1].Environment.Buffers.LeasedBlocks);
        kept!.Release();
        bench.Cluster.AssertLeasesReturned();
    }

    [Theory]
    [InlineData(0.0, 64)]
    [InlineData(1.0, 1)]
    public void Coalescing_can_be_turned_off_and_the_last_datagram_of_a_run_may_be_shorter(double coalesce, int fewestRuns)
    {
        var bench = new Bench();
        bench.Cluster.Nodes[1].Model = bench.Cluster.Nodes[1].Model with { CoalesceProbability = coalesce };
        var run = bench.NumberedRun(64, 100).AsSpan(0, 6350).ToArray();
        Assert.Equal(SendOutcome.Sent, bench.Ports[0].Send(run, 100, bench.AddressOf(1)));
        bench.Run();
        Assert.InRange(bench.Unicast[1].Runs.Count, fewestRuns, 64);
        Assert.Equal(run, bench.Unicast[1].Runs.SelectMany(part => part.Bytes));
    }

    [Fact]
    public void Control_datagrams_of_a_batch_come_before_data()
    {
        var bench = new Bench();
        bench.Send(bench.AddressOf(1), count: 3);
        bench.Ports[0].Send([1, 2, 3, 0xC0], 4, bench.AddressOf(1));
        bench.Run();
        Assert.Equal([4, 100, 100, 100], bench.Unicast[1].Runs.Select(run => run.Bytes.Length));
        Assert.Equal(1, bench.Unicast[1].Batches);
    }

    [Fact]
    public void Without_offload_a_port_sends_one_datagram_at_a_time_and_refuses_runs()
    {
        var bench = new Bench();
        Assert.Equal(64, bench.Ports[0].MaxRunSegments);
        bench.Cluster.Nodes[0].Model = bench.Cluster.Nodes[0].Model with { SegmentationOffload = false };
        Assert.Equal(1, bench.Ports[0].MaxRunSegments);
        Assert.Equal(SendOutcome.Refused, bench.Send(bench.AddressOf(1), count: 2, perRun: 2));
        Assert.Equal(SendOutcome.Sent, bench.Send(bench.AddressOf(1)));
        Assert.Equal(1, bench.Ports[0].RefusedSends);
    }

    [Fact]
    public void Too_many_segments_too_many_bytes_and_a_closed_port_are_refused()
    {
        var bench = new Bench();
        Assert.Equal(SendOutcome.Refused, bench.Send(bench.AddressOf(1), count: 65, perRun: 65));
        Assert.Equal(SendOutcome.Refused, bench.Send(bench.AddressOf(1), bytes: SimulatedPort.MaxRunBytes + 1));
        Assert.Equal(SendOutcome.Sent, bench.Send(bench.AddressOf(1), bytes: SimulatedPort.MaxRunBytes));
        bench.Ports[0].Dispose();
        Assert.Equal(SendOutcome.Refused, bench.Send(bench.AddressOf(1)));
        bench.Run();
        Assert.Single(bench.Unicast[1].Runs);
    }

    [Fact]
    public void A_port_number_is_given_once_and_a_free_one_is_found_when_none_is_asked_for()
    {
        var bench = new Bench(1);
        var life = bench.Cluster.Nodes[0].Environment;
        Assert.Throws<TransportException>(() => life.OpenPort(new DatagramPortOptions { Port = Bench.UnicastPort }, bench.Unicast[0]));
        var any = life.OpenPort(new DatagramPortOptions(), bench.Unicast[0]);
        Assert.NotEqual(0, any.LocalEndPoint.Port);
        Assert.Equal(life.LocalAddress, any.LocalEndPoint.Address);
        bench.Ports[0].Dispose();
        life.OpenPort(new DatagramPortOptions { Port = Bench.UnicastPort }, bench.Unicast[0]).Dispose();
        Assert.Throws<TransportException>(() =>
            life.OpenPort(new DatagramPortOptions { Group = life.LocalAddress, Port = 5 }, bench.Unicast[0]));
    }

    [Fact]
    public void Nothing_comes_to_a_closed_port_nor_to_one_that_only_sends()
    {
        var bench = new Bench();
        var silent = new RecordingReceiver(bench.Cluster.Nodes[1].Environment);
        bench.Cluster.Nodes[1].Environment.OpenPort(new DatagramPortOptions { Port = 9, Receives = false }, silent);
        bench.Send(bench.AddressOf(1));
        bench.Send(new DatagramAddress(new IPEndPoint(bench.Cluster.Nodes[1].Address, 9)));
        bench.Ports[1].Dispose();
        bench.Run();
        Assert.Empty(bench.Unicast[1].Runs);
        Assert.Empty(silent.Runs);
        Assert.Equal(1, bench.Network.Undeliverable);
    }

    [Fact]
    public void A_port_closed_by_its_receiver_hands_up_nothing_more()
    {
        var bench = new Bench();
        bench.Unicast[1].Then = _ => bench.Ports[1].Dispose();
        bench.Send(bench.AddressOf(1), count: 5);
        bench.Run();
        Assert.Single(bench.Unicast[1].Runs);
        bench.Cluster.AssertLeasesReturned();
    }

    [Fact]
    public void Leases_come_back_unless_the_receiver_keeps_a_claim()
    {
        var bench = new Bench();
        bench.Send(bench.AddressOf(1), count: 200, perRun: 10);
        bench.Run();
        bench.Cluster.AssertLeasesReturned();

        bench.Unicast[1].Then = run => run.Lease.AddClaim();
        bench.Send(bench.AddressOf(1));
        bench.Run();
        Assert.Throws<InvalidOperationException>(bench.Cluster.AssertLeasesReturned);
    }

    [Fact]
    public void When_packet_memory_is_out_datagrams_wait_and_come_later()
    {
        var bench = new Bench(2, new SimulationOptions { Seed = 1, PoolBytes = 1 << 20 });
        var kept = new List<ReceivedRun>();
        bench.Unicast[1].Then = run =>
        {
            run.Lease.AddClaim();
            kept.Add(run);
        };
        // The pool has 16 blocks, and these datagrams fill one each.
        bench.Send(bench.AddressOf(1), count: 20, bytes: 40_000);
        bench.Run();
        Assert.Equal(16, kept.Count);
        kept.ForEach(run => run.Lease.Release());
        bench.Run();
        Assert.Equal(Enumerable.Range(0, 20), bench.Unicast[1].Numbers(40_000));
    }
}
