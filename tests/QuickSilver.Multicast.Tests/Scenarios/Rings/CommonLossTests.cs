using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Tests.Scenarios.Rings;

// What many members have lost together is repaired by their rings, and by one collective NAK to the sender, instead of by the requests
// of each of them (I18 under F1). A sender outside of the view and 200 members in 40 partitions: rings of five at level 0, and two
// levels more.
public sealed class CommonLossTests
{
    private const ulong Topic = 1;
    private const int Members = 200;
    private const int Partitions = 40;
    private const int MessageBytes = 1_000;
    private const int Messages = 300;
    private const long Lost = 150;

    private static readonly PacketKeepers Keepers = new(Members, Members / Partitions);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_packet_that_a_whole_region_has_lost_is_sent_again_once_to_all(ulong seed)
    {
        var cluster = Running(seed);
        var watch = LoseOnce(cluster, _ => true);

        PublishAtRate(cluster);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == Messages)));

        Assert.Equal(Members, watch.Lost);
        Assert.InRange(cluster[0].Multicast.Counters.RepairsSent, 1, 2);
        Assert.InRange(Pulls(cluster), 0, 20);
        Assert.InRange(cluster[0].Multicast.Counters.CollectiveNaksReceived, 1, 20);
        var limit = RoundTrip(cluster) * 3;
        Assert.True(watch.HealedAt - watch.LostAt <= limit, $"{watch.HealedAt - watch.LostAt} is more than {limit}");
        Assert.All(Receivers(cluster), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, Messages));
    }

    // The last packet: nothing that comes later shows that it is missing.
    [Fact]
    public void A_packet_that_a_whole_region_has_lost_before_silence_is_sent_again_once_to_all()
    {
        var cluster = Running(seed: 4);
        cluster[0].PublishAll(Topic, 10, MessageBytes);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == 10)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        var watch = LoseOnce(cluster, _ => true, cluster[0].Multicast.Streams.Single().Last + 1);

        cluster[0].PublishAll(Topic, 1, MessageBytes);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == 11)));

        Assert.Equal(Members, watch.Lost);
        Assert.InRange(cluster[0].Multicast.Counters.RepairsSent, 1, 2);
        Assert.InRange(Pulls(cluster), 0, 20);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(7)]
    [InlineData(Partitions - 1)]
    public void A_packet_that_a_whole_partition_has_lost_comes_from_another_without_each_member_asking(int partition)
    {
        var cluster = Running(seed: 5);
        var (first, end) = Keepers.MembersOf(partition);
        var watch = LoseOnce(cluster, rank => rank >= first && rank < end);

        PublishAtRate(cluster);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == Messages)));

        Assert.Equal(end - first, watch.Lost);
        Assert.InRange(Pulls(cluster), 0, 2);
        Assert.InRange(cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsSent), end - first, (end - first) * 2);
        Assert.InRange(cluster[0].Multicast.Counters.RepairsSent, 0, 1);
    }

    // What one member alone has lost: another that has it is asked, once.
    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    [InlineData(42)]
    [InlineData(Members - 1)]
    public void A_packet_that_one_member_has_lost_is_asked_of_one_that_has_it(int rank)
    {
        var cluster = Running(seed: 6);
        var watch = LoseOnce(cluster, other => other == rank);

        PublishAtRate(cluster);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == Messages)));

        Assert.Equal(1, watch.Lost);
        Assert.Equal(1, Pulls(cluster));
        Assert.Equal(1, cluster.Hosts.Sum(host => host.Multicast.Counters.RepairsSent));
        Assert.Equal(0, cluster[0].Multicast.Counters.RepairsSent);
        Assert.True(watch.HealedAt - watch.LostAt <= RoundTrip(cluster));
    }

    private static MulticastCluster Running(ulong seed)
    {
        var cluster = new MulticastCluster(seed, 1 + Members, poolBlocks: 128)
        {
            Service = { Repair = new RepairRules(Members / Partitions, 16) },
        };
        cluster[0].Publishes(Topic);
        foreach (var host in Receivers(cluster))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        return cluster;
    }

    private static IEnumerable<Host> Receivers(MulticastCluster cluster) => cluster.Hosts.Skip(1);

    private static long Pulls(MulticastCluster cluster) => cluster.Hosts.Sum(host => host.Multicast.Counters.PullsSent);

    // A message each 100 microseconds, so that rings turn while there is more to come.
    private static void PublishAtRate(MulticastCluster cluster)
    {
        for (int i = 0; i < Messages; i++)
        {
            cluster[0].PublishAll(Topic, 1, MessageBytes);
            cluster.Simulation.Run(TimeSpan.FromMicroseconds(100));
        }
    }

    // What the members hold is reported to the sender by all levels in turn, each of which waits for its interval and then goes round.
    private static TimeSpan RoundTrip(MulticastCluster cluster)
    {
        var rings = Receivers(cluster)
            .SelectMany(host => host.Multicast.Regions).Select(region => (RingHierarchy)region.Stability)
            .MaxBy(rings => rings.LastRoundTrip)!;
        Assert.True(rings.LastRoundTrip > TimeSpan.Zero);
        return rings.LastRoundTrip + (rings.Shape.Levels * cluster.Options.TokenIntervalActive);
    }

    private static LossWatch LoseOnce(MulticastCluster cluster, Func<int, bool> ofRank, long number = Lost)
    {
        var watch = new LossWatch();
        var lost = new HashSet<int>();
        int missing = 0;
        cluster.Simulation.Network.Filter = (link, packet) =>
        {
            var header = new PacketHeader(packet);
            int rank = link.To.Number - 1;
            if (header.Kind != PacketKind.Data || header.Sequence != number || rank < 0 || !ofRank(rank) || !lost.Add(rank))
            {
                return false;
            }

            watch.Lost++;
            watch.LostAt = cluster.Simulation.Now;
            missing++;
            return true;
        };
        foreach (var host in Receivers(cluster))
        {
            host.Multicast.RepairWatch = new FilledWatch(() =>
            {
                missing--;
                watch.HealedAt = missing == 0 ? cluster.Simulation.Now : watch.HealedAt;
            });
        }

        return watch;
    }

    private sealed class LossWatch
    {
        public int Lost { get; set; }

        public TimeSpan LostAt { get; set; }

        public TimeSpan HealedAt { get; set; } = TimeSpan.MaxValue;
    }

    private sealed class FilledWatch(Action onFilled) : IRepairWatch
    {
        public void OnMissed(IStreamOfMember stream, long first, long last)
        {
        }

        public void OnAsked(IStreamOfMember stream, long first, long last, bool ofSender)
        {
        }

        public void OnFilled(IStreamOfMember stream, long number) => onFilled();
    }
}
