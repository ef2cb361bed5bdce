using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Rings;

// F2. A token is lost if any of its hops is: of a ring of sixteen on links that lose 5 %, more than every second one.
public sealed class LossyRingTests
{
    private const ulong Topic = 1;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Where_links_lose_a_twentieth_few_rounds_are_lost_and_acknowledgements_continue(ulong seed)
    {
        var cluster = new MulticastCluster(seed, 16, new LinkModel { Loss = 0.05 });
        cluster[0].Publishes(Topic);
        foreach (var host in cluster.Hosts)
        {
            host.Subscribes(Topic);
        }

        cluster.Commit();
        long before = 0;
        var sinceAck = 0.0;
        var longest = 0.0;
        for (double passed = 0; passed < 30; passed += 0.01)
        {
            cluster[0].OnCore(() => cluster[0].Publish(Topic, 200));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
            long acks = cluster[0].Multicast.Counters.AcksReceived;
            sinceAck = acks > before ? 0 : sinceAck + 0.01;
            longest = Math.Max(longest, sinceAck);
            before = acks;
        }

        Assert.True(longest < 1, $"no acknowledgement for {longest:0.00} s");
        Assert.True(before > 1_500, $"{before} acknowledgements");
    }
}
