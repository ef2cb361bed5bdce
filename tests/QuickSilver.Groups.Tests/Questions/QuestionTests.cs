using QuickSilver.Serialization;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Questions;

// Questions to the members of a group on whole nodes in virtual time: who is asked, who answers, and what ends each wait.
public sealed class QuestionTests
{
    private const string Name = "orders";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Long = TimeSpan.FromDays(1);

    public static TheoryData<GroupOrder> Orders => [.. Enum.GetValues<GroupOrder>()];

    [Theory]
    [MemberData(nameof(Orders))]
    public void All_members_answer_and_the_asking_one_too(GroupOrder order)
    {
        using var cluster = Begin(nodes: 3, out var members);
        foreach (var member in members)
        {
            member.Answer = static one => one.Question!.ReplyAsync($"{one.Message()}!");
        }

        var replies = Ask(cluster, members[1], new QuestionOptions { Order = order });

        Assert.Equal(3, replies.Count);
        Assert.Equivalent(members.Select(static one => one.Id), replies.Select(static one => one.Member));
        Assert.All(replies, static one => Assert.Equal((GroupReplyOutcome.Answered, "who?!"), (one.Outcome, one.Value)));
    }

    [Fact]
    public void In_total_order_all_members_answer_after_the_same_messages()
    {
        using var cluster = Begin(nodes: 3, out var members);
        foreach (var member in members)
        {
            member.Answer = one => one.Question!.ReplyAsync($"{member.Messages}");
            for (int i = 0; i < 50; i++)
            {
                cluster.RunUntilCompleted(() => member.Group.SendAsync($"{i}").AsTask());
            }
        }

        var replies = Ask(cluster, members[2]);

        Assert.Equal(3, replies.Count);
        Assert.Single(replies.Select(static one => one.Value).Distinct());
    }

    [Fact]
    public void The_enumeration_ends_when_enough_members_have_answered()
    {
        using var cluster = Begin(nodes: 5, out var members);
        foreach (var member in members[..3])
        {
            member.Answer = static one => one.Question!.ReplyAsync("yes");
        }

        Assert.Equal(3, Ask(cluster, members[4], new QuestionOptions { Repliers = GroupRepliers.Majority, Timeout = Long }).Count);
        Assert.Equal(2, Ask(cluster, members[4], new QuestionOptions { Repliers = GroupRepliers.First(2), Timeout = Long }).Count);
        var late = Ask(cluster, members[4], new QuestionOptions { Repliers = GroupRepliers.First(4) });
        Assert.Equal(3, late.Count(static one => one.IsAnswer));
        Assert.Equal(2, late.Count(static one => one.Outcome == GroupReplyOutcome.TimedOut));
    }

    [Fact]
    public void The_member_of_a_rank_is_asked_and_the_others_get_a_message()
    {
        using var cluster = Begin(nodes: 3, out var members);
        members[1].Answer = static one => one.Question!.ReplyAsync("me");

        var reply = Assert.Single(Ask(cluster, members[2], new QuestionOptions { Repliers = GroupRepliers.Rank(1) }));

        Assert.Equal((members[1].Id, "me"), (reply.Member, reply.Value));
        cluster.Eventually("all have it", () => members.All(static one => one.Messages == 1));
        Assert.Equal([0, 1, 0], members.Select(static one => one.Questions));
        var error = Assert.Throws<ArgumentOutOfRangeException>(
            () => Ask(cluster, members[2], new QuestionOptions { Repliers = GroupRepliers.Rank(3) }));
        Assert.Contains("asks the member of rank 3, and the group \"orders\" delivered it in a view of 3 members", error.Message);
    }

    [Fact]
    public void A_member_that_fails_is_reported_as_left_and_not_after_the_timeout()
    {
        using var cluster = Begin(nodes: 3, out var members);
        members[0].Answer = static one => one.Question!.ReplyAsync("here");
        members[1].Answer = static one => one.Question!.ReplyAsync("here");
        members[2].Answer = one =>
        {
            cluster.After(TimeSpan.Zero, () => cluster.Nodes[2].Crash());
            return default;
        };

        var replies = Ask(cluster, members[1], new QuestionOptions { Timeout = Long });

        Assert.Equal((members[2].Id, GroupReplyOutcome.Left), (replies[^1].Member, replies[^1].Outcome));
        Assert.Equal(2, replies.Count(static one => one.IsAnswer));
    }

    [Fact]
    public void A_member_that_does_not_answer_is_reported_when_the_time_is_over_and_one_that_declines_at_once()
    {
        using var cluster = Begin(nodes: 3, out var members);
        members[0].Answer = static one => one.Question!.DeclineAsync();
        members[1].Answer = static one => one.Question!.ReplyAsync("here");
        var begun = cluster.Now;

        var replies = Ask(cluster, members[1], new QuestionOptions { Timeout = 2 * Second });

        Assert.Equal(
            [GroupReplyOutcome.Answered, GroupReplyOutcome.Declined, GroupReplyOutcome.TimedOut],
            replies.Select(static one => one.Outcome).Order());
        Assert.Equal((members[2].Id, GroupReplyOutcome.TimedOut), (replies[^1].Member, replies[^1].Outcome));
        Assert.InRange(cluster.Now - begun, 1.99 * Second, 2.1 * Second);
    }

    [Fact]
    public void An_answer_of_another_type_or_one_that_cannot_be_decoded_is_unreadable()
    {
        using var cluster = Begin(nodes: 2, out var members);
        members[0].Answer = static one => one.Question!.ReplyAsync((ReadOnlyMemory<byte>)new byte[3]);
        members[1].Answer = static one => one.Question!.ReplyAsync("x", new Unreadable());

        var replies = cluster.RunUntilCompleted(ListAsync(members[0].Group.AskAsync("who?", new Unreadable()))).OrderBy(
            one => one.Member == members[1].Id).ToArray();

        Assert.All(replies, static one => Assert.Equal(GroupReplyOutcome.Unreadable, one.Outcome));
        Assert.Contains("with another type than unreadable", Assert.IsType<PayloadFormatException>(replies[0].Error).Message);
        Assert.Equal("planned", Assert.IsType<FormatException>(replies[1].Error).Message);
    }

    [Fact]
    public void A_question_is_answered_once()
    {
        using var cluster = Begin(nodes: 1, out var members);
        InvalidOperationException? second = null;
        members[0].Answer = async one =>
        {
            await Assert.ThrowsAsync<ArgumentNullException>(() => one.Question!.ReplyAsync<string>(null!).AsTask());
            await Assert.ThrowsAsync<NotSupportedException>(() => one.Question!.ReplyAsync(new object()).AsTask());
            await one.Question!.ReplyAsync("first");
            second = Assert.Throws<InvalidOperationException>(() => { _ = one.Question!.DeclineAsync(); });
        };

        Assert.Equal("first", Assert.Single(Ask(cluster, members[0])).Value);
        cluster.Eventually("the second answer was refused", () => second is not null);
        Assert.Equal(
            $"The question of node {members[0].Id} in the group \"orders\" was answered before. Answer a question once.", second!.Message);
    }

    [Fact]
    public void Questions_end_with_the_group_and_answers_to_a_node_that_is_gone_do_no_harm()
    {
        using var cluster = Begin(nodes: 2, out var members);
        GroupQuestion? kept = null;
        members[0].Answer = one =>
        {
            kept = one.Question;
            return default;
        };
        var asking = Observe(ListAsync(members[1].Group.AskAsync<string>("who?", new QuestionOptions { Timeout = Long })));
        cluster.Eventually("it has come", () => kept is not null);
        cluster.RunUntilCompleted(() => members[1].Group.DisposeAsync().AsTask());

        var error = Assert.IsType<ObjectDisposedException>(cluster.RunUntilCompleted(asking));
        Assert.StartsWith("This node left the group \"orders\" before all members had answered.", error.Message, StringComparison.Ordinal);
        cluster.RunUntilCompleted(() => kept!.ReplyAsync("late").AsTask());
        cluster.Run(10 * Second);
        Assert.Equal(NodeState.Running, cluster.Nodes[0].Node.Status.State);
    }

    [Fact]
    public void So_many_questions_wait_and_an_enumeration_that_ends_frees_its_place()
    {
        const int limit = 1024;
        using var cluster = Begin(nodes: 1, out var members);
        using var stop = new CancellationTokenSource();
        var options = new QuestionOptions { Timeout = Long };
        var waiting = Enumerable.Range(0, limit)
            .Select(_ => Observe(ListAsync(members[0].Group.AskAsync<string>("who?", options, stop.Token)))).ToList();
        cluster.Eventually("all have come", () => members[0].Questions == limit);
        var error = Assert.Throws<TooManyRequestsException>(() => Ask(cluster, members[0], options));
        Assert.Equal((limit, Name), (error.Limit, error.Name));

        stop.Cancel();
        Assert.All(waiting, one => Assert.IsType<OperationCanceledException>(cluster.RunUntilCompleted(one), exactMatch: false));
        members[0].Answer = static one => one.Question!.ReplyAsync("here");
        Assert.Single(Ask(cluster, members[0], options));
    }

    [Fact]
    public void A_question_whose_token_is_cancelled_already_takes_no_place()
    {
        using var cluster = Begin(nodes: 1, out var members);
        members[0].Answer = static one => one.Question!.ReplyAsync("here");
        var cancelled = new CancellationToken(canceled: true);
        for (int i = 0; i < 2_000; i++)
        {
            var asking = Observe(ListAsync(members[0].Group.AskAsync<string>("who?", cancellationToken: cancelled)));
            Assert.IsType<OperationCanceledException>(cluster.RunUntilCompleted(asking), exactMatch: false);
        }

        Assert.Single(Ask(cluster, members[0]));
        Assert.Equal(1, members[0].Questions);
    }

    [Fact]
    public void Options_of_questions_are_checked()
    {
        using var cluster = Begin(nodes: 1, out var members);
        var group = members[0].Group;
        var timeout = Assert.Throws<QuickSilverOptionsException>(
            () => group.AskAsync<string>("who?", new QuestionOptions { Timeout = TimeSpan.Zero }));
        Assert.Equal("The option Timeout is 00:00:00. Allowed: 00:00:00.0010000 to 1.00:00:00.", Assert.Single(timeout.Failures));
        Assert.Throws<QuickSilverOptionsException>(() => group.AskAsync<string>("who?", new QuestionOptions { Order = (GroupOrder)7 }));
        Assert.Throws<ArgumentNullException>(() => group.AskAsync<string>(null!));
        Assert.Throws<NotSupportedException>(() => group.AskAsync<object>("who?"));
        Assert.Throws<ArgumentOutOfRangeException>(static () => GroupRepliers.First(0));
        Assert.Throws<ArgumentOutOfRangeException>(static () => GroupRepliers.Rank(-1));
        Assert.Throws<ArgumentOutOfRangeException>(static () => GroupRepliers.Rank(65_535));
    }

    private static SimulatedCluster Begin(int nodes, out Member[] members)
    {
        var cluster = new SimulatedCluster(nodes, seed: 1);
        cluster.Start();
        members = [.. cluster.Nodes.Select(node => new Member(
            node, cluster.RunUntilCompleted(node.Node.OpenGroupAsync<string>(Name))))];
        var joined = members;
        cluster.Eventually("all have the view of all", () => joined.All(one => one.ViewSize == joined.Length));
        return cluster;
    }

    private static List<GroupReply<string>> Ask(SimulatedCluster cluster, Member member, QuestionOptions? options = null)
    {
        List<GroupReply<string>> replies = [];
        cluster.RunUntilCompleted(async () => replies = await ListAsync(member.Group.AskAsync<string>("who?", options)));
        return replies;
    }

    private static async Task<List<GroupReply<string>>> ListAsync(IAsyncEnumerable<GroupReply<string>> replies)
    {
        var list = new List<GroupReply<string>>();
        await foreach (var one in replies)
        {
            list.Add(one);
        }

        return list;
    }

    private static async Task<Exception?> Observe(Task task)
    {
        try
        {
            await task;
            return null;
        }
        catch (Exception exception)
        {
            return exception;
        }
    }

    // A member that answers as the test says.
    private sealed class Member
    {
        public Member(SimulatedNode node, IGroup<string> group)
        {
            Id = node.Node.Id;
            Group = group;
            group.SubscribeInline((in GroupEvent<string> one) =>
            {
                if (one.IsView)
                {
                    ViewSize = one.View.Members.Count;
                    return;
                }

                Messages++;
                if (one.Question is not null)
                {
                    Questions++;
                    _ = Answer(one);
                }
            });
        }

        public NodeId Id { get; }

        public IGroup<string> Group { get; }

        public int ViewSize { get; private set; }

        public int Messages { get; private set; }

        public int Questions { get; private set; }

        public Func<GroupEvent<string>, ValueTask> Answer { get; set; } = static _ => default;
    }

    private sealed class Unreadable : IPayloadCodec<string>
    {
        public PayloadSchema Schema { get; } = new("unreadable", "unreadable", []);

        public int GetSize(in string value) => 1;

        public int Write(in string value, Span<byte> destination)
        {
            destination[0] = 1;
            return 1;
        }

        public string Read(ReadOnlySpan<byte> source) => throw new FormatException("planned");
    }
}

internal static class EventText
{
    public static string Message(this GroupEvent<string> one) => one.TryGetMessage(out string? text) ? text : "";
}
