using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Sending.Repairs;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Repair;

public sealed class RepairBudgetTests
{
    private const int Packet = 1_472;
    private const long Limit = 64L << 20;

    [Fact]
    public void One_that_asks_for_everything_leaves_others_what_they_need()
    {
        var (cluster, budget) = Budget();
        var (greedy, modest) = (new NodeKey(1, 1), new NodeKey(2, 1));
        int refused = 0;
        for (int step = 0; step < 1_000; step++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            TakeAll(budget, greedy);
            budget.For(modest);
            refused += TryTake(budget) ? 0 : 1;
        }

        Assert.Equal(0, refused);
    }

    [Fact]
    public void A_single_requester_gets_everything()
    {
        var (cluster, budget) = Budget();
        long sent = 0;
        for (int step = 0; step < 1_000; step++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            sent += TakeAll(budget, new NodeKey(1, 1));
        }

        Assert.InRange(sent * Packet, Limit * 0.95, Limit * 1.05);
    }

    [Fact]
    public void Ten_thousand_askers_are_not_kept_apart()
    {
        var (cluster, budget) = Budget();
        for (ulong asker = 1; asker <= 10_000; asker++)
        {
            budget.For(new NodeKey(asker, 1));
            TryTake(budget);
            cluster.Simulation.Run(TimeSpan.FromTicks(1));
        }

        Assert.InRange(budget.Askers, 1, 65);
    }

    [Fact]
    public void Ranges_that_overlap_are_looked_at_once_and_a_pull_only_so_far()
    {
        var budget = new AnswerBudget(256);
        long looked = 0;
        for (int i = 0; i < 100; i++)
        {
            var (first, last) = budget.Next(1, 1_000_000, oldest: 1, newest: 60_000);
            looked += Math.Max(0, last - first + 1);
        }

        Assert.InRange(looked, 256, 4 * 256);
        Assert.True(budget.IsSpent);
    }

    private static (MulticastCluster Cluster, RepairBudget Budget) Budget()
    {
        var cluster = new MulticastCluster(1, 1);
        var options = new MulticastOptions { ClusterId = 7, RepairBytesPerSecond = Limit };
        return (cluster, new RepairBudget(cluster[0].Node.Environment, options));
    }

    private static long TakeAll(RepairBudget budget, NodeKey asker)
    {
        long sent = 0;
        budget.For(asker);
        while (TryTake(budget))
        {
            sent++;
        }

        return sent;
    }

    private static bool TryTake(RepairBudget budget)
    {
        if (!budget.Allows())
        {
            return false;
        }

        budget.Charge(Packet);
        return true;
    }
}
