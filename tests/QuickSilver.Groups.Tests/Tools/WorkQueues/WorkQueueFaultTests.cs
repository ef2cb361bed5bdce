using QuickSilver.Groups.Tools;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Tools.WorkQueues;

// A queue on machines that crash, pause, lose packets and are cut off: all that was added is done in the end.
public sealed class WorkQueueFaultTests
{
    private const string Name = "queue";
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void All_that_was_added_is_done_whatever_fails(ulong seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = seed });
        var open = new Dictionary<int, IWorkQueue<string>>();
        var added = new HashSet<long>();
        var done = new HashSet<long>();
        bool isOver = false;
        cluster.Start(async node =>
        {
            try
            {
                var queue = await node.Node.OpenWorkQueueAsync<string>(
                    Name, WorkAsync, new WorkQueueOptions { Concurrency = 3, MaxAttempts = 1_000 });
                open[node.Number] = queue;
                while (!isOver)
                {
                    try
                    {
                        Assert.True(added.Add(await queue.EnqueueAsync($"of {node}")), "Two items have one id.");
                    }
                    catch (GroupOutcomeUnknownException)
                    {
                    }

                    await Task.Delay(TimeSpan.FromMilliseconds(node.Random.Next(50)), node.Time);
                }
            }
            catch (Exception exception) when (exception is QuickSilverException or ObjectDisposedException)
            {
                open.Remove(node.Number);
            }

            async ValueTask WorkAsync(WorkItem<string> item, CancellationToken stop)
            {
                await Task.Delay(TimeSpan.FromMilliseconds(node.Random.Next(30)), node.Time, stop);
                if (item.Attempt < 10 && node.Random.Next(10) == 0)
                {
                    throw new IOException("planned");
                }

                done.Add(item.Id);
            }
        });
        cluster.RunFaults();
        isOver = true;
        cluster.Heal();
        cluster.Run(TimeSpan.FromSeconds(40));
        cluster.Eventually(
            "all queues are empty", () => open.Count == 5 && open.Values.All(static one => one is { Waiting: 0, Running: 0 }), Limit);
        Assert.Empty(added.Except(done));
        Assert.True(added.Count > 10, $"{added.Count}");
    }
}
