using QuickSilver.Groups;
using QuickSilver.Multicast;

namespace QuickSilver.Simulation.Tests.Clusters;

// How long members wait for a view while all of them send, from the moment at which the first of them has the configuration that decides
// it until all have the view. The bounds are above what is measured with the default link, and below the times for which members and the
// service collect what comes together: a flush waits for none of these.
public sealed class GroupFlushTests(ITestOutputHelper output)
{
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(8, "join", 3)]
    [InlineData(8, "leave", 3)]
    [InlineData(8, "failure", 6)]
    [InlineData(20, "join", 8)]
    [InlineData(20, "leave", 8)]
    [InlineData(20, "failure", 16)]
    // More senders than a token has room for.
    [InlineData(60, "join", 20)]
    public void Members_wait_for_rounds_of_their_ring_and_for_no_delay_of_the_service(int members, string change, int mostMilliseconds)
    {
        for (ulong seed = 1; seed <= (members > 20 ? 1UL : members > 8 ? 2UL : 8UL); seed++)
        {
            var took = Flush(members, change, seed);
            output.WriteLine($"seed {seed}: {took.TotalMilliseconds:F2} ms");
            Assert.InRange(took, TimeSpan.Zero, mostMilliseconds * Millisecond);
        }
    }

    // One more node than members: the one that joins, leaves or fails.
    private static TimeSpan Flush(int members, string change, ulong seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = members + 1, Seed = seed, TopicDelay = TimeSpan.Zero });
        cluster.Start();
        var others = cluster.Nodes.Take(members).ToList();
        int[] seen = new int[members + 1];
        TimeSpan last = default;
        var groups = cluster.Nodes.Take(change == "join" ? members : members + 1).Select(node =>
        {
            var group = cluster.RunUntilCompleted(node.Node.OpenGroupAsync<string>("flush"));
            group.SubscribeInline((in GroupEvent<string> one) =>
            {
                if (one.IsView)
                {
                    seen[node.Number] = one.View.Members.Count;
                    last = cluster.Now;
                }
            });
            return group;
        }).ToList();
        cluster.Run(2 * Second);
        foreach (var (node, group) in cluster.Nodes.Zip(groups))
        {
            node.Post(() => SendAsync(node, group, (members > 20 ? 20 : 3) * Millisecond));
        }

        cluster.Run(Second / 2);
        long before = Newest(others);
        switch (change)
        {
            case "join":
                _ = cluster.Nodes[members].Node.OpenGroupAsync<string>("flush");
                break;
            case "leave":
                _ = groups[members].DisposeAsync().AsTask();
                break;
            default:
                cluster.Nodes[members].Crash();
                break;
        }

        int expected = change == "join" ? members + 1 : members;
        Assert.True(cluster.RunUntil(() => Newest(others) > before, 60 * Second));
        var decided = cluster.Now;
        Assert.True(cluster.RunUntil(() => others.TrueForAll(node => seen[node.Number] == expected), 60 * Second));
        return last - decided;
    }

    private static async Task SendAsync(SimulatedNode node, IGroup<string> group, TimeSpan interval)
    {
        try
        {
            while (true)
            {
                await group.SendAsync("x");
                await Task.Delay(interval, node.Time);
            }
        }
        catch (ObjectDisposedException)
        {
        }
    }

    private static long Newest(List<SimulatedNode> nodes) =>
        nodes.Max(static node => ((MulticastNode)node.Life!.Parts.Multicast).Configuration);
}
