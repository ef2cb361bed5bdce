using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests;

// Nodes that send to a group and are no members: their messages have a place in the order, and members answer them.
public sealed class GroupSenderTests
{
    private const string Name = "orders";
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan Long = TimeSpan.FromDays(1);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void All_members_get_its_messages_in_one_order_with_those_of_members(ulong seed)
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 4, Seed = seed, Link = new LinkModel { Loss = 0.05 } });
        cluster.Start();
        var members = Join(cluster, 3);
        var sender = OpenSender(cluster, 3);
        var orders = Enum.GetValues<GroupOrder>();
        const int Messages = 60;
        for (int i = 0; i < Messages; i++)
        {
            int number = i;
            cluster.RunUntilCompleted(() => sender.SendAsync($"sender {number}", orders[number % orders.Length]).AsTask());
            cluster.RunUntilCompleted(() => members[number % 3].Group.SendAsync($"member {number}").AsTask());
            cluster.Run(cluster.Random.NextDouble() * Millisecond);
        }

        cluster.Eventually("all have all", () => members.All(static one => one.Texts.Count == 2 * Messages));
        Assert.All(members, one => Assert.Equal(members[0].Ordered, one.Ordered));
        Assert.All(members, static one => Assert.Equal(
            Enumerable.Range(0, Messages).Select(static number => $"sender {number}"), one.Texts.Where(static text => text[0] == 's')));
    }

    [Fact]
    public void All_members_answer_it_and_one_that_fails_is_reported_as_left()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 7);
        cluster.Start();
        var members = Join(cluster, 3);
        var sender = OpenSender(cluster, 3);
        members[0].Answer = members[1].Answer = members[2].Answer = static question => question.ReplyAsync("yes");

        var replies = Ask(cluster, sender);
        Assert.Equal(3, replies.Count(static one => one.IsAnswer));
        Assert.Equivalent(members.Select(static one => one.Id), replies.Select(static one => one.Member));

        var ofRank = Assert.Single(Ask(cluster, sender, new QuestionOptions { Repliers = GroupRepliers.Rank(1) }));
        Assert.Equal(members[1].Id, ofRank.Member);

        members[2].Answer = _ =>
        {
            cluster.After(TimeSpan.Zero, () => cluster.Nodes[2].Crash());
            return default;
        };
        replies = Ask(cluster, sender, new QuestionOptions { Timeout = Long });
        Assert.Equal(2, replies.Count(static one => one.IsAnswer));
        Assert.Equal((members[2].Id, GroupReplyOutcome.Left), (replies[^1].Member, replies[^1].Outcome));
    }

    [Fact]
    public void A_member_that_leaves_or_begins_again_before_it_answers_is_reported_as_left()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 8);
        cluster.Start();
        var members = Join(cluster, 3);
        var sender = OpenSender(cluster, 3);
        members[0].Answer = static question => question.ReplyAsync("yes");
        Task<List<GroupReply<string>>>? asking = null;
        cluster.After(TimeSpan.Zero, () => asking = AskAsync(sender, new QuestionOptions { Timeout = Long }));
        cluster.Eventually("all were asked", () => members.All(static one => one.Questions == 1));
        cluster.RunUntilCompleted(() => members[1].Group.DisposeAsync().AsTask());
        cluster.RunUntilCompleted(() => members[2].Group.DisposeAsync().AsTask());
        cluster.RunUntilCompleted(cluster.Nodes[2].Node.OpenGroupAsync<string>(Name));

        var replies = cluster.RunUntilCompleted(asking!);
        Assert.Equal(2, replies.Count(static one => one.Outcome == GroupReplyOutcome.Left));
        Assert.Single(replies, static one => one.IsAnswer);
    }

    [Fact]
    public void A_group_without_members_has_no_answers()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 9);
        cluster.Start();
        var sender = OpenSender(cluster, 1);
        Assert.Empty(Ask(cluster, sender, new QuestionOptions { Timeout = Long }));
        Assert.Throws<ArgumentOutOfRangeException>(() => Ask(cluster, sender, new QuestionOptions { Repliers = GroupRepliers.Rank(0) }));

        var members = Join(cluster, 1);
        members[0].Answer = static question => question.ReplyAsync("yes");
        // The sender, which gets no views, has the configuration a moment after the member.
        cluster.Run(TimeSpan.FromMilliseconds(10));
        Assert.Single(Ask(cluster, sender));
        cluster.RunUntilCompleted(() => members[0].Group.DisposeAsync().AsTask());
        Assert.Empty(Ask(cluster, sender, new QuestionOptions { Timeout = Long }));
    }

    // The sender came first, so its contract is the oldest one.
    [Fact]
    public void Its_members_say_whether_a_group_has_a_state()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 10);
        cluster.Start();
        var sender = OpenSender(cluster, 2);
        var counter = cluster.Call(0, static node => node.OpenGroupAsync<string, string>(Name, "", Append));
        cluster.RunUntilCompleted(() => sender.SendAsync("a").AsTask());
        cluster.Eventually("it has the message", () => counter.State == "a");
        var refusal = Assert.Throws<ContractMismatchException>(
            () => cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenGroupAsync<string>(Name)));
        Assert.Contains("state=1", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Its_members_say_whether_a_group_has_a_state_on_a_network_in_memory()
    {
        var network = new InMemoryNetwork();
        await using var first = await network.StartNodeAsync(cancellationToken: Stop);
        await using var second = await network.StartNodeAsync(cancellationToken: Stop);
        await using var third = await network.StartNodeAsync(cancellationToken: Stop);
        await using var early = await first.OpenGroupSenderAsync<string>(Name, cancellationToken: Stop);
        await using var state = await second.OpenGroupAsync<string, string>(Name, "", Append, cancellationToken: Stop);
        await Assert.ThrowsAsync<ContractMismatchException>(() => third.OpenGroupAsync<string>(Name, cancellationToken: Stop));
        await Assert.ThrowsAsync<ContractMismatchException>(() => third.OpenGroupSenderAsync<byte[]>(Name, cancellationToken: Stop));
        await early.SendAsync("a", Stop);
        await early.DrainAsync(Stop);
        while (state.State != "a")
        {
            await Task.Delay(Millisecond, Stop);
        }
    }

    [Fact]
    public async Task A_node_has_a_group_open_once_as_a_member_or_to_send()
    {
        var network = new InMemoryNetwork();
        await using var node = await network.StartNodeAsync(cancellationToken: Stop);
        var sender = await node.OpenGroupSenderAsync<string>(Name, cancellationToken: Stop);
        await Assert.ThrowsAsync<InvalidOperationException>(() => node.OpenGroupAsync<string>(Name, cancellationToken: Stop));
        await sender.SendAsync("still usable", Stop);
        await sender.DisposeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => sender.SendAsync("late", Stop).AsTask());

        await using var member = await node.OpenGroupAsync<string>(Name, cancellationToken: Stop);
        await Assert.ThrowsAsync<InvalidOperationException>(() => node.OpenGroupSenderAsync<string>(Name, cancellationToken: Stop));
        await member.SendAsync("still usable", Stop);
    }

    private static string Append(string state, GroupEvent<string> one) => one.TryGetMessage(out string? text) ? state + text : state;

    private static Member[] Join(SimulatedCluster cluster, int members)
    {
        Member[] joined =
        [
            .. cluster.Nodes.Take(members)
                .Select(node => new Member(node, cluster.RunUntilCompleted(node.Node.OpenGroupAsync<string>(Name)))),
        ];
        cluster.Eventually("all have the view of all", () => joined.All(one => one.ViewSize == members));
        return joined;
    }

    private static IGroupSender<string> OpenSender(SimulatedCluster cluster, int node) =>
        cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenGroupSenderAsync<string>(Name));

    private static List<GroupReply<string>> Ask(SimulatedCluster cluster, IGroupSender<string> sender, QuestionOptions? options = null)
    {
        List<GroupReply<string>> replies = [];
        cluster.RunUntilCompleted(async () => replies = await AskAsync(sender, options));
        return replies;
    }

    private static async Task<List<GroupReply<string>>> AskAsync(IGroupSender<string> sender, QuestionOptions? options = null)
    {
        var list = new List<GroupReply<string>>();
        await foreach (var one in sender.AskAsync<string>("who?", options))
        {
            list.Add(one);
        }

        return list;
    }

    private sealed class Member
    {
        public Member(SimulatedNode node, IGroup<string> group)
        {
            Id = node.Node.Id;
            Group = group;
            group.SubscribeInline((in GroupEvent<string> one) =>
            {
                if (!one.TryGetMessage(out string? text))
                {
                    ViewSize = one.View.Members.Count;
                    return;
                }

                Texts.Add(text);
                if (one.Question is null && IsOrdered(text))
                {
                    Ordered.Add(text);
                }

                if (one.Question is { } question)
                {
                    Questions++;
                    _ = Answer(question);
                }
            });
        }

        public NodeId Id { get; }

        public IGroup<string> Group { get; }

        public int ViewSize { get; private set; }

        public List<string> Texts { get; } = [];

        public List<string> Ordered { get; } = [];

        public int Questions { get; private set; }

        public Func<GroupQuestion, ValueTask> Answer { get; set; } = static _ => default;

        // All messages of members, and half of the sender's.
        private static bool IsOrdered(string text) =>
            text.StartsWith("member", StringComparison.Ordinal) || int.Parse(text.Split(' ')[1]) % 4 >= (int)GroupOrder.Total;
    }
}
