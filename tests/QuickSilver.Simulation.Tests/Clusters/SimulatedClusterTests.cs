namespace QuickSilver.Simulation.Tests.Clusters;

// The public face: whole nodes with topics and their user's code, as a test of a user drives them.
public sealed class SimulatedClusterTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(MembershipPlacement.Dedicated)]
    [InlineData(MembershipPlacement.Embedded)]
    public void Every_node_receives_what_one_node_publishes(MembershipPlacement membership)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = 4, Membership = membership });
        var got = Heard(cluster);
        cluster.Start(Listen(got));
        var topic = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>("news"));
        cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(5));
        cluster.RunUntilCompleted(topic.PublishAsync("one"));
        cluster.RunUntilCompleted(topic.PublishAsync("two", PublishCompletion.Stable));
        Assert.All(got, lines => Assert.Equal(["one", "two"], lines));
    }

    [Fact]
    public void One_seed_is_one_run_and_another_seed_another()
    {
        static ulong TraceOf(ulong seed)
        {
            using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 4, Seed = seed });
            cluster.Start(Chatter(Heard(cluster)));
            cluster.RunFaults();
            cluster.Run(Second);
            return cluster.TraceHash;
        }

        Assert.Equal(TraceOf(7), TraceOf(7));
        Assert.NotEqual(TraceOf(7), TraceOf(8));
    }

    [Fact]
    public void Faults_come_to_an_end_and_then_everything_gets_through()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 5, Seed = 3 });
        var got = Heard(cluster);
        cluster.Start(Listen(got));
        cluster.RunFaults();
        Assert.NotNull(cluster.Faults);
        Assert.All(cluster.Nodes, node => Assert.True(node.IsUp && !node.IsPaused));
        cluster.Eventually("all have joined", () => cluster.Nodes.All(node => node.IsJoined));
        Assert.Contains(cluster.Nodes, node => node.Lives > 1);
        var topic = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>("news"));
        cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(5));
        cluster.RunUntilCompleted(topic.PublishAsync("after"));
        cluster.Eventually("all have heard", () => got.All(lines => lines.Contains("after")));
    }

    [Fact]
    public void A_written_schedule_happens_at_its_times()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 1);
        cluster.Start();
        var begun = cluster.Now;
        TimeSpan crashed = default, paused = default;
        cluster.Always("noted", () =>
        {
            crashed = crashed == default && !cluster.Nodes[1].IsUp ? cluster.Now - begun : crashed;
            paused = paused == default && cluster.Nodes[2].IsPaused ? cluster.Now - begun : paused;
            return true;
        });
        cluster.RunFaults(new FaultSchedule()
            .At(Second * 2, "node 1 loses power", c => c.Nodes[1].Crash(silently: true))
            .At(Second, "node 2 pauses", c => c.Nodes[2].Pause(Second))
            .HealAt(Second * 4));
        Assert.InRange(crashed, Second * 2, Second * 2.1);
        Assert.InRange(paused, Second, Second * 1.1);
        Assert.Equal(begun + (Second * 4), cluster.Now);
        Assert.True(cluster.Nodes[1].IsUp);
        cluster.Eventually("node 1 is back", () => cluster.Nodes[1].IsJoined);
        Assert.Equal(2, cluster.Nodes[1].Lives);
    }

    [Fact]
    public void The_application_runs_again_in_each_life_of_its_node()
    {
        var lives = new List<string>();
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        cluster.Start(node =>
        {
            lives.Add($"{node.Number}.{node.Lives}");
            return Task.CompletedTask;
        });
        cluster.Nodes[1].Crash();
        cluster.Nodes[1].Start();
        cluster.Eventually("it is back", () => cluster.Nodes[1].IsJoined);
        Assert.Equal(["0.1", "1.1", "1.2"], lives.Order());
    }

    [Fact]
    public void A_paused_process_continues_later_and_a_dead_one_never()
    {
        var ticks = new int[2];
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        cluster.Start(async node =>
        {
            while (true)
            {
                await Task.Delay(Second, node.Time);
                ticks[node.Number]++;
            }
        });
        cluster.Run(Second * 5.5);
        Assert.All(ticks, count => Assert.Equal(5, count));
        cluster.Nodes[0].Pause();
        cluster.Nodes[1].Crash();
        cluster.Run(Second * 5);
        Assert.All(ticks, count => Assert.Equal(5, count));
        cluster.Nodes[0].Resume();
        cluster.Run(Second);
        Assert.InRange(ticks[0], 6, 7);
        Assert.Equal(5, ticks[1]);
    }

    [Fact]
    public void Options_of_nodes_that_change_after_the_cluster_was_created_have_no_effect()
    {
        var options = new QuickSilverOptions { Name = "first" };
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 1, NodeOptions = options });
        options.Name = "second";
        options.Limits.BufferBytes = 0;
        cluster.Start();
        cluster.Run(Second);
        Assert.Equal("first", cluster.Nodes[0].Node.NameOf(cluster.Nodes[0].Node.Id));
    }

    [Fact]
    public void Nodes_that_are_not_started_join_when_they_are()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 4, StartedNodes = 2 });
        cluster.Start();
        cluster.Heal();
        cluster.Run(Second);
        Assert.Equal([true, true, false, false], cluster.Nodes.Select(node => node.IsJoined));
        cluster.Nodes[3].Start();
        cluster.Eventually("it has joined", () => cluster.Nodes[3].IsJoined);
        Assert.False(cluster.Nodes[2].IsUp);
        Assert.Throws<InvalidOperationException>(() => cluster.Nodes[2].Node);
        Assert.Throws<InvalidOperationException>(() => cluster.Nodes[2].Time);
    }

    [Fact]
    public void A_node_that_the_service_removes_is_restarted()
    {
        var options = new SimulationOptions
        {
            NodeOptions = new QuickSilverOptions { Membership = { Hosted = { HeartbeatInterval = TimeSpan.FromMilliseconds(100) } } },
        };
        using var cluster = new SimulatedCluster(options);
        var got = Heard(cluster);
        cluster.Start(Chatter(got));
        cluster.Nodes[2].Pause(Second * 10);
        cluster.Run(Second * 10.5);
        cluster.Eventually("it is back", () => cluster.Nodes[2].IsJoined);
        Assert.Equal(2, cluster.Nodes[2].Lives);
    }

    [Fact]
    public void A_wrong_option_is_refused()
    {
        Assert.Throws<ArgumentException>(() => new SimulatedCluster(nodes: 0, seed: 1));
        Assert.Throws<ArgumentException>(() => new SimulatedCluster(new SimulationOptions { Nodes = 2, StartedNodes = 3 }));
        Assert.Throws<QuickSilverOptionsException>(
            () => new SimulatedCluster(new SimulationOptions { NodeOptions = new QuickSilverOptions { PacketBytes = 1 } }));
        Assert.Throws<ArgumentOutOfRangeException>(() => new LinkModel { Loss = 2 });
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        Assert.Throws<ArgumentOutOfRangeException>(() => cluster.Network.Link(0, 9));
        Assert.Throws<ArgumentOutOfRangeException>(() => new NodeModel { InboundLoss = -1 });
        Assert.Throws<ArgumentNullException>(() => cluster.Nodes[0].Model = null!);
        cluster.Start();
        Assert.Throws<InvalidOperationException>(() => cluster.Start());
    }

    [Fact]
    public void Chance_is_the_seeds()
    {
        static int[] Draw(ulong seed)
        {
            using var cluster = new SimulatedCluster(nodes: 2, seed);
            cluster.Start();
            Assert.InRange(cluster.Random.Next(5, 8), 5, 7);
            Assert.InRange(cluster.Random.NextInt64(-4, 2), -4, 1);
            Assert.InRange(cluster.Random.NextDouble(), 0, 1);
            int[] shuffled = [1, 2, 3, 4, 5, 6, 7, 8];
            cluster.Random.Shuffle(shuffled);
            return [.. shuffled, cluster.Random.Next(), cluster.Nodes[0].Random.Next(), cluster.Nodes[1].Random.Next()];
        }

        Assert.Equal(Draw(1), Draw(1));
        Assert.NotEqual(Draw(1), Draw(2));
        Assert.NotEqual(Draw(1)[^1], Draw(1)[^2]);
    }

    private static List<string>[] Heard(SimulatedCluster cluster) => [.. cluster.Nodes.Select(_ => new List<string>())];

    private static Func<SimulatedNode, Task> Listen(List<string>[] got) => async node =>
    {
        var topic = await node.Node.OpenSubscriberAsync<string>("news");
        topic.SubscribeInline((in message) => got[node.Number].Add(message.Value));
    };

    private static Func<SimulatedNode, Task> Chatter(List<string>[] got) => async node =>
    {
        var topic = await node.Node.OpenTopicAsync<string>("news");
        topic.SubscribeInline((in message) => got[node.Number].Add(message.Value));
        for (int i = 0; ; i++)
        {
            await topic.PublishAsync($"{node.Number}.{node.Lives}: {i}");
            await Task.Delay(TimeSpan.FromMilliseconds(node.Random.Next(1, 50)), node.Time);
        }
    };
}
