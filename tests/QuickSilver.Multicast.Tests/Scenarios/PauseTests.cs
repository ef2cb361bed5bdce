using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// A node of a busy region is paused, and continues (F6).
public sealed class PauseTests
{
    private const ulong Topic = 1;
    private const int Nodes = 6;

    // The sender, which is the last to learn of acknowledgements; the leader of the ring; one beside it; one in the middle.
    public static TheoryData<double, int> Cases
    {
        get
        {
            var cases = new TheoryData<double, int>();
            foreach (double seconds in new[] { 1.0, 3.0, 8.0 })
            {
                foreach (int node in new[] { 0, 1, 2, 4 })
                {
                    cases.Add(seconds, node);
                }
            }

            return cases;
        }
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void A_node_that_was_paused_suspects_no_node_when_it_continues(double seconds, int node)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var cluster = Busy(seed);
            PauseOne(cluster, node, seconds);
            RunBusy(cluster, 2);
            Assert.Empty(cluster[node].Membership.Suspects);
            Assert.True(cluster[node].Multicast.Counters.Stalls == 0, "It reported a stall that was its own.");
        }
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void Its_ring_neighbours_are_notified_and_soon_suspect_it_no_more(double seconds, int node)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            var cluster = Busy(seed);
            PauseOne(cluster, node, seconds);
            RunBusy(cluster, 0.1);
            // A publisher that is no member has no ring. A member of this cluster, which has no heartbeats, has no alarm within a second.
            if (seconds > 1)
            {
                Assert.Equal(node != 0, cluster.Hosts.Any(host => host.Multicast.Counters.PausesReported > 0));
            }

            cluster.Hosts.ForEach(host => host.Membership.Suspects.Clear());
            RunBusy(cluster, 2);
            Assert.All(cluster.Hosts, host => Assert.Empty(host.Membership.Suspects));
        }
    }

    [Theory]
    [MemberData(nameof(Cases))]
    public void Tokens_go_round_as_before_at_once(double seconds, int node)
    {
        var cluster = Busy(seed: 3);
        var before = Leader(cluster).LastRoundTrip;
        PauseOne(cluster, node, seconds);
        RunBusy(cluster, 0.05);
        long timeouts = Timeouts(cluster);
        for (int i = 0; i < 50; i++)
        {
            RunBusy(cluster, 0.02);
            Assert.InRange(Leader(cluster).LastRoundTrip, TimeSpan.FromTicks(1), before * 4);
        }

        Assert.Equal(timeouts, Timeouts(cluster));
        Assert.True(cluster.RunUntil(() => cluster[0].Sender(Topic).IsStable, seconds: 5));
    }

    [Fact]
    public void A_run_with_pauses_is_the_same_again()
    {
        ulong Trace()
        {
            var cluster = Busy(seed: 9);
            PauseOne(cluster, 2, 1);
            RunBusy(cluster, 1);
            return cluster.Simulation.Trace.Value;
        }

        Assert.Equal(Trace(), Trace());
    }

    private static MulticastCluster Busy(ulong seed)
    {
        var cluster = new MulticastCluster(seed, Nodes, new LinkModel());
        cluster[0].Publishes(Topic);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        RunBusy(cluster, 0.5);
        return cluster;
    }

    private static void PauseOne(MulticastCluster cluster, int node, double seconds)
    {
        cluster[node].Node.Pause();
        RunBusy(cluster, seconds);
        cluster[node].Node.Resume();
    }

    // A few messages every 10 ms.
    private static void RunBusy(MulticastCluster cluster, double seconds)
    {
        for (double passed = 0; passed < seconds; passed += 0.01)
        {
            cluster[0].OnCore(() =>
            {
                for (int i = 0; i < 3; i++)
                {
                    cluster[0].Publish(Topic, 200);
                }
            });
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        }
    }

    private static RingHierarchy Leader(MulticastCluster cluster) =>
        (RingHierarchy)cluster[1].Multicast.Regions.Single().Stability;

    private static long Timeouts(MulticastCluster cluster) => cluster.Hosts.Sum(host => host.Multicast.Counters.TokenTimeouts);
}
