using System.Collections.Concurrent;
using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Tools.WorkQueues;

// Work queues on whole nodes: in memory with threads, and on simulated machines that fail.
public sealed class WorkQueueNetworkTests
{
    private const string Name = "jobs";
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Members_share_the_work_and_a_member_that_leaves_gives_its_work_back()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        await using var three = await network.StartNodeAsync(cancellationToken: Stop);
        var done = new ConcurrentDictionary<long, NodeId>();
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var isBusy = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var options = new WorkQueueOptions { Concurrency = 4 };
        await using var first = await one.OpenWorkQueueAsync<string>(Name, cancellationToken: Stop);
        await using var second = await two.OpenWorkQueueAsync<string>(Name, WorkOf(two), options, Stop);
        var stuck = await three.OpenWorkQueueAsync<string>(
            Name,
            async (_, stop) =>
            {
                isBusy.TrySetResult();
                await Task.Delay(Timeout.Infinite, stop);
            },
            options,
            Stop);
        for (int i = 1; i <= 100; i++)
        {
            Assert.Equal(i, await first.EnqueueAsync($"{i}", Stop));
        }

        await isBusy.Task.WaitAsync(Limit, Stop);
        await stuck.DisposeAsync();
        await all.Task.WaitAsync(Limit, Stop);
        Assert.All(done.Values, node => Assert.Equal(two.Id, node));
        Assert.Empty(first.GetFailed());

        Func<WorkItem<string>, CancellationToken, ValueTask> WorkOf(QuickSilverNode node) => async (item, _) =>
        {
            await Task.Yield();
            Assert.Equal(1, item.Attempt);
            Assert.True(done.TryAdd(item.Id, node.Id));
            if (done.Count == 100)
            {
                all.TrySetResult();
            }
        };
    }

    [Fact]
    public async Task A_function_may_add_items_and_dispose_its_queue()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        IWorkQueue<string>? queue = null;
        queue = await one.OpenWorkQueueAsync<string>(
            Name,
            async (item, stop) =>
            {
                if (item.Id < 10)
                {
                    await queue!.EnqueueAsync("next", stop);
                }
                else
                {
                    await queue!.DisposeAsync();
                    ended.SetResult();
                }
            },
            cancellationToken: Stop);
        await queue.EnqueueAsync("first", Stop);
        await ended.Task.WaitAsync(Limit, Stop);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => queue.EnqueueAsync("late", Stop).AsTask());
    }

    [Fact]
    public async Task Options_are_checked()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        var wrong = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => one.OpenWorkQueueAsync<string>(
            Name, null, new WorkQueueOptions { Concurrency = 0, MaxAttempts = 1_001, Capacity = 100_001 }, Stop));
        Assert.Equal(
            [
                "The option Concurrency is 0. Allowed: 1 to 1,024.",
                "The option MaxAttempts is 1,001. Allowed: 1 to 1,000.",
                "The option Capacity is 100,001. Allowed: 1 to 100,000.",
            ],
            wrong.Failures);
        await Assert.ThrowsAsync<ArgumentException>(
            () => one.OpenWorkQueueAsync<string>(Name, null, new WorkQueueOptions<byte[]>(), Stop));
    }

    [Fact]
    public void The_work_of_machines_that_fail_is_done_by_others()
    {
        using var cluster = new SimulatedCluster(nodes: 5, seed: 1);
        cluster.Start();
        var done = new List<long>();
        var queues = new List<IWorkQueue<string>>();
        for (int node = 0; node < 4; node++)
        {
            int at = node;
            queues.Add(cluster.Call(node, one => one.OpenWorkQueueAsync<string>(
                Name,
                async (item, stop) =>
                {
                    await Task.Delay(TimeSpan.FromMilliseconds(200), cluster.Nodes[at].Time, stop);
                    done.Add(item.Id);
                },
                new WorkQueueOptions { Concurrency = 2 })));
        }

        for (int i = 1; i <= 40; i++)
        {
            Assert.Equal(i, cluster.Call(3, _ => queues[3].EnqueueAsync($"{i}").AsTask()));
        }

        cluster.Nodes[0].Crash();
        cluster.Nodes[1].Crash();
        var fifth = cluster.Call(4, static one => one.OpenWorkQueueAsync<string>(Name));
        cluster.Eventually("all is done", () => queues[3] is { Waiting: 0, Running: 0 }, Limit);
        Assert.Equal(Enumerable.Range(1, 40).Select(static i => (long)i), done.Distinct().Order());
        cluster.Eventually("all know it", () => fifth is { Waiting: 0, Running: 0 } && queues[2] is { Waiting: 0, Running: 0 }, Limit);
    }

    [Fact]
    public void Members_that_come_back_after_a_division_stop_what_they_work_on_and_work_again()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = 3, Membership = MembershipPlacement.Embedded });
        cluster.Start();
        var begun = new List<(int Node, WorkItem<string> Item)>();
        var stopped = new List<int>();
        bool isHeld = true;
        var queues = Enumerable.Range(0, 5).Select(node => cluster.Call(node, one => one.OpenWorkQueueAsync<string>(
            Name,
            async (item, stop) =>
            {
                begun.Add((node, item));
                using (stop.UnsafeRegister(_ => stopped.Add(node), null))
                {
                    while (isHeld && !stop.IsCancellationRequested)
                    {
                        await Task.Delay(TimeSpan.FromMilliseconds(100), cluster.Nodes[node].Time);
                    }
                }
            }))).ToArray();
        for (int i = 1; i <= 5; i++)
        {
            cluster.Call(0, _ => queues[0].EnqueueAsync($"{i}").AsTask());
        }

        cluster.Eventually("all work", () => begun.Count == 5, Limit);
        cluster.Network.Partition([0, 1, 2], [3, 4]);
        cluster.Run(TimeSpan.FromSeconds(40));
        cluster.Heal();
        cluster.Eventually("those that came back stop", () => stopped.Contains(3) && stopped.Contains(4), Limit);
        cluster.Eventually(
            "they work again", () => begun.Count(static one => one.Node >= 3 && one.Item.Attempt == 2) >= 2, Limit);
        isHeld = false;
        cluster.Eventually("all is done", () => queues.All(static one => one is { Waiting: 0, Running: 0 }), Limit);
        Assert.Equal(5, begun.Select(static one => one.Item.Id).Distinct().Count());
        Assert.DoesNotContain(0, stopped);
    }
}
