using QuickSilver.Groups.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests;

// The orders of a group on simulated clusters.
public sealed class GroupOrderTests
{
    private static readonly GroupOrder[] AllOrders = [GroupOrder.Fifo, GroupOrder.Causal, GroupOrder.Total, GroupOrder.Safe];

    [Fact]
    public void All_members_get_the_same_messages_in_one_order()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 1);
        var run = new GroupRun(cluster, GroupOrder.Total);
        run.Start();
        cluster.Run(TimeSpan.FromSeconds(3));
        run.End();
        Assert.All(run.Logs, static log => Assert.True(log.Messages > 500, $"{log} got {log.Messages} messages."));
    }

    // Otherwise the tests of the order would prove nothing.
    [Fact]
    public void In_the_order_of_senders_members_get_messages_of_different_senders_differently()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 4,
            Seed = 1,
            Link = new LinkModel { Jitter = TimeSpan.FromMilliseconds(5), Loss = 0.05 },
        });
        var run = new GroupRun(cluster, GroupOrder.Fifo);
        run.Start();
        cluster.Run(TimeSpan.FromSeconds(3));
        run.End();
        Assert.Contains(run.Logs, log => !log.Last!.Messages.SequenceEqual(run.Logs[0].Last!.Messages));
    }

    [Fact]
    public void Orders_and_views_are_the_same_at_all_members_despite_faults()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            RunSeed(seed);
        }
    }

    [Fact]
    public void A_seed_gives_the_same_run() => Assert.Equal(RunSeed(3), RunSeed(3));

    private static ulong RunSeed(ulong seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = seed, Faults = new FaultPlan() });
        try
        {
            var run = new GroupRun(cluster, AllOrders);
            run.Start();
            cluster.RunFaults();
            run.End();
            return cluster.TraceHash;
        }
        catch (Exception exception)
        {
            throw new InvalidOperationException($"Seed {seed} failed.\n{cluster.Faults}\n{exception.Message}", exception);
        }
    }
}
