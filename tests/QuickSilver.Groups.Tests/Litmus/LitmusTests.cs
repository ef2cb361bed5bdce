namespace QuickSilver.Groups.Tests.Litmus;

// What holds between messages of two groups, of two orders and of two views: the rows of "What holds across groups" in docs/groups.md. A
// promise is kept in all schedules that the seeds draw. Of what is not promised, one of them has an example.
public sealed class LitmusTests
{
    private const int Seeds = 25;
    private const int SeedsOfExamples = 500;

    // Node 0 is the oldest member, which orders.
    private static readonly int[] Members = [0, 1, 2, 3];

    [Fact]
    public void All_but_fifo_messages_come_after_their_cause_in_one_group()
    {
        AssertHolds(seed => HasCauseFirst(seed, GroupOrder.Causal));
        AssertHolds(seed => HasCauseFirst(seed, GroupOrder.Total));
        AssertHolds(seed => HasCauseFirst(seed, GroupOrder.Safe));
        AssertFails(seed => HasCauseFirst(seed, GroupOrder.Fifo));

        static bool HasCauseFirst(ulong seed, GroupOrder order)
        {
            using var run = Begin(seed, "A");
            run.When(1, "cause", () => run.Send(1, "A", "effect", order));
            run.Send(3, "A", "cause", order);
            run.RunUntil(Members, "cause", "effect");
            return Members.All(node => run.IsInOrder(node, "cause", "effect"));
        }
    }

    [Theory]
    [InlineData(GroupOrder.Causal)]
    [InlineData(GroupOrder.Total)]
    [InlineData(GroupOrder.Safe)]
    public void A_member_of_two_groups_may_get_the_effect_in_one_before_the_cause_in_the_other(GroupOrder order)
    {
        AssertFails(seed =>
        {
            using var run = Begin(seed, "A", "B");
            run.When(1, "cause", () => run.Send(1, "B", "effect", GroupOrder.Fifo));
            run.Send(3, "A", "cause", order);
            run.RunUntil(Members, "cause", "effect");
            return Members.All(node => run.IsInOrder(node, "cause", "effect"));
        });
    }

    [Fact]
    public void A_causal_cycle_through_a_second_group_is_broken_by_causal_order_and_kept_by_total_order()
    {
        AssertFails(static seed => IsKept(seed, GroupOrder.Causal));
        AssertHolds(static seed => IsKept(seed, GroupOrder.Total));

        static bool IsKept(ulong seed, GroupOrder order)
        {
            using var run = BeginCycle(seed, order);
            run.RunUntil(Members, "m1", "m3");
            return Members.All(node => run.IsInOrder(node, "m1", "m3"));
        }
    }

    [Fact]
    public void A_cycle_in_total_order_is_kept_when_the_member_that_orders_fails()
    {
        AssertHolds(static seed =>
        {
            using var run = BeginCycle(seed, GroupOrder.Total);
            run.When(1, "m2", () => run.Crash(0));
            run.RunUntil([1, 2, 3], "m1", "m3");
            return new[] { 1, 2, 3 }.All(node => run.IsInOrder(node, "m1", "m3"));
        });
    }

    [Fact]
    public void A_cycle_is_broken_in_total_order_and_kept_in_safe_order_when_those_that_knew_the_cause_fail()
    {
        AssertFails(static seed => IsKept(seed, GroupOrder.Total));
        AssertHolds(static seed => IsKept(seed, GroupOrder.Safe));

        static bool IsKept(ulong seed, GroupOrder order)
        {
            using var run = BeginCycle(seed, order);
            run.When(2, "m2", () =>
            {
                run.Send(2, "A", "m3", order);
                run.Crash(0);
                run.Crash(1);
            });
            run.RunUntil([2, 3], "m1", "m3");
            return new[] { 2, 3 }.All(node => run.IsInOrder(node, "m1", "m3"));
        }
    }

    [Fact]
    public void Total_order_is_of_one_group_and_two_groups_with_equal_members_have_two()
    {
        AssertHolds(static seed => IsOne(seed, "A", "A"));
        AssertFails(static seed => IsOne(seed, "A", "B"));

        static bool IsOne(ulong seed, string first, string second)
        {
            using var run = Begin(seed, "A", "B");
            run.Send(1, first, "x", GroupOrder.Total);
            run.Send(2, second, "y", GroupOrder.Total);
            run.RunUntil(Members, "x", "y");
            return Members.Select(node => run.IsInOrder(node, "x", "y")).Distinct().Count() == 1;
        }
    }

    [Fact]
    public void Messages_of_one_sender_keep_their_order_whatever_orders_they_have()
    {
        AssertHolds(static seed =>
        {
            using var run = Begin(seed, "A");
            run.Send(2, "A", "fifo 1", GroupOrder.Fifo);
            run.Send(2, "A", "total", GroupOrder.Total);
            run.Send(2, "A", "fifo 2", GroupOrder.Fifo);
            run.Send(2, "A", "causal", GroupOrder.Causal);
            run.Send(2, "A", "safe", GroupOrder.Safe);
            run.Send(2, "A", "fifo 3", GroupOrder.Fifo);
            string[] sent = ["fifo 1", "total", "fifo 2", "causal", "safe", "fifo 3"];
            run.RunUntil(Members, sent);
            return Members.All(node => sent.Zip(sent.Skip(1)).All(pair => run.IsInOrder(node, pair.First, pair.Second)));
        });
    }

    [Fact]
    public void A_fifo_or_causal_message_has_no_place_in_the_total_order_of_the_messages_of_others()
    {
        AssertHolds(static seed => IsOne(seed, GroupOrder.Safe));
        AssertFails(static seed => IsOne(seed, GroupOrder.Fifo));
        AssertFails(static seed => IsOne(seed, GroupOrder.Causal));

        static bool IsOne(ulong seed, GroupOrder order)
        {
            using var run = Begin(seed, "A");
            run.Send(1, "A", "total", GroupOrder.Total);
            run.Send(2, "A", "other", order);
            run.RunUntil(Members, "total", "other");
            return Members.Select(node => run.IsInOrder(node, "total", "other")).Distinct().Count() == 1;
        }
    }

    [Fact]
    public void A_view_between_cause_and_effect_comes_between_them_at_all_members_and_a_new_one_gets_the_effect_alone()
    {
        AssertHolds(static seed =>
        {
            using var run = new LitmusRun(seed, nodes: 4);
            run.Join("A", 0, 1, 2);
            string view = LitmusRun.ViewOf("A", Members);
            run.When(1, "cause", () => run.BeginToJoin("A", 3));
            run.When(1, view, () => run.Send(1, "A", "effect", GroupOrder.Causal));
            run.Send(2, "A", "cause", GroupOrder.Causal);
            run.RunUntil(Members, "effect");
            return new[] { 0, 1, 2 }.All(node => run.IsInOrder(node, "cause", view) && run.IsInOrder(node, view, "effect"))
                && run.IsInOrder(3, view, "effect") && !run.Has(3, "cause");
        });
    }

    [Theory]
    [InlineData(GroupOrder.Causal)]
    [InlineData(GroupOrder.Total)]
    public void A_cause_whose_sender_fails_comes_before_its_effect_at_all_members_that_stay(GroupOrder order)
    {
        AssertHolds(seed =>
        {
            using var run = Begin(seed, "A");
            run.When(1, "cause", () =>
            {
                run.Send(1, "A", "effect", order);
                run.Crash(3);
            });
            run.Send(3, "A", "cause", order);
            run.RunUntil([0, 1, 2], "cause", "effect");
            return new[] { 0, 1, 2 }.All(node => run.IsInOrder(node, "cause", "effect"));
        });
    }

    [Fact]
    public void A_message_of_one_group_that_follows_a_view_of_another_may_come_before_that_view()
    {
        AssertHolds(static seed => HasViewFirst(seed, "A"));
        AssertFails(static seed => HasViewFirst(seed, "B"));

        static bool HasViewFirst(ulong seed, string group)
        {
            using var run = Begin(seed, "A", "B");
            string view = LitmusRun.ViewOf("A", 1, 2, 3);
            run.When(1, view, () => run.Send(1, group, "after the view", GroupOrder.Total));
            run.Crash(0);
            run.RunUntil([1, 2, 3], view, "after the view");
            return new[] { 1, 2, 3 }.All(node => run.IsInOrder(node, view, "after the view"));
        }
    }

    private static LitmusRun Begin(ulong seed, params string[] groups)
    {
        var run = new LitmusRun(seed, Members.Length);
        Array.ForEach(groups, group => run.Join(group, Members));
        return run;
    }

    // m1 in A causes m2 in B, which causes m3 in A.
    private static LitmusRun BeginCycle(ulong seed, GroupOrder order)
    {
        var run = new LitmusRun(seed, Members.Length);
        run.Join("A", Members);
        run.Join("B", 1, 2);
        run.When(1, "m1", () => run.Send(1, "B", "m2", order));
        run.When(2, "m2", () => run.Send(2, "A", "m3", order));
        run.Send(3, "A", "m1", order);
        return run;
    }

    private static void AssertHolds(Func<ulong, bool> play)
    {
        for (ulong seed = 1; seed <= Seeds; seed++)
        {
            Assert.True(play(seed), $"seed {seed}");
        }
    }

    private static void AssertFails(Func<ulong, bool> play) =>
        Assert.Contains(Enumerable.Range(1, SeedsOfExamples), seed => !play((ulong)seed));
}
