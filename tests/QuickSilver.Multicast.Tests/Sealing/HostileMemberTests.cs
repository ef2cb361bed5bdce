using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Sealing;

// A member of the cluster has the key that all nodes have, and so can speak under it in the name of every other; and an attacker without
// any key sends what was captured. Neither harms topics of which it is no member (T5, T13, I24).
public sealed class HostileMemberTests
{
    private const ulong Topic = 1;
    private const int Messages = 2_000;

    private static MulticastOptions Sealed => new() { ClusterId = 7, IsSealed = true, PacketBytes = 1472 - SealedPacket.TrailerBytes };

    [Fact]
    public void A_node_that_is_no_member_of_a_topic_cannot_stop_it_in_the_name_of_a_subscriber()
    {
        var cluster = Running(1);
        var (publisher, reader) = (cluster[0], cluster[1]);
        byte[] packet = new byte[CreditPacket.MaxBytes];
        int bytes = CreditPacket.Write(packet, Template(reader), long.MaxValue, [(Topic, 0)]);
        Inject(cluster, publisher, Forge(cluster, reader, packet[..bytes]));

        Assert.Equal(1, publisher.Multicast.Counters.Dropped(DropReason.NotMember));
        Assert.Equal(0, publisher.Multicast.CreditLimits.Count);
        publisher.PublishAll(Topic, Messages, 500);
        Assert.True(cluster.RunUntil(() => reader.Log.Count == Messages, seconds: 2));
    }

    [Fact]
    public void A_packet_under_the_key_of_all_in_the_name_of_another_is_no_data_and_no_pause()
    {
        var cluster = Running(2);
        var (victim, sender) = (cluster[1], cluster[2]);
        byte[] pause = new byte[PauseNotice.Bytes];
        new PauseNotice(TimeSpan.FromSeconds(1), TimeSpan.Zero, default).Write(pause, Template(sender), number: long.MaxValue);
        byte[] shared = new byte[PacketHeader.Bytes + 100];
        Template(sender).Write(shared, PacketKind.Shared, PacketFlags.None, 0, 0, 0);
        Inject(cluster, victim, Forge(cluster, sender, pause), Forge(cluster, sender, shared));

        var counters = victim.Multicast.Counters;
        Assert.Equal((1, 1), (counters.Dropped(DropReason.NotMember), counters.Dropped(DropReason.NotListed)));
        Assert.Equal(0, counters.PausesReported);
    }

    // The credits are sealed under the keys of views that follow each other meanwhile.
    [Theory]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    public void A_slow_reader_is_heard_from_view_to_view(ulong seed)
    {
        var cluster = Running(seed);
        var (publisher, reader) = (cluster[0], cluster[1]);
        int credits = 0;
        int ofNoView = 0;
        cluster.Simulation.Network.Filter = (_, datagram) =>
        {
            var header = new PacketHeader(datagram);
            credits += header.Kind == PacketKind.Credit ? 1 : 0;
            ofNoView += header.Kind == PacketKind.Credit && header.Region == 0 ? 1 : 0;
            return false;
        };
        reader.SinkOf(Topic).IsFull = true;
        publisher.PublishAll(Topic, 1_000_000, 1_000);
        for (int round = 0; round < 6; round++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(reader.Key, publisher.Multicast.CreditLimits.SlowestOf(Topic)?.Member);
            if (round % 2 == 0)
            {
                cluster[3].Subscribes(Topic);
            }
            else
            {
                cluster[3].Unsubscribes(Topic);
            }

            cluster.Commit();
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        int before = publisher.Published.Count;
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Equal(before, publisher.Published.Count);
        Assert.True(credits > 10);
        Assert.Equal(0, ofNoView);

        reader.SinkOf(Topic).IsFull = false;
        reader.Resume(Topic);
        Assert.True(cluster.RunUntil(() => publisher.Published.Count > before, seconds: 0.1));
    }

    [Fact]
    public void Neighbours_are_notified_of_a_pause_under_the_key_of_their_view()
    {
        var cluster = Running(6);
        cluster[3].Subscribes(Topic);
        cluster.Commit();
        cluster[0].PublishAll(Topic, 1_000_000, 500);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[1].Node.Pause(TimeSpan.FromSeconds(2));
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Contains(cluster.Hosts, host => host.Multicast.Counters.PausesReported > 0);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Dropped(DropReason.NotMember)));
    }

    [Fact]
    public void A_captured_packet_of_a_view_that_is_closed_is_not_answered()
    {
        var cluster = Running(7);
        var victim = cluster[1];
        var captured = new List<byte[]>();
        cluster.Simulation.Network.Filter = (link, datagram) =>
        {
            if (link.To == victim.Node && link.From != link.To && !SealedPacket.IsData(new PacketHeader(datagram).Kind))
            {
                captured.Add(datagram.ToArray());
            }

            return false;
        };
        cluster[0].PublishAll(Topic, Messages, 500);
        Assert.True(cluster.RunUntil(() => victim.Log.Count == Messages && cluster[2].Log.Count == Messages));
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        var old = victim.Multicast.Regions.Single().View;
        cluster[3].Subscribes(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.NotEqual(old.Number, victim.Multicast.Regions.Single().View.Number);

        captured.RemoveAll(packet => new PacketHeader(packet) is var header && (header.Region, header.View) != (old.RegionId, old.Number));
        Assert.Contains(captured, static packet => new PacketHeader(packet).Kind == PacketKind.Token);
        int answers = 0;
        cluster.Simulation.Network.Filter = (link, datagram) =>
        {
            var header = new PacketHeader(datagram);
            answers += link.From == victim.Node && header.Kind == PacketKind.ProbeReply && header.View == old.Number ? 1 : 0;
            return false;
        };
        var counters = victim.Multicast.Counters;
        long before = counters.Dropped(DropReason.Replayed) + counters.Dropped(DropReason.UnknownKey);
        for (int round = 0; round < 3; round++)
        {
            Inject(cluster, victim, [.. captured.Select(static packet => (byte[])packet.Clone())]);
        }

        Assert.Equal(0, answers);
        Assert.Equal(before + (3 * captured.Count), counters.Dropped(DropReason.Replayed) + counters.Dropped(DropReason.UnknownKey));
    }

    private static MulticastCluster Running(ulong seed)
    {
        var cluster = new MulticastCluster(seed, nodes: 4, new LinkModel(), Sealed);
        cluster[0].Publishes(Topic);
        cluster[1].Subscribes(Topic);
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        return cluster;
    }

    private static PacketTemplate Template(Host host) => new(7, host.Key.Id, host.Key.Incarnation, 0, 0);

    // Under the key of the cluster, in the name of this host.
    private static byte[] Forge(MulticastCluster cluster, Host host, byte[] packet)
    {
        var key = cluster.Service.Root!.OfCluster(1);
        using var sealer = new PacketSealer(key, new Sealer(host.Key.Id, host.Key.Incarnation), packetsPerEpoch: 10, begun: 100);
        byte[] forged = new byte[packet.Length + SealedPacket.TrailerBytes];
        sealer.Seal(packet, packet.Length, forged, key.Label());
        return forged;
    }

    private static void Inject(MulticastCluster cluster, Host to, params byte[][] datagrams)
    {
        var port = cluster[3].Node.Environment.OpenPort(new() { Receives = false }, null!);
        foreach (byte[] datagram in datagrams)
        {
            port.Send(datagram, datagram.Length, new(to.Membership.EndPoint));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        }

        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        port.Dispose();
    }
}
