using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Tools.Locks;

// Locks and leaders on whole nodes: in memory with threads, and on simulated machines that fail, pause and are cut off.
public sealed class LockNetworkTests
{
    private const string Name = "lock";
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task One_of_many_callers_on_several_nodes_holds_the_lock()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        await using var first = await one.OpenLockAsync(Name, cancellationToken: Stop);
        await using var second = await two.OpenLockAsync(Name, cancellationToken: Stop);
        int inside = 0;
        int count = 0;
        FencingNumber highest = default;
        await Task.WhenAll(Enumerable.Range(0, 8).Select(i => WorkAsync(i % 2 == 0 ? first : second))).WaitAsync(Limit, Stop);
        Assert.Equal(200, count);

        async Task WorkAsync(IDistributedLock owned)
        {
            for (int i = 0; i < 25; i++)
            {
                await using var hold = await owned.AcquireAsync(Stop);
                Assert.Equal(1, Interlocked.Increment(ref inside));
                Assert.True(hold.FencingNumber > highest);
                highest = hold.FencingNumber;
                count++;
                await Task.Yield();
                Interlocked.Decrement(ref inside);
            }
        }
    }

    [Fact]
    public async Task Tools_of_different_kinds_have_no_name_in_common()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        await using var first = await one.OpenLockAsync(Name, cancellationToken: Stop);
        await Assert.ThrowsAsync<ContractMismatchException>(() => two.OpenLeaderAsync(Name, cancellationToken: Stop));
        await Assert.ThrowsAsync<ContractMismatchException>(() => two.OpenBarrierAsync(Name, 2, Stop));
        await Assert.ThrowsAsync<InvalidOperationException>(() => one.OpenLockAsync(Name, cancellationToken: Stop));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => two.OpenBarrierAsync("barrier", 0, Stop));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => two.OpenBarrierAsync("barrier", 10_001, Stop));
    }

    [Fact]
    public void Where_nodes_host_the_service_a_lock_and_a_leader_must_be_asked_for_on_purpose()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 2, Seed = 1, Membership = MembershipPlacement.Embedded });
        cluster.Start();
        var refused = cluster.Begin(0, static node => node.OpenLockAsync(Name));
        cluster.Eventually("it is refused", () => refused.IsCompleted);
        string message = Assert.IsType<NotSupportedException>(refused.Failure).Message;
        Assert.Contains("Run qsm gms", message, StringComparison.Ordinal);
        Assert.Contains("LockOptions.AllowHostedService", message, StringComparison.Ordinal);
        var leader = cluster.Begin(0, static node => node.OpenLeaderAsync(Name));
        cluster.Eventually("it is refused", () => leader.IsCompleted);
        message = Assert.IsType<NotSupportedException>(leader.Failure).Message;
        Assert.Contains("LeaderOptions.AllowHostedService", message, StringComparison.Ordinal);

        var allowed = cluster.Call(0, static node => node.OpenLockAsync(Name, new LockOptions { AllowHostedService = true }));
        Assert.NotNull(cluster.Call(0, _ => allowed.AcquireAsync().AsTask()));
    }

    [Fact]
    public void The_lock_of_a_node_that_fails_is_granted_to_the_next_and_a_member_that_joins_waits_behind()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 2);
        cluster.Start();
        var locks = Enumerable.Range(0, 3).Select(node => cluster.Call(node, static one => one.OpenLockAsync(Name))).ToArray();
        var held = cluster.Call(0, _ => locks[0].AcquireAsync().AsTask());
        var next = cluster.Begin(1, _ => locks[1].AcquireAsync().AsTask());
        cluster.Run(TimeSpan.FromSeconds(1));
        var third = cluster.Call(3, static one => one.OpenLockAsync(Name));
        Assert.Equal((cluster.Nodes[0].Node.Id, 1), (third.Holder, third.Waiting));
        var last = cluster.Begin(3, _ => third.AcquireAsync().AsTask());
        cluster.Run(TimeSpan.FromSeconds(1));
        cluster.Nodes[0].Crash();
        cluster.Eventually("the next has it", () => next.IsCompleted, Limit);
        Assert.False(last.IsCompleted);
        Assert.True(next.Result.FencingNumber > held.FencingNumber);
        cluster.Call(1, _ => next.Result.DisposeAsync().AsTask());
        cluster.Eventually("the last has it", () => last.IsCompleted, Limit);
        Assert.True(last.Result.FencingNumber > next.Result.FencingNumber);
    }

    [Fact]
    public void A_holder_that_is_cut_off_from_the_service_loses_the_lock_and_the_leadership()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 3);
        cluster.Start();
        var locks = Enumerable.Range(0, 4).Select(node => cluster.Call(node, static one => one.OpenLockAsync(Name))).ToArray();
        var leaders = Enumerable.Range(0, 4).Select(node => cluster.Call(node, static one => one.OpenLeaderAsync("leader"))).ToArray();
        Assert.True(leaders[0].IsLeader);
        long term = leaders[0].Term;
        var held = cluster.Call(0, _ => locks[0].AcquireAsync().AsTask());
        var next = cluster.Begin(1, _ => locks[1].AcquireAsync().AsTask());
        cluster.Network.Partition([0], [1, 2, 3, cluster.Service!.Value]);
        cluster.Eventually("it is lost", () => held.Lost.IsCancellationRequested, Limit);
        cluster.Eventually("it does not lead", () => !leaders[0].IsLeader, Limit);
        cluster.Eventually("the next has it", () => next.IsCompleted, Limit);
        Assert.True(next.Result.FencingNumber > held.FencingNumber);
        cluster.Eventually("the next leads", () => leaders[1].IsLeader, Limit);
        Assert.True(leaders[1].Term > term);
        Assert.Equal(leaders[1].Term, leaders[3].Term);
        cluster.Heal();
        cluster.Run(TimeSpan.FromSeconds(30));
        Assert.True(held.Lost.IsCancellationRequested);
        Assert.False(leaders[0].IsLeader);
        Assert.False(next.Result.Lost.IsCancellationRequested);
    }

    [Fact]
    public void A_leader_that_was_paused_for_long_does_not_lead_when_it_continues()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 4);
        cluster.Start();
        var leaders = Enumerable.Range(0, 3).Select(node => cluster.Call(node, static one => one.OpenLeaderAsync("leader"))).ToArray();
        long term = leaders[0].Term;
        var seen = new List<(bool IsLeader, TimeSpan At)>();
        cluster.Nodes[0].Post(async () =>
        {
            while (true)
            {
                seen.Add((leaders[0].IsLeader, cluster.Now));
                await Task.Delay(TimeSpan.FromMilliseconds(100), cluster.Nodes[0].Time);
            }
        });
        cluster.Run(TimeSpan.FromSeconds(1));
        cluster.Nodes[0].Pause();
        cluster.Eventually("the next leads", () => leaders[1].IsLeader, Limit);
        cluster.Run(TimeSpan.FromSeconds(5));
        var resumed = cluster.Now;
        cluster.Nodes[0].Resume();
        cluster.Run(TimeSpan.FromSeconds(5));
        Assert.True(leaders[1].Term > term);
        Assert.Contains(seen, one => one.IsLeader && one.At < resumed);
        Assert.Contains(seen, one => one.At > resumed);
        Assert.DoesNotContain(seen, one => one.IsLeader && one.At >= resumed);
    }

    [Fact]
    public void A_member_that_is_removed_from_its_group_and_comes_back_can_lock_again()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = 3, Membership = MembershipPlacement.Embedded });
        cluster.Start();
        var options = new LockOptions { AllowHostedService = true };
        var locks = Enumerable.Range(0, 5).Select(node => cluster.Call(node, one => one.OpenLockAsync(Name, options))).ToArray();
        var held = cluster.Call(4, _ => locks[4].AcquireAsync().AsTask());
        cluster.Network.Partition([0, 1, 2], [3, 4]);
        cluster.Run(TimeSpan.FromSeconds(40));
        cluster.Heal();
        cluster.Run(TimeSpan.FromSeconds(40));
        Assert.True(held.Lost.IsCancellationRequested);
        var again = cluster.Call(4, _ => locks[4].AcquireAsync().AsTask());
        Assert.False(again.Lost.IsCancellationRequested);
        Assert.True(again.FencingNumber > held.FencingNumber);
        cluster.Eventually("all know it", () => locks.All(one => one.Holder == cluster.Nodes[4].Node.Id), Limit);
    }

    [Fact]
    public async Task Members_on_threads_meet_at_a_barrier()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        await using var first = await one.OpenBarrierAsync("barrier", 2, Stop);
        await using var second = await two.OpenBarrierAsync("barrier", 2, Stop);
        await Task.WhenAll(RoundsAsync(first), RoundsAsync(second)).WaitAsync(Limit, Stop);
        Assert.Equal(0, first.Arrived);

        static async Task RoundsAsync(IGroupBarrier barrier)
        {
            for (int round = 1; round <= 50; round++)
            {
                Assert.Equal(round, await barrier.ArriveAsync(Stop));
            }
        }
    }

    [Fact]
    public async Task A_leader_that_leaves_hands_over_on_threads()
    {
        var network = new InMemoryNetwork();
        await using var one = await network.StartNodeAsync(cancellationToken: Stop);
        await using var two = await network.StartNodeAsync(cancellationToken: Stop);
        var first = await one.OpenLeaderAsync("leader", cancellationToken: Stop);
        await using var second = await two.OpenLeaderAsync("leader", cancellationToken: Stop);
        var before = await first.WaitForLeadershipAsync(Stop);
        var waiting = second.WaitForLeadershipAsync(Stop).AsTask();
        await first.DisposeAsync();
        var after = await waiting.WaitAsync(Limit, Stop);
        Assert.True(after.Term > before.Term);
        Assert.True(second.IsLeader);
        Assert.False(first.IsLeader);
    }
}
