using System.Runtime.ExceptionServices;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.States;

// Groups with a state on whole nodes in virtual time: who gets the state of whom, and what ends each wait.
public sealed class StatefulGroupTests
{
    private const string Name = "books";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    [Fact]
    public void A_member_that_joins_gets_the_state_and_what_follows_it()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 1);
        cluster.Start();
        var members = new[] { Open(cluster, 0), Open(cluster, 1) };
        Send(cluster, members[0], 100);
        Send(cluster, members[1], 100);
        var third = Begin(cluster, 2);
        Send(cluster, members[0], 100);

        AreSame(cluster, [.. members, third], messages: 300);
        Assert.Equal(1, third.State.Reads);
        Assert.Equal(0, members[0].State.Reads);
    }

    [Fact]
    public void A_state_that_is_written_and_read_slowly_overlaps_with_nothing()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 2);
        cluster.Start();
        var first = Open(cluster, 0, one => (one.WriteTime, one.Padding, one.EventTime) = (5 * Second, 1 << 20, Millisecond));
        Send(cluster, first, 50);
        var second = Begin(cluster, 1, one => one.ReadTime = Second);
        for (int i = 0; i < 10; i++)
        {
            Send(cluster, first, 20);
            cluster.Run(Second);
        }

        AreSame(cluster, [first, second], messages: 250);
        Assert.Equal(1, second.State.Reads);
        Assert.Equal(1, first.State.Writes);
    }

    [Fact]
    public void A_member_whose_queue_is_full_drops_it_and_asks_for_a_newer_state()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 15);
        cluster.Start();
        var first = Open(cluster, 0, static one => one.WriteTime = Second);
        var second = Begin(cluster, 1, options: new GroupOptions { MostWaitingEvents = 8 });
        cluster.Eventually("the state is written", () => first.State.Writes == 1);
        Send(cluster, first, 20);

        AreSame(cluster, [first, second], messages: 20);
        Assert.Equal(2, first.State.Writes);
        Assert.Equal(1, second.State.Reads);
    }

    [Fact]
    public void A_member_declines_questions_that_it_gets_as_a_part_of_the_state()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 17);
        cluster.Start();
        var first = Open(cluster, 0, static one => one.WriteTime = Second);
        var second = Begin(cluster, 1, options: new GroupOptions { MostWaitingEvents = 8 });
        cluster.Eventually("the state is written", () => first.State.Writes == 1);
        var replies = new List<GroupReply<string>>();
        bool isOver = false;
        cluster.Nodes[0].Post(async () =>
        {
            await foreach (var one in first.Group!.AskAsync<string>("who?", new QuestionOptions { Timeout = TimeSpan.FromDays(1) }))
            {
                replies.Add(one);
            }

            isOver = true;
        });
        Send(cluster, first, 20);

        cluster.Eventually("both have replied", () => isOver);
        AreSame(cluster, [first, second], messages: 21);
        Assert.Equivalent(
            new[] { GroupReplyOutcome.Answered, GroupReplyOutcome.Declined }, replies.Select(static one => one.Outcome));
        Assert.Equal(cluster.Nodes[1].Node.Id, replies.Single(static one => !one.IsAnswer).Member);
    }

    [Fact]
    public void A_member_that_cannot_follow_holds_the_senders()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 16);
        cluster.Start();
        var first = Open(cluster, 0, static one => one.WriteTime = 50 * Millisecond);
        var second = Begin(cluster, 1, options: new GroupOptions { MostWaitingEvents = 8 });
        cluster.Eventually("the state is written", () => first.State.Writes == 1);
        // A queue is full again before the state that was asked for has come.
        for (int i = 0; i < 1_000; i++)
        {
            Send(cluster, first, 1);
            cluster.Run(Millisecond);
        }

        Assert.NotNull(second.Group);
        AreSame(cluster, [first, second], messages: 1_000);
    }

    [Fact]
    public void Members_that_begin_together_have_the_state_of_one_of_them()
    {
        using var cluster = new SimulatedCluster(nodes: 5, seed: 3);
        cluster.Start();
        var members = Enumerable.Range(0, 5).Select(node => Begin(cluster, node)).ToArray();
        cluster.Eventually("all are open", () => members.All(static one => one.Group is not null));
        foreach (var one in members)
        {
            Send(cluster, one, 20);
        }

        AreSame(cluster, members, messages: 100);
        Assert.Single(members, static one => one.State.Reads == 0);
    }

    [Fact]
    public void Another_donor_gives_the_state_when_one_fails()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 4);
        cluster.Start();
        var first = Open(cluster, 0);
        var second = Open(cluster, 1);
        Send(cluster, first, 100);
        first.State.WriteTime = 5 * Second;
        var third = Begin(cluster, 2);
        cluster.Eventually("the oldest member writes its state", () => first.State.Writes == 2);
        cluster.Nodes[0].Crash();
        Send(cluster, second, 100);

        AreSame(cluster, [second, third], messages: 200);
        Assert.Equal(1, second.State.Writes);
    }

    [Fact]
    public void A_donor_that_does_not_end_its_writing_is_given_up_and_named_in_the_status()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 5);
        cluster.Start();
        var first = Open(cluster, 0);
        var second = Open(cluster, 1);
        Send(cluster, first, 10);
        first.State.WriteTime = TimeSpan.FromDays(1);
        var third = Begin(cluster, 2);

        cluster.Eventually(
            "the status names the group",
            () => cluster.Nodes[2].Node.Status.Reasons.Any(static reason =>
                reason.Description.Contains($"waits for the state of group \"{Name}\"", StringComparison.Ordinal)
                && reason.WaitsFor is { } node && node.StartsWith("node ", StringComparison.Ordinal)),
            TimeSpan.FromMinutes(1));
        cluster.Eventually("the second member gives it", () => third.Group is not null, TimeSpan.FromMinutes(1));
        Assert.Equal(second.State.Lines, third.State.Lines);
    }

    [Fact]
    public void The_oldest_of_those_that_wait_begins_when_all_that_had_the_state_are_gone()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 6);
        cluster.Start();
        var first = Open(cluster, 0, static one => one.WriteTime = TimeSpan.FromDays(1));
        Send(cluster, first, 10);
        var waiting = new[] { Begin(cluster, 1), Begin(cluster, 2) };
        cluster.Run(2 * Second);
        Assert.All(waiting, static one => Assert.Null(one.Group));
        cluster.Nodes[0].Crash();
        cluster.Eventually("both are open", () => waiting.All(static one => one.Group is not null), TimeSpan.FromMinutes(1));
        Send(cluster, waiting[1], 10);

        AreSame(cluster, waiting, messages: 10);
        Assert.Single(waiting, static one => one.State.Reads == 0);
    }

    [Fact]
    public void A_state_over_the_limit_is_refused_by_name()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 7);
        cluster.Start();
        var first = Open(cluster, 0, static one => one.Padding = 5_000, new GroupOptions { MaxStateBytes = 4_096 });

        var refusal = Assert.Throws<GroupStateTooLargeException>(() => Open(cluster, 1));

        Assert.Equal((Name, 4_096), (refusal.Group, refusal.Limit));
        Assert.True(refusal.Size > 5_000, $"{refusal.Size}");
        Send(cluster, first, 10);
        cluster.Eventually("the first member continues alone", () => first.State.Lines.Count(IsMessage) == 10);
    }

    [Fact]
    public void A_member_takes_no_larger_state_than_it_may()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 8);
        cluster.Start();
        Open(cluster, 0, static one => one.Padding = 5_000);

        var refusal = Assert.Throws<GroupStateTooLargeException>(
            () => Open(cluster, 1, options: new GroupOptions { MaxStateBytes = 4_096 }));

        Assert.Equal(4_096, refusal.Limit);
    }

    [Theory]
    [InlineData(nameof(IGroupHandler<>.OnEventAsync))]
    [InlineData(nameof(IGroupHandler<>.WriteStateAsync))]
    public void What_a_handler_throws_ends_the_group_there_and_the_others_continue(string call)
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 9);
        cluster.Start();
        var first = Open(cluster, 0);
        var second = Open(cluster, 1);
        Send(cluster, second, 10);
        cluster.Eventually("the first has them", () => first.State.Lines.Count(IsMessage) == 10);
        first.State.FailsIn = call;
        var third = Begin(cluster, 2);
        Send(cluster, second, 10);

        AreSame(cluster, [second, third], messages: 20);
        var end = Assert.NotNull(first.State.End);
        Assert.Equal(SubscriptionEndReason.ConsumerFailed, end.Reason);
        Assert.IsType<FormatException>(Assert.IsType<GroupHandlerException>(end.Error).InnerException);
        var thrown = Assert.Throws<GroupHandlerException>(() => cluster.RunUntilCompleted(first.Group!.SendAsync("late")));
        Assert.Equal((Name, call), (thrown.Group, thrown.Call));
    }

    [Fact]
    public void What_a_handler_throws_when_it_reads_the_state_fails_the_opening()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 10);
        cluster.Start();
        var first = Open(cluster, 0);

        Assert.Throws<GroupHandlerException>(
            () => Open(cluster, 1, static one => one.FailsIn = nameof(IGroupHandler<>.ReadStateAsync)));

        Send(cluster, first, 1);
        cluster.Eventually("the first member is alone again", () => first.State.Lines.Count(IsMessage) == 1);
    }

    [Fact]
    public void An_opening_that_is_cancelled_leaves_the_group()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 11);
        cluster.Start();
        var first = Open(cluster, 0, static one => one.WriteTime = 20 * Second);
        using var cancellation = new CancellationTokenSource();
        var second = Begin(cluster, 1, cancellationToken: cancellation.Token);
        cluster.Run(2 * Second);
        cancellation.Cancel();

        cluster.Eventually("the opening fails", () => second.Failure is OperationCanceledException);
        Assert.Equal(SubscriptionEndReason.Disposed, second.State.End?.Reason);
        cluster.Run(30 * Second);
        first.State.WriteTime = default;
        var again = Open(cluster, 1);
        AreSame(cluster, [first, again], messages: 0);
    }

    [Fact]
    public void A_handler_may_end_its_group()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 12);
        cluster.Start();
        var first = Open(cluster, 0);
        var second = Open(cluster, 1);
        second.State.OnEvent = () => second.Group!.DisposeAsync();
        Send(cluster, first, 1);

        cluster.Eventually("the second has left", () => second.State.End is { Reason: SubscriptionEndReason.Disposed });
        Assert.Throws<ObjectDisposedException>(() => cluster.RunUntilCompleted(second.Group!.SendAsync("late")));
    }

    [Fact]
    public void A_group_with_a_state_and_one_without_have_no_name_in_common()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 13);
        cluster.Start();
        var first = Open(cluster, 0);

        Assert.Throws<ContractMismatchException>(() => cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenGroupAsync<string>(Name)));
        Assert.Throws<InvalidOperationException>(() => Open(cluster, 0));
        Assert.Throws<InvalidOperationException>(() => first.Group!.ReadAllAsync());
        Assert.Throws<InvalidOperationException>(() => first.Group!.SubscribeInline(static (in GroupEvent<string> _) => { }));
    }

    [Fact]
    public void A_state_that_is_a_value_is_the_same_at_all_members()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 17);
        var groups = new List<IStateGroup<string, string>>();
        cluster.Start(async node =>
        {
            var group = await node.Node.OpenGroupAsync<string, string>(
                Name, "begin", static (state, one) => one.TryGetMessage(out string? text) ? $"{state},{text}" : state);
            groups.Add(group);
            for (int i = 0; i < 10; i++)
            {
                await group.SendAsync($"{i} of {node.Number}");
            }
        });

        cluster.Eventually(
            "all have all",
            () => groups.Count == 3 && groups.TrueForAll(group => group.State.Split(',').Length == 31 && group.State == groups[0].State));
    }

    [Theory]
    [InlineData(1_023)]
    [InlineData((64 << 20) + 1)]
    public void A_limit_out_of_range_is_refused(int bytes)
    {
        using var cluster = new SimulatedCluster(nodes: 1, seed: 14);
        cluster.Start();

        Assert.Throws<QuickSilverOptionsException>(() => Open(cluster, 0, options: new GroupOptions { MaxStateBytes = bytes }));
    }

    private static bool IsMessage(string line) => !line.StartsWith("view", StringComparison.Ordinal);

    private static void AreSame(SimulatedCluster cluster, Member[] members, int messages)
    {
        cluster.Eventually(
            $"all have {messages} messages",
            () => members.All(one => one.Group is not null && one.State.Lines.Count(IsMessage) >= messages
                && one.State.Lines.Count == members[0].State.Lines.Count),
            TimeSpan.FromMinutes(2));
        Assert.All(members, one => Assert.Equal(members[0].State.Lines, one.State.Lines));
        Assert.Equal(messages, members[0].State.Lines.Count(IsMessage));
    }

    private static void Send(SimulatedCluster cluster, Member member, int count)
    {
        for (int i = 0; i < count; i++)
        {
            cluster.RunUntilCompleted(member.Group!.SendAsync($"{member.Number++} of node {member.Node}"));
        }
    }

    private static Member Open(SimulatedCluster cluster, int node, Action<Ledger>? prepare = null, GroupOptions? options = null)
    {
        var member = Begin(cluster, node, prepare, options);
        cluster.Eventually("the opening ends", () => member.Group is not null || member.Failure is not null, TimeSpan.FromMinutes(1));
        if (member.Failure is { } failure)
        {
            ExceptionDispatchInfo.Throw(failure);
        }

        return member;
    }

    // On the node, so that all of it continues there.
    private static Member Begin(
        SimulatedCluster cluster,
        int node,
        Action<Ledger>? prepare = null,
        GroupOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        var member = Prepare(cluster, node, prepare);
        cluster.Nodes[node].Post(async () =>
        {
            try
            {
                member.Group = await cluster.Nodes[node].Node.OpenGroupAsync(Name, member.State, options, cancellationToken);
            }
            catch (Exception exception)
            {
                member.Failure = exception;
            }
        });
        return member;
    }

    private static Member Prepare(SimulatedCluster cluster, int node, Action<Ledger>? prepare)
    {
        var state = new Ledger(cluster.Nodes[node]);
        prepare?.Invoke(state);
        return new Member(node, state);
    }

    private sealed class Member(int node, Ledger state)
    {
        public int Node => node;

        public Ledger State => state;

        public IGroup<string>? Group { get; set; }

        public Exception? Failure { get; set; }

        public int Number { get; set; }
    }
}
