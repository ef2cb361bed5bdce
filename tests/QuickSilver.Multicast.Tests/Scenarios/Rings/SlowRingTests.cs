using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Rings;

// Where a round of the ring takes long, as in a large region or on machines that are short of time.
public sealed class SlowRingTests
{
    private const ulong Topic = 1;

    [Fact]
    public void A_round_that_takes_longer_than_the_longest_time_out_settles_what_was_sent()
    {
        var cluster = Cluster(subscribers: 5, TimeSpan.FromMilliseconds(400));
        cluster[0].PublishAll(Topic, 20, 1000);

        Assert.True(cluster.RunUntil(() => cluster[0].Sender(Topic).IsStable, seconds: 60));
    }

    [Fact]
    public void A_quiet_sender_announces_less_than_once_a_message_when_acknowledgements_take_long()
    {
        const int Messages = 40;
        var cluster = Cluster(subscribers: 5, TimeSpan.FromMilliseconds(15));
        for (int i = 0; i < Messages; i++)
        {
            cluster[0].PublishAll(Topic, 1, 100);
            cluster.Simulation.Run(TimeSpan.FromSeconds(0.4));
        }

        // A member that does not lead its ring gets the data, its tokens, the announcements, and its share of the probes of paths.
        var counters = cluster[5].Multicast.Counters;
        long probes = cluster[0].Multicast.Counters.PathProbes / 5;
        long announcements = counters.PacketsReceived - Messages - counters.TokensSent - probes;
        Assert.Equal(Messages, cluster[5].Log.Count);
        Assert.InRange(announcements, 1, Messages / 2);
    }

    private static MulticastCluster Cluster(int subscribers, TimeSpan delay)
    {
        var cluster = new MulticastCluster(1, subscribers + 1, new LinkModel { Delay = delay });
        cluster[0].Publishes(Topic);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        return cluster;
    }
}
