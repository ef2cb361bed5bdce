using System.Net;
using QuickSilver.Core.Wire;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Network.Streams;
using QuickSilver.Simulation.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Machines;

// The kinds in which a node's datagrams fare otherwise than its streams, or otherwise than they should: F18, F19, F22, F25.
public sealed class DatagramFaultTests
{
    private const ulong Cluster = 77;
    private const int LieBytes = 200;

    private readonly Bench _bench = new(nodes: 3);

    private MachineFaults Faults => _bench.Cluster.Nodes[1].Faults;

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    [InlineData(true, true)]
    public void Datagrams_die_one_way_or_both_while_streams_live(bool hears, bool sends)
    {
        Faults.HearsNoDatagrams = !hears;
        Faults.SendsNoDatagrams = !sends;
        _bench.Send(_bench.AddressOf(1));
        _bench.Send(Bench.GroupAddress);
        _bench.Send(_bench.AddressOf(0), from: 1);
        _bench.Send(_bench.AddressOf(2));
        var client = Connect(from: 1, to: 0);
        _bench.Run();
        Assert.Equal(hears ? 1 : 0, _bench.Unicast[1].Runs.Count);
        Assert.Equal(hears ? 1 : 0, _bench.Multicast[1].Runs.Count);
        Assert.Equal(sends ? 1 : 0, _bench.Unicast[0].Runs.Count);
        Assert.Single(_bench.Unicast[2].Runs);
        Assert.True(client.IsConnected);
    }

    [Fact]
    public void A_node_without_datagrams_still_hears_itself()
    {
        Faults.HearsNoDatagrams = true;
        Faults.SendsNoDatagrams = true;
        _bench.Send(Bench.GroupAddress, from: 1);
        _bench.Run();
        Assert.Single(_bench.Multicast[1].Runs);
        Assert.Empty(_bench.Multicast[0].Runs);
    }

    [Fact]
    public void A_replayed_datagram_comes_again_later_and_as_it_was()
    {
        Faults.ReplayProbability = 1;
        _bench.Send(_bench.AddressOf(1), count: 20);
        _bench.Run(10);
        Assert.InRange(_bench.Unicast[1].Datagrams(100).Count(), 20, 25);
        _bench.Run(3000);
        var numbers = _bench.Unicast[1].Datagrams(100).Select(datagram => BitConverter.ToInt32(datagram)).ToArray();
        Assert.Equal(40, numbers.Length);
        Assert.All(numbers.GroupBy(number => number), same => Assert.Equal(2, same.Count()));
        Assert.Equal(20, _bench.Network.Link(0, 1).Duplicated);
    }

    [Fact]
    public void A_corrupted_datagram_fails_its_checksum()
    {
        Faults.CorruptProbability = 1;
        _bench.Ports[0].Send(Packet(PacketKind.Data), LieBytes, _bench.AddressOf(1));
        _bench.Run();
        Assert.NotEqual(DropReason.None, PacketHeader.Validate(Assert.Single(_bench.Unicast[1].Datagrams(LieBytes)), Cluster));
    }

    [Fact]
    public void Nothing_passes_while_an_interface_is_down_and_streams_break_in_time()
    {
        var client = Connect(from: 1, to: 0);
        _bench.Run();
        _bench.Network.TakeOffline(_bench.Cluster.Nodes[1]);
        _bench.Send(_bench.AddressOf(1));
        _bench.Send(_bench.AddressOf(0), from: 1);
        _bench.Run(14_000);
        Assert.Empty(_bench.Unicast[1].Runs);
        Assert.Empty(_bench.Unicast[0].Runs);
        Assert.False(client.IsClosed);
        _bench.Run(1001);
        Assert.True(client.IsClosed);
    }

    [Fact]
    public void A_stream_outlives_an_interface_that_comes_back_soon()
    {
        var client = Connect(from: 1, to: 0);
        _bench.Run();
        _bench.Network.TakeOffline(_bench.Cluster.Nodes[1]);
        _bench.Run(10_000);
        Faults.IsOffline = false;
        _bench.Run(20_000);
        Assert.False(client.IsClosed);
    }

    [Fact]
    public void An_interface_that_lost_its_groups_hears_what_is_sent_to_it_alone_until_it_joins_again()
    {
        _bench.Network.LeaveAll(_bench.Cluster.Nodes[1]);
        _bench.Send(Bench.GroupAddress);
        _bench.Send(_bench.AddressOf(1));
        _bench.Run();
        Assert.Empty(_bench.Multicast[1].Runs);
        Assert.Single(_bench.Multicast[2].Runs);
        Assert.Single(_bench.Unicast[1].Runs);
        _bench.Cluster.Heal();
        _bench.Send(Bench.GroupAddress);
        _bench.Run();
        Assert.Single(_bench.Multicast[1].Runs);
    }

    [Theory]
    [InlineData(PacketKind.Announce, true)]
    [InlineData(PacketKind.Token, true)]
    [InlineData(PacketKind.Pull, true)]
    [InlineData(PacketKind.Ack, true)]
    [InlineData(PacketKind.Data, false)]
    [InlineData(PacketKind.Probe, false)]
    internal void A_liar_sends_well_formed_control_packets_of_its_own_behind_the_true_ones(PacketKind kind, bool lies)
    {
        Faults.LieProbability = 1;
        byte[] truth = Packet(kind);
        for (int i = 0; i < 50; i++)
        {
            _bench.Ports[1].Send(truth, LieBytes, _bench.AddressOf(0));
        }

        _bench.Run();
        var heard = _bench.Unicast[0].Datagrams(LieBytes).Select(datagram => datagram.ToArray()).ToArray();
        // Sealed as they must be: an announcement's number is in the header, which says by itself when it is below zero.
        Assert.All(heard, datagram => Assert.True(PacketHeader.Validate(datagram, Cluster) is DropReason.None or DropReason.Malformed));
        Assert.Equal(lies ? 100 : 50, heard.Length);
        Assert.Equal(lies ? 50 : 0, _bench.Network.Link(1, 0).Strange);
        var distinct = heard.Select(Convert.ToHexString).Distinct().ToArray();
        Assert.True(lies ? distinct.Length > 5 : distinct.Length == 1);
    }

    private SimulatedStream Connect(int from, int to)
    {
        _bench.Cluster.Nodes[to].Environment.Listen(new IPEndPoint(IPAddress.Any, 5000), new RecordingAcceptor());
        var there = new IPEndPoint(_bench.Cluster.Nodes[to].Address, 5000);
        return (SimulatedStream)_bench.Cluster.Nodes[from].Environment.Connect(there, new RecordingHandler());
    }

    private static byte[] Packet(PacketKind kind)
    {
        byte[] packet = new byte[LieBytes];
        new PacketTemplate(Cluster, sender: 1, incarnation: 2, region: 3, view: 4).Write(packet, kind, PacketFlags.None, 5, 0, 0);
        PacketTemplate.Seal(packet);
        return packet;
    }
}
