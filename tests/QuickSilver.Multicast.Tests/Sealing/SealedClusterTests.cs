using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Sealing;

// Nodes that seal their packets, over networks that lose, repeat and change them, and with an attacker on the network that has no key
// (T5, T7, F18).
public sealed class SealedClusterTests
{
    private const ulong Topic = 1;
    private const int Messages = 3_000;

    private static readonly LinkModel Bad = new() { Loss = 0.05, Duplicate = 0.02, Reorder = 0.05, Corrupt = 0.01 };

    private static MulticastOptions Sealed => new() { ClusterId = 7, IsSealed = true, PacketBytes = 1472 - SealedPacket.TrailerBytes };

    [Theory]
    [InlineData(1, false)]
    [InlineData(2, true)]
    public void All_is_delivered_over_a_bad_network_and_nothing_goes_out_in_plain(ulong seed, bool unicast)
    {
        var cluster = Running(seed, Bad, Sealed with { Unicast = unicast });
        int plain = 0;
        int longest = 0;
        cluster.Simulation.Network.Filter = (_, datagram) =>
        {
            longest = Math.Max(longest, datagram.Length);
            plain += SealedPacket.Validate(datagram, cluster.Options.ClusterId) == DropReason.None ? 0 : 1;
            return false;
        };
        PublishAndRequire(cluster);
        Assert.Equal(0, plain);
        Assert.Equal(1472, longest);
        Assert.True(cluster.Hosts.Sum(host => host.Multicast.Counters.Dropped(DropReason.NotAuthentic)) > 0);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Counters.Keyless));
    }

    [Fact]
    public void Epochs_end_and_begin_without_a_loss()
    {
        var cluster = Running(3, Bad, Sealed with { PacketsPerKeyEpoch = 20 });
        uint highest = 0;
        cluster.Simulation.Network.Filter = (_, datagram) =>
        {
            highest = Math.Max(highest, new PacketHeader(datagram).KeyEpoch);
            return false;
        };
        PublishAndRequire(cluster);
        Assert.True(highest > 20, $"The last epoch was {highest}.");
    }

    [Fact]
    public void Of_no_two_packets_of_one_sealer_epoch_and_view_the_nonce_is_the_same()
    {
        var cluster = Running(4, Bad, Sealed with { PacketsPerKeyEpoch = 50 });
        cluster[3].Subscribes(Topic);
        cluster.Commit();
        var seen = new Dictionary<(ulong, uint, Sealer, uint, bool, ulong), string>();
        cluster.Simulation.Network.Filter = (_, datagram) =>
        {
            var header = new PacketHeader(datagram);
            var nonce = (header.Region, header.View, SealedPacket.SealerOf(datagram), header.KeyEpoch,
                SealedPacket.IsData(header.Kind), SealedPacket.CounterOf(datagram));
            string packet = Convert.ToHexString(datagram);
            // One that goes to a group passes several links.
            Assert.True(!seen.TryGetValue(nonce, out string? before) || before == packet);
            seen[nonce] = packet;
            return false;
        };
        cluster[0].PublishAll(Topic, Messages, 500);
        // What is sent in the views of those that are removed is sealed under further keys.
        foreach (var gone in cluster.Hosts.Skip(2).ToArray())
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(30));
            cluster.Service.Remove(gone.Key);
        }

        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == Messages));
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.True(seen.Keys.Select(static nonce => (nonce.Item1, nonce.Item2)).Distinct().Count() >= 3);
        Assert.Contains(seen.Keys, static nonce => KeyEpochs.IsOfRest(nonce.Item4));
    }

    // Old and new views have keys of their own, and both are in use for a while.
    [Fact]
    public void Views_follow_each_other_under_load_without_a_stall_or_a_loss()
    {
        var cluster = Running(5, Bad, Sealed);
        cluster[0].PublishAll(Topic, Messages, 700);
        for (int round = 0; round < 6; round++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(40));
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

        Assert.True(cluster.RunUntil(() => cluster.Hosts.Take(3).Skip(1).All(host => host.Log.Count >= Messages)));
        Assert.All(cluster.Hosts.Take(3).Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, Messages));
    }

    [Fact]
    public void Keys_of_views_that_are_over_are_forgotten()
    {
        var cluster = Running(6, new LinkModel(), Sealed);
        for (int round = 0; round < 40; round++)
        {
            cluster[3].Subscribes(Topic);
            cluster.Commit();
            cluster[3].Unsubscribes(Topic);
            cluster.Commit();
            cluster[0].PublishAll(Topic, 10, 100);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        }

        cluster.Simulation.Run(TimeSpan.FromMinutes(6));
        cluster[3].Subscribes(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.InRange(cluster[1].Multicast.Keys!.Count, 1, 4);
    }

    [Fact]
    public void Unsealed_packets_are_refused_and_so_are_sealed_ones_where_none_are()
    {
        var cluster = Running(7, new LinkModel(), Sealed);
        PublishAndRequire(cluster);
        var (victim, sender) = (cluster[1], cluster[0]);
        long delivered = victim.Log.Count;
        byte[] packet = new byte[PacketHeader.Bytes];
        var view = victim.Multicast.Regions.Single().View;
        new PacketTemplate(7, sender.Key.Id, sender.Key.Incarnation, view.RegionId, view.Number)
            .Write(packet, PacketKind.Announce, PacketFlags.None, 1 << 20, 0, 0);
        PacketTemplate.Seal(packet);
        Inject(cluster, victim, packet);

        Assert.Equal(1, victim.Multicast.Counters.Dropped(DropReason.Unsealed));
        Assert.Equal(delivered, victim.Log.Count);
        Assert.All(victim.Multicast.Regions.Single().Streams, stream => Assert.True(stream.Highest < 1 << 20));
    }

    [Fact]
    public void Recorded_packets_change_nothing_when_they_come_again()
    {
        var cluster = Running(8, new LinkModel(), Sealed);
        var recorded = new List<byte[]>();
        cluster.Simulation.Network.Filter = (link, datagram) =>
        {
            if (link.To == cluster[1].Node && link.From != link.To)
            {
                recorded.Add(datagram.ToArray());
            }

            return false;
        };
        PublishAndRequire(cluster);
        cluster.Simulation.Network.Filter = null;
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        var counters = cluster[1].Multicast.Counters;
        long others = recorded.Count(packet => !SealedPacket.IsData(new PacketHeader(packet).Kind));
        long replayed = counters.Dropped(DropReason.Replayed);
        long acks = counters.AcksReceived;
        Assert.True(others > 5);
        Inject(cluster, cluster[1], [.. recorded]);

        Assert.Equal(replayed + others, counters.Dropped(DropReason.Replayed));
        Assert.Equal(recorded.Count - others, counters.Dropped(DropReason.Duplicate));
        Assert.Equal(acks, counters.AcksReceived);
        Assert.Equal(Messages, cluster[1].Log.Count);
    }

    // A member seals it well, but in the name of another.
    [Fact]
    public void A_node_that_speaks_in_the_name_of_another_is_heard_only_with_data()
    {
        var cluster = Running(9, new LinkModel(), Sealed);
        PublishAndRequire(cluster);
        var (victim, liar, sender) = (cluster[1], cluster[2], cluster[0]);
        var view = victim.Multicast.Regions.Single().View;
        byte[] packet = new byte[PacketHeader.Bytes];
        new PacketTemplate(7, sender.Key.Id, sender.Key.Incarnation, view.RegionId, view.Number)
            .Write(packet, PacketKind.Announce, PacketFlags.None, 1 << 20, 0, 0);
        PacketTemplate.Seal(packet);
        Assert.True(liar.Multicast.Keys!.TrySeal(packet, packet.Length, out var sealedPacket));
        Inject(cluster, victim, sealedPacket.ToArray());

        Assert.Equal(1, victim.Multicast.Counters.Dropped(DropReason.NotAuthentic));
        Assert.All(victim.Multicast.Regions.Single().Streams, stream => Assert.True(stream.Highest < 1 << 20));
    }

    // It continues to listen, with all keys that it ever got.
    [Fact]
    public void A_removed_member_opens_nothing_of_the_views_after_its_removal_and_nothing_of_it_is_accepted()
    {
        var cluster = Running(10, new LinkModel(), Sealed);
        PublishAndRequire(cluster);
        var gone = cluster[2];
        var key = gone.Key;
        var old = gone.Multicast.Regions.Single().View;
        var keys = gone.Multicast.Keys!;
        cluster.Service.Remove(key);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));

        int opened = 0;
        int tried = 0;
        cluster.Simulation.Network.Filter = (link, datagram) =>
        {
            var header = new PacketHeader(datagram);
            if (link.From != gone.Node && (header.Region, header.View) != (old.RegionId, old.Number))
            {
                tried++;
                opened += keys.Open(datagram.ToArray()) == DropReason.None ? 1 : 0;
            }

            return false;
        };
        cluster[0].PublishAll(Topic, Messages, 500);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 2 * Messages));
        Assert.True(tried > 100);
        Assert.Equal(0, opened);
        Assert.Equal(Messages, gone.Log.Count);

        byte[] packet = new byte[PacketHeader.Bytes];
        new PacketTemplate(7, key.Id, key.Incarnation, old.RegionId, old.Number)
            .Write(packet, PacketKind.Announce, PacketFlags.None, 5, 0, 0);
        PacketTemplate.Seal(packet);
        Assert.True(keys.TrySeal(packet, packet.Length, out var sealedPacket));
        var counters = cluster[1].Multicast.Counters;
        long before = counters.Dropped(DropReason.UnknownSender) + counters.Dropped(DropReason.UnknownView);
        Inject(cluster, cluster[1], sealedPacket.ToArray());
        Assert.Equal(before + 1, counters.Dropped(DropReason.UnknownSender) + counters.Dropped(DropReason.UnknownView));
    }

    // Messages were published before the removal and lost, others waited for their turn, and the members settle the view by tokens: the
    // removed member has the key of this view.
    [Theory]
    [InlineData(11)]
    [InlineData(12)]
    [InlineData(13)]
    public void A_removed_member_opens_nothing_that_is_sent_after_its_removal_in_the_view_that_it_was_in(ulong seed)
    {
        var cluster = Running(seed, new LinkModel { Loss = 0.2 }, Sealed with { PacketsPerKeyEpoch = 100 });
        cluster[3].Subscribes(Topic);
        cluster.Commit();
        cluster[0].PublishAll(Topic, Messages, 500);
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count > Messages / 2));
        var gone = cluster[2];
        var old = gone.Multicast.Regions.Single().View;
        var keys = gone.Multicast.Keys!;
        cluster.Service.Remove(gone.Key);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));

        int tried = 0;
        int opened = 0;
        cluster.Simulation.Network.Filter = (link, datagram) =>
        {
            var header = new PacketHeader(datagram);
            if (link.From != gone.Node && (header.Region, header.View) == (old.RegionId, old.Number))
            {
                tried++;
                opened += keys.Open(datagram.ToArray()) == DropReason.None ? 1 : 0;
            }

            return false;
        };
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == Messages));
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.True(tried > 10, $"{tried} packets of the old view");
        Assert.Equal(0, opened);
        Assert.Equal(Messages, cluster[3].Log.Count);
        Assert.Equal(0, cluster.Hosts.Where(host => host != gone).Sum(host => host.Multicast.Counters.Keyless));
    }

    private static MulticastCluster Running(ulong seed, LinkModel link, MulticastOptions options)
    {
        var cluster = new MulticastCluster(seed, nodes: 4, link, options);
        cluster[0].Publishes(Topic);
        cluster[1].Subscribes(Topic);
        cluster[2].Subscribes(Topic);
        cluster.Commit();
        return cluster;
    }

    private static void PublishAndRequire(MulticastCluster cluster)
    {
        cluster[0].PublishAll(Topic, Messages, 500);
        var readers = cluster.Hosts.Skip(1).Take(2).ToList();
        Assert.True(cluster.RunUntil(() => readers.All(host => host.Log.Count >= Messages)));
        Assert.All(readers, host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, Messages));
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
