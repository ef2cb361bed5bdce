using QuickSilver.Diagnostics.Figures;

namespace QuickSilver.Simulation.Tests.Clusters.States;

// The last value of each key, held by whole nodes, in virtual time. What joiners get under crashes is the campaign "States".
public sealed class StateTests
{
    private const string Name = "prices";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void All_nodes_have_what_one_has_set_and_one_that_comes_late_gets_all()
    {
        using var cluster = Started(4);
        var states = Enumerable.Range(0, 3).Select(node => Open(cluster, node)).ToList();
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 1000; i++)
            {
                await states[i % 3].SetAsync($"key {i % 400}", $"{i}");
            }

            Assert.True(await states[0].RemoveAsync("key 7"));
            Assert.False(await states[0].RemoveAsync("key 7"));
            Assert.False(states[0].TryGet("key 7", out _));
        });
        cluster.Eventually("all have all", () => states.All(static state => state.Count == 399));
        var late = Open(cluster, 3);
        Assert.Equal((399, true), (late.Count, late.IsComplete));
        Assert.Equal(states[0].GetSnapshot(), late.GetSnapshot());
        Assert.True(late.TryGet("key 399", out var last));
        Assert.Equal("799", last);
    }

    [Fact]
    public void Of_two_values_that_were_set_at_once_all_nodes_keep_the_same()
    {
        using var cluster = Started(3);
        var states = Enumerable.Range(0, 3).Select(node => Open(cluster, node)).ToList();
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 100; i++)
            {
                foreach (var state in states)
                {
                    await state.SetAsync($"{i}", $"of {states.IndexOf(state)}");
                }
            }
        });
        cluster.Run(Second);
        var highest = cluster.Nodes.MaxBy(static node => (node.Node.Id.Id, node.Node.Id.Incarnation))!.Number;
        Assert.All(states, state => Assert.Equal(states[0].GetSnapshot(), state.GetSnapshot()));
        Assert.True(states[0].TryGet("0", out var kept));
        Assert.Equal($"of {highest}", kept);
    }

    [Fact]
    public void Changes_begin_with_what_is_there_and_a_slow_reader_gets_the_last_value_of_each_key()
    {
        using var cluster = Started(2);
        var writer = Open(cluster, 0);
        cluster.RunUntilCompleted(async () =>
        {
            await writer.SetAsync("a", "1");
            await writer.SetAsync("b", "1");
        });
        var state = Open(cluster, 1);
        var changes = new List<StateChange<string, string>>();
        var release = new TaskCompletionSource();
        bool isOver = false;
        cluster.Nodes[1].Post(async () =>
        {
            await foreach (var change in state.WatchChangesAsync())
            {
                changes.Add(change);
                await release.Task;
            }

            isOver = true;
        });
        cluster.Eventually("the first is reported", () => changes.Count == 1);
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 2; i < 500; i++)
            {
                await writer.SetAsync("a", $"{i}");
            }

            await writer.SetAsync("c", "1");
            await writer.RemoveAsync("b");
        });
        cluster.Run(Second);
        cluster.RunUntilCompleted(() =>
        {
            release.SetResult();
            return Task.CompletedTask;
        });
        cluster.Eventually("the others are reported", () => changes.Count == 4);
        var origin = cluster.Nodes[0].Node.Id;
        Assert.Equal(
            [
                new StateChange<string, string>("a", "1", false, origin),
                new StateChange<string, string>("b", null, true, origin),
                new StateChange<string, string>("a", "499", false, origin),
                new StateChange<string, string>("c", "1", false, origin),
            ],
            changes);
        cluster.RunUntilCompleted(async () => await state.DisposeAsync());
        cluster.Eventually("the enumeration ends", () => isOver);
    }

    [Fact]
    public void A_state_has_no_more_keys_than_allowed_and_ends_where_others_set_twice_as_many()
    {
        using var cluster = Started(2);
        var small = Open(cluster, 0, new StateOptions { MaxKeys = 10 });
        var large = Open(cluster, 1);
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 10; i++)
            {
                await small.SetAsync($"{i}", "x");
            }

            var full = await Assert.ThrowsAsync<StateFullException>(async () => await small.SetAsync("10", "x"));
            Assert.Equal(10, full.Keys);
            await small.SetAsync("9", "y");
            await small.RemoveAsync("9");
            await small.SetAsync("10", "x");
        });
        cluster.Run(Second);
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 20; i++)
            {
                await large.SetAsync($"{i}", "z");
            }
        });
        cluster.Run(Second);
        Assert.Equal(20, small.Count);
        cluster.RunUntilCompleted(async () => await large.SetAsync("20", "z"));
        cluster.Run(Second);
        cluster.RunUntilCompleted(async () =>
        {
            await Assert.ThrowsAsync<StateFullException>(async () => await small.SetAsync("0", "x"));
        });
        Assert.Equal(21, large.Count);
    }

    [Fact]
    public void A_node_that_was_removed_is_notified_and_gets_all_when_it_opens_the_state_again()
    {
        using var cluster = Started(3);
        var states = Enumerable.Range(0, 3).Select(node => Open(cluster, node)).ToList();
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 100; i++)
            {
                await states[2].SetAsync($"{i}", "before");
            }
        });
        cluster.Eventually("all have it", () => states.All(static state => state.Count == 100));
        cluster.Nodes[2].Pause(Second * 60);
        cluster.Run(Second * 30);
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 50; i < 150; i++)
            {
                await states[0].SetAsync($"{i}", "meanwhile");
            }
        });
        cluster.Run(Second * 40);
        cluster.RunUntilCompleted(async () =>
        {
            await Assert.ThrowsAsync<NodeExpelledException>(async () => await states[2].SetAsync("x", "y"));
        });
        if (!cluster.Nodes[2].IsJoined || cluster.Nodes[2].Node.Status.State != NodeState.Running)
        {
            cluster.Nodes[2].Crash();
            cluster.Nodes[2].Start();
            cluster.Eventually("it is back", () => cluster.Nodes[2].IsJoined);
        }

        var again = Open(cluster, 2);
        Assert.Equal(150, again.Count);
        Assert.Equal(states[0].GetSnapshot(), again.GetSnapshot());
    }

    [Fact]
    public void A_joiner_whose_source_is_killed_in_the_middle_gets_all_from_another_one()
    {
        const int Keys = 5000;
        using var cluster = Started(4);
        var states = Enumerable.Range(0, 3).Select(node => Open(cluster, node)).ToList();
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < Keys; i++)
            {
                await states[i % 3].SetAsync($"{i}", new string('x', 200));
            }
        });
        cluster.Eventually("all have it", () => states.All(static state => state.Count == Keys));
        Task<IState<string, string>>? opening = null;
        cluster.Nodes[3].Post(() =>
        {
            opening = cluster.Nodes[3].Node.OpenStateAsync<string, string>(Name);
            return Task.CompletedTask;
        });

        // Its own content is not seen before it is open, so the packets of the giver are.
        var before = cluster.Nodes.Select(static node => node.Node.Read(NodeFigures.PacketsSent)).ToArray();
        int source = -1;
        cluster.Eventually("a node gives", () =>
        {
            for (int i = 0; i < 3; i++)
            {
                source = cluster.Nodes[i].Node.Read(NodeFigures.PacketsSent) - before[i] > 100 ? i : source;
            }

            return source >= 0;
        });
        Assert.False(opening!.IsCompleted);
        cluster.Nodes[source].Crash(silently: true);
        var state = cluster.RunUntilCompleted(opening!);
        Assert.Equal((Keys, true), (state.Count, state.IsComplete));
    }

    [Fact]
    public void Nodes_that_open_it_at_the_same_time_are_complete_and_a_node_opens_it_once()
    {
        using var cluster = Started(5);
        cluster.RunUntilCompleted(async () =>
        {
            var states = await Task.WhenAll(cluster.Nodes.Select(static node => node.Node.OpenStateAsync<string, string>(Name)));
            await Assert.ThrowsAsync<InvalidOperationException>(() => cluster.Nodes[0].Node.OpenStateAsync<string, string>(Name));
            await states[0].DisposeAsync();
            await states[0].DisposeAsync();
            await Assert.ThrowsAsync<ObjectDisposedException>(async () => await states[0].SetAsync("x", "y"));
            await states[1].SetAsync("x", "y");
            var again = await cluster.Nodes[0].Node.OpenStateAsync<string, string>(Name);
            Assert.Equal(1, again.Count);
        });
        Assert.Throws<NotSupportedException>(() => { _ = cluster.Nodes[0].Node.OpenStateAsync<byte[], string>("bytes"); });
    }

    [Fact]
    public void After_a_partition_both_sides_have_what_either_side_has_set()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 5,
            Seed = 9,
            Membership = MembershipPlacement.Embedded,
        });
        cluster.Start();
        var states = Enumerable.Range(0, 5).Select(node => Open(cluster, node)).ToList();
        cluster.RunUntilCompleted(async () => await states[0].SetAsync("both", "before"));
        cluster.Run(Second);
        cluster.Network.Partition([0, 1, 2], [3, 4]);
        cluster.Run(Second * 30);
        foreach (int node in (int[])[0, 3])
        {
            cluster.Nodes[node].Post(async () =>
            {
                for (int i = 0; i < 100; i++)
                {
                    await states[node].SetAsync($"{node} {i}", "apart");
                }
            });
        }

        cluster.Run(Second * 5);
        cluster.Network.Reconnect();
        cluster.Eventually("all have all", () => states.All(static state => state.Count == 201 && state.IsComplete), Second * 120);
        Assert.All(states, state => Assert.Equal(states[0].GetSnapshot(), state.GetSnapshot()));
    }

    private static SimulatedCluster Started(int nodes)
    {
        var cluster = new SimulatedCluster(nodes, seed: 5);
        cluster.Start();
        return cluster;
    }

    private static IState<string, string> Open(SimulatedCluster cluster, int node, StateOptions? options = null) =>
        cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenStateAsync<string, string>(Name, options));
}
