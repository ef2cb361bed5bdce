using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests;

// What a program sees of a group: on a network in memory, and on simulated clusters where the order of events matters.
public sealed class GroupTests
{
    private const string Name = "orders";
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Members_get_views_and_the_messages_of_all_in_one_order_on_a_network_in_memory()
    {
        var network = new InMemoryNetwork();
        await using var first = await network.StartNodeAsync(cancellationToken: Stop);
        await using var second = await network.StartNodeAsync(cancellationToken: Stop);
        await using var one = await first.OpenGroupAsync<string>(Name, cancellationToken: Stop);
        await using var other = await second.OpenGroupAsync<string>(Name, cancellationToken: Stop);
        string[] expected = [.. await ReadAsync(other, views: 1, messages: 0)];
        Assert.Equal([$"view of {first.Id}, {second.Id}"], expected);
        for (int i = 0; i < 20; i++)
        {
            await one.SendAsync($"one {i}", Stop);
            await other.SendAsync($"other {i}", Stop);
        }

        string[] atOne = [.. await ReadAsync(one, views: 2, messages: 40)];
        // Each reader begins with a view.
        string[] atOther = [.. await ReadAsync(other, views: 1, messages: 40)];
        Assert.Equal([$"view of {first.Id}", .. atOther], atOne);
    }

    [Fact]
    public async Task A_node_is_in_a_group_once_and_can_join_again_when_it_has_left()
    {
        var network = new InMemoryNetwork();
        await using var node = await network.StartNodeAsync(cancellationToken: Stop);
        var group = await node.OpenGroupAsync<string>(Name, cancellationToken: Stop);
        var refusal = await Assert.ThrowsAsync<InvalidOperationException>(() => node.OpenGroupAsync<string>(Name, cancellationToken: Stop));
        Assert.Equal($"This node has the group \"{Name}\" open already. Use what was opened, or dispose it first.", refusal.Message);
        await group.SendAsync("still usable", Stop);
        Assert.Equal("still usable", (await ReadAsync(group, views: 1, messages: 1))[^1]);

        await group.DisposeAsync();
        await using var again = await node.OpenGroupAsync<string>(Name, cancellationToken: Stop);
        await again.SendAsync("new", Stop);
        Assert.Equal([$"view of {node.Id}", "new"], await ReadAsync(again, views: 1, messages: 1));
    }

    [Fact]
    public async Task Options_and_arguments_are_checked_before_anything_is_opened()
    {
        var network = new InMemoryNetwork();
        await using var node = await network.StartNodeAsync(cancellationToken: Stop);
        var order = await Assert.ThrowsAsync<QuickSilverOptionsException>(
            () => node.OpenGroupAsync<string>(Name, new GroupOptions { Order = (GroupOrder)9 }, Stop));
        Assert.Equal("The option Order is 9. Allowed: Fifo, Causal, Total, Safe.", Assert.Single(order.Failures));
        await Assert.ThrowsAsync<QuickSilverOptionsException>(
            () => node.OpenGroupAsync<string>(Name, new GroupOptions { ReaderCapacity = 0 }, Stop));
        await Assert.ThrowsAsync<ArgumentException>(() => node.OpenGroupAsync<string>(Name, new GroupOptions<byte[]>(), Stop));
        await Assert.ThrowsAsync<ArgumentException>(() => node.OpenGroupAsync<string>("a*", cancellationToken: Stop));

        await using var group = await node.OpenGroupAsync<string>(Name, cancellationToken: Stop);
        await Assert.ThrowsAsync<ArgumentNullException>(() => group.SendAsync(null!, Stop).AsTask());
        await Assert.ThrowsAsync<QuickSilverOptionsException>(() => group.SendAsync("x", (GroupOrder)9, Stop).AsTask());
    }

    [Fact]
    public async Task A_topic_of_the_same_name_is_no_group_and_a_group_has_one_type()
    {
        var network = new InMemoryNetwork();
        await using var first = await network.StartNodeAsync(cancellationToken: Stop);
        await using var second = await network.StartNodeAsync(cancellationToken: Stop);
        await using var group = await first.OpenGroupAsync<string>(Name, cancellationToken: Stop);
        await Assert.ThrowsAsync<ContractMismatchException>(() => second.OpenTopicAsync<string>(Name, cancellationToken: Stop));
        await Assert.ThrowsAsync<ContractMismatchException>(() => second.OpenGroupAsync<byte[]>(Name, cancellationToken: Stop));
    }

    [Fact]
    public void A_reader_that_begins_late_gets_the_view_of_the_first_message_that_it_can_have()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        cluster.Start();
        var writer = Open(cluster, 0, capacity: 1024);
        var late = Open(cluster, 1, capacity: 8);
        // The other member has the view a moment later.
        cluster.Run(Second / 100);
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 100; i++)
            {
                await writer.SendAsync($"{i}");
            }
        });
        cluster.Run(Second);

        var events = new List<string>();
        long missing = 0;
        cluster.RunUntilCompleted(async () =>
        {
            await foreach (var one in late.ReadAllAsync(gap => missing += gap.Count))
            {
                events.Add(TextOf(one));
                if (events.Count == 9)
                {
                    break;
                }
            }
        });
        Assert.Equal($"view of {cluster.Nodes[0].Node.Id}, {cluster.Nodes[1].Node.Id}", events[0]);
        Assert.Equal(Enumerable.Range(92, 8).Select(static i => $"{i}"), events[1..]);
        Assert.True(missing >= 92, $"{missing} messages are reported as missing.");
    }

    [Fact]
    public void A_member_that_comes_back_is_new_to_the_others_and_begins_with_a_view()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 2);
        cluster.Start();
        IGroup<string>[] groups = [.. Enumerable.Range(0, 3).Select(node => Open(cluster, node, capacity: 1024))];
        var views = new List<GroupView>();
        groups[0].SubscribeInline((in GroupEvent<string> one) =>
        {
            if (one.IsView)
            {
                views.Add(one.View);
            }
        });
        cluster.Eventually("all are in a view", () => views is [.., { Members.Count: 3 }]);
        var before = cluster.Nodes[2].Node.Id;
        cluster.Nodes[2].Crash();
        cluster.Nodes[2].Start();
        cluster.Eventually("the node is back", () => cluster.Nodes[2].IsJoined);
        var again = Open(cluster, 2, capacity: 1024);
        var after = cluster.Nodes[2].Node.Id;
        cluster.Eventually("it is in a view without its life before", () => views[^1].RankOf(after) == 2);

        Assert.NotEqual(before, after);
        var joined = Assert.Single(views, view => view.Joined.Contains(after));
        Assert.Contains(before, Assert.Single(views, static view => view.Left.Count > 0).Left);
        GroupView? first = null;
        cluster.RunUntilCompleted(async () =>
        {
            await foreach (var one in again.ReadAllAsync())
            {
                first = one.View;
                break;
            }
        });
        Assert.Equal(joined.Members, first!.Members);
        Assert.Equal(first.Members, first.Joined);
        Assert.Empty(first.Left);
    }

    [Fact]
    public void While_the_member_that_orders_is_silent_the_status_names_it()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 3,
            Seed = 3,
            NodeOptions = new QuickSilverOptions { StallWarning = Second },
        });
        cluster.Start();
        IGroup<string>[] groups = [.. Enumerable.Range(0, 3).Select(node => Open(cluster, node, capacity: 1024))];
        var oldest = cluster.Nodes[0].Node.Id;
        groups[1].SubscribeInline(static (in GroupEvent<string> _) => { });
        cluster.RunUntilCompleted(() => groups[1].SendAsync("first").AsTask());
        cluster.Run(Second);
        cluster.Nodes[0].Pause();
        cluster.RunUntilCompleted(() => groups[1].SendAsync("waits").AsTask());

        cluster.Eventually("it is named", () => cluster.Nodes[1].Node.Status.Reasons.Any(reason =>
            reason.Kind == StatusReasonKind.ProtocolWaits
            && reason.Description.StartsWith("1 messages of group \"orders\" wait for their order", StringComparison.Ordinal)
            && reason.WaitsFor!.Contains(cluster.Nodes[1].Node.NameOf(oldest), StringComparison.Ordinal)));
        cluster.Nodes[0].Resume();
        cluster.Eventually("it has ended", () => cluster.Nodes[1].Node.Status.Reasons.Count == 0);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_order_moves_to_a_member_that_sends_alone_unless_the_oldest_keeps_it(bool orderFollowsTraffic)
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 4);
        cluster.Start();
        var options = new GroupOptions { OrderFollowsTraffic = orderFollowsTraffic };
        IGroup<string>[] groups =
            [.. cluster.Nodes.Select(node => cluster.RunUntilCompleted(node.Node.OpenGroupAsync<string>(Name, options)))];
        var got = groups.Select(static _ => new List<string>()).ToArray();
        for (int i = 0; i < groups.Length; i++)
        {
            var log = got[i];
            groups[i].SubscribeInline((in GroupEvent<string> one) => log.Add(TextOf(one)));
        }

        const int Messages = 100;
        for (int i = 0; i < Messages; i++)
        {
            cluster.RunUntilCompleted(() => groups[2].SendAsync($"{i}").AsTask());
            cluster.Run(TimeSpan.FromMilliseconds(1));
        }

        cluster.Run(Second);
        // It is paused for less than the time after which it counts as failed.
        cluster.Nodes[0].Pause();
        cluster.RunUntilCompleted(() => groups[2].SendAsync("last").AsTask());
        cluster.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(orderFollowsTraffic, got[1][^1] == "last");
        Assert.Equal(orderFollowsTraffic, got[2][^1] == "last");

        cluster.Nodes[0].Resume();
        cluster.Eventually("all have all", () => Array.TrueForAll(got, static log => log[^1] == "last"));
        Assert.Equal(got[2][^(Messages + 1)..], got[0][^(Messages + 1)..]);
        Assert.Equal(got[2][^(Messages + 1)..], got[1][^(Messages + 1)..]);
    }

    private static IGroup<string> Open(SimulatedCluster cluster, int node, int capacity) => cluster.RunUntilCompleted(
        cluster.Nodes[node].Node.OpenGroupAsync<string>(Name, new GroupOptions { ReaderCapacity = capacity }));

    private static async Task<List<string>> ReadAsync(IGroup<string> group, int views, int messages)
    {
        var events = new List<string>();
        using var limited = CancellationTokenSource.CreateLinkedTokenSource(Stop);
        limited.CancelAfter(Limit);
        await foreach (var one in group.ReadAllAsync(cancellationToken: limited.Token))
        {
            events.Add(TextOf(one));
            if (events.Count == views + messages)
            {
                break;
            }
        }

        return events;
    }

    private static string TextOf(GroupEvent<string> one) =>
        one.TryGetMessage(out string? message) ? message : $"view of {string.Join(", ", one.View.Members)}";
}
