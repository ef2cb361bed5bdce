using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Tests.Scenarios.Rings;

// What some members lack for longer than the others hold it all, while its sender dies: only the keepers can still give it
// (I1 to I3, I11, I19 under F1, F4). A sender outside of the view, 12 members in 4 partitions, blocks of 8 packets.
public sealed class KeepersTests
{
    private const ulong Topic = 1;
    private const int Members = 12;
    private const int Replicas = 3;
    private const int Partitions = Members / Replicas;
    private const int MessageBytes = 1_000;
    // More than two blocks for each partition.
    private const int Messages = PacketKeepers.BlockPackets * Partitions * 3;

    private static readonly PacketKeepers Keepers = new(Members, Replicas);

    [Theory]
    [InlineData(0, 16)]
    [InlineData(1, 16)]
    [InlineData(2, 16)]
    [InlineData(3, 16)]
    [InlineData(0, 2)]
    [InlineData(3, 2)]
    public void A_member_gets_what_it_lacked_when_the_sender_died_from_the_partition_that_keeps_it(int partition, int ringSize)
    {
        var cluster = Running(ringSize);
        var unlucky = MembersOf((partition + 1) % Partitions)[0];
        var others = Receivers(cluster).Where(host => host != cluster[unlucky]).ToList();
        Lose(cluster, partition, at: [unlucky]);
        cluster[0].PublishAll(Topic, Messages, MessageBytes);
        Assert.True(cluster.RunUntil(() => others.All(host => host.Log.Count == Messages)));
        RunSomeRounds(cluster, unlucky);

        // The keepers have all of it, so the others have let it go.
        var lacked = KeptBy(partition, cluster);
        Assert.Equal(lacked, lacked.Where(StreamOf(cluster[unlucky], cluster[0].Key).Lacks));
        var notKept = others.Where(host => !MembersOf(partition).Contains(host.Node.Number));
        Assert.All(notKept, host => Assert.Empty(Held(host, cluster[0].Key, lacked)));

        SenderDiesAndLinksHeal(cluster, unlucky);
        AssertAllGotAll(cluster);
    }

    [Theory]
    [InlineData(0, 16)]
    [InlineData(1, 16)]
    [InlineData(2, 16)]
    [InlineData(3, 16)]
    [InlineData(0, 2)]
    [InlineData(3, 2)]
    public void The_others_keep_what_keepers_lack_until_the_keepers_have_it(int partition, int ringSize)
    {
        var cluster = Running(ringSize);
        int[] unlucky = MembersOf(partition);
        var others = Receivers(cluster).Where(host => !unlucky.Contains(host.Node.Number)).ToList();
        Lose(cluster, partition, unlucky);
        cluster[0].PublishAll(Topic, Messages, MessageBytes);
        Assert.True(cluster.RunUntil(() => others.All(host => host.Log.Count == Messages)));
        RunSomeRounds(cluster, unlucky[0]);

        var lacked = KeptBy(partition, cluster);
        Assert.All(unlucky, member => Assert.Equal(lacked, lacked.Where(StreamOf(cluster[member], cluster[0].Key).Lacks)));

        SenderDiesAndLinksHeal(cluster, unlucky[0]);
        AssertAllGotAll(cluster);
    }

    private static MulticastCluster Running(int ringSize)
    {
        var cluster = new MulticastCluster(seed: 11, 1 + Members) { Service = { Repair = new RepairRules(Replicas, ringSize) } };
        cluster[0].Publishes(Topic);
        foreach (var host in Receivers(cluster))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        return cluster;
    }

    private static IEnumerable<Host> Receivers(MulticastCluster cluster) => cluster.Hosts.Skip(1);

    // Their numbers: the sender has the first.
    private static int[] MembersOf(int partition)
    {
        var (first, end) = Keepers.MembersOf(partition);
        return [.. Enumerable.Range(1 + first, end - first)];
    }

    private static List<long> KeptBy(int partition, MulticastCluster cluster)
    {
        var packets = new List<long>();
        for (long n = 1; n <= cluster[0].Multicast.Streams.Single().Last; n++)
        {
            if (Keepers.KeeperOf(n) == partition)
            {
                packets.Add(n);
            }
        }

        return packets;
    }

    // Neither what a partition keeps nor repairs of it reach these members; tokens and the rest do.
    private static void Lose(MulticastCluster cluster, int partition, int[] at) =>
        cluster.Simulation.Network.Filter = (link, packet) => at.Contains(link.To.Number)
            && new PacketHeader(packet) is { Kind: PacketKind.Data } header
            && Keepers.KeeperOf(header.Sequence) == partition;

    private static void RunSomeRounds(MulticastCluster cluster, int member)
    {
        long before = cluster[member].Multicast.Counters.TokensSent;
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.True(cluster[member].Multicast.Counters.TokensSent >= before + 2, "two rounds went by");
    }

    private static void SenderDiesAndLinksHeal(MulticastCluster cluster, int member)
    {
        cluster.Simulation.Nodes[0].Crash();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster.Service.Remove(cluster[0].Key);
        RunSomeRounds(cluster, member);
        cluster.Simulation.Network.Filter = null;
    }

    private static void AssertAllGotAll(MulticastCluster cluster)
    {
        cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == Messages), seconds: 5);
        Assert.All(Receivers(cluster), host => Assert.Empty(host.Gaps));
        Assert.All(Receivers(cluster), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, Messages));
    }

    private static InboundStream StreamOf(Host host, NodeKey sender) =>
        host.Multicast.Regions.SelectMany(region => region.Streams).Single(stream => stream.Sender == sender);

    private static IEnumerable<long> Held(Host host, NodeKey sender, IEnumerable<long> packets)
    {
        var stream = StreamOf(host, sender);
        return packets.Where(n => stream.TryGetPacket(n, host.Key, TimeSpan.Zero, out _));
    }
}
