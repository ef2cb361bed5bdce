using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Groups.Tools.Dictionaries;
using QuickSilver.Groups.Tools.Replicas;
using QuickSilver.Serialization;

namespace QuickSilver.Groups.Tests.Tools.Dictionaries;

// A dictionary whose messages and views a test decides: what each caller gets, and that all members have the same whatever comes.
public sealed class DictionaryModelTests
{
    private const int MaxKeys = 8;

    [Fact]
    public void A_change_completes_when_it_is_made_here_and_all_members_have_it()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var set = one.Tool.SetAsync("a", "1").AsTask();
        Assert.False(set.IsCompleted);
        group.Deliver();

        Assert.Equal(1, Result(set));
        Assert.True(one.Tool.TryGetValue("a", out string? value, out long version));
        Assert.Equal(("1", 1L), (value, version));
        Assert.Equal(one.Tool.GetSnapshot(), other.Tool.GetSnapshot());
        Assert.Equal(1, other.Tool.Count);
    }

    [Fact]
    public void Of_two_members_that_add_a_key_at_once_one_succeeds()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var first = one.Tool.TryAddAsync("a", "one").AsTask();
        var second = other.Tool.TryAddAsync("a", "other").AsTask();
        group.Deliver();

        Assert.True(Result(first));
        Assert.False(Result(second));
        Assert.True(other.Tool.TryGetValue("a", out string? value));
        Assert.Equal("one", value);
    }

    [Fact]
    public void An_update_needs_the_version_also_if_the_key_was_removed_and_added_again()
    {
        var group = NewGroup();
        var one = group.Join();
        long version = Call(group, one.Tool.SetAsync("a", "1"));
        Assert.True(Call(group, one.Tool.TryUpdateAsync("a", "2", version)));
        Assert.False(Call(group, one.Tool.TryUpdateAsync("a", "3", version)));
        Assert.True(one.Tool.TryGetValue("a", out string? value, out version));
        Assert.Equal("2", value);

        Assert.True(Call(group, one.Tool.RemoveAsync("a")));
        Assert.False(Call(group, one.Tool.RemoveAsync("a")));
        Assert.False(Call(group, one.Tool.TryUpdateAsync("a", "3", version)));
        Assert.True(Call(group, one.Tool.TryAddAsync("a", "4")));
        Assert.False(Call(group, one.Tool.TryUpdateAsync("a", "5", version)));
        Assert.False(Call(group, one.Tool.TryUpdateAsync("absent", "5", 0)));
    }

    [Fact]
    public void Synchronizing_completes_behind_what_others_have_sent_before()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var set = one.Tool.SetAsync("a", "1").AsTask();
        var synchronized = other.Tool.SynchronizeAsync().AsTask();
        group.DeliverOne();
        Assert.True(set.IsCompleted);
        Assert.False(synchronized.IsCompleted);
        group.DeliverOne();

        Assert.True(synchronized.IsCompletedSuccessfully);
        Assert.True(other.Tool.TryGetValue("a", out _));
    }

    [Fact]
    public void A_limit_refuses_a_new_key_and_no_other_change()
    {
        var group = NewGroup();
        var one = group.Join();
        for (int i = 0; i < MaxKeys; i++)
        {
            Call(group, one.Tool.SetAsync($"{i}", "x"));
        }

        var full = Assert.Throws<GroupFullException>(() => Call(group, one.Tool.SetAsync("new", "x")));
        Assert.Equal(("dictionary", MaxKeys), (full.Group, full.Limit));
        Assert.Throws<GroupFullException>(() => Call(group, one.Tool.TryAddAsync("new", "x")));
        Call(group, one.Tool.SetAsync("0", "y"));
        Assert.Equal(MaxKeys, one.Tool.Count);
    }

    [Fact]
    public void A_limit_of_bytes_holds_over_all_entries()
    {
        var group = NewGroup();
        var one = group.Join();
        string large = new('x', (int)(DictionaryMachine.MostBytes / 3));
        Call(group, one.Tool.SetAsync("a", large));
        Call(group, one.Tool.SetAsync("b", large));
        Assert.Throws<GroupFullException>(() => Call(group, one.Tool.SetAsync("c", large)));
        Call(group, one.Tool.SetAsync("b", "small"));
        Call(group, one.Tool.SetAsync("c", large));
        Assert.Equal(3, group.Join().Tool.Count);
    }

    [Fact]
    public void A_member_that_joins_has_the_entries_with_their_versions()
    {
        var group = NewGroup();
        var one = group.Join();
        Call(group, one.Tool.SetAsync("a", "1"));
        Call(group, one.Tool.SetAsync("b", "2"));
        Call(group, one.Tool.RemoveAsync("a"));
        var other = group.Join();

        Assert.Equal(one.Tool.GetSnapshot(), other.Tool.GetSnapshot());
        Assert.Equal(new DictionaryItem<string, string>("b", "2", 2), Assert.Single(other.Tool.GetSnapshot()));
        Assert.Equal(4, Call(group, other.Tool.SetAsync("c", "3")));
    }

    [Fact]
    public void A_call_of_a_member_that_was_removed_and_came_back_has_an_unknown_outcome()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        Call(group, other.Tool.SetAsync("old", "x"));
        var lost = other.Tool.SetAsync("a", "1").AsTask();
        var removed = one.Tool.RemoveAsync("old").AsTask();
        group.RemoveAndReturn(other);

        var unknown = Assert.Throws<GroupOutcomeUnknownException>(() => Result(lost));
        Assert.Equal("dictionary", unknown.Group);
        group.Deliver();
        Assert.True(Result(removed));
        Assert.Equal(one.Tool.GetSnapshot(), other.Tool.GetSnapshot());
        Call(group, other.Tool.SetAsync("b", "2"));
        Assert.Equal(one.Tool.GetSnapshot(), other.Tool.GetSnapshot());
    }

    [Fact]
    public async Task A_watch_has_the_content_and_then_all_changes_in_order_until_the_member_leaves()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        Call(group, one.Tool.SetAsync("a", "1"));
        Call(group, one.Tool.SetAsync("b", "2"));
        await using var changes = other.Tool.WatchChangesAsync(TestContext.Current.CancellationToken).GetAsyncEnumerator(
            TestContext.Current.CancellationToken);
        Call(group, one.Tool.SetAsync("a", "3"));
        Call(group, one.Tool.RemoveAsync("b"));

        Assert.Equal(new DictionaryChange<string, string>("a", "1", false, 1, null), await Next());
        Assert.Equal(new DictionaryChange<string, string>("b", "2", false, 2, null), await Next());
        Assert.Equal(new DictionaryChange<string, string>("a", "3", false, 3, one.Id), await Next());
        Assert.Equal(new DictionaryChange<string, string>("b", null, true, 4, one.Id), await Next());
        var waiting = one.Tool.SetAsync("c", "4").AsTask();
        group.Leave(other);
        Assert.False(await changes.MoveNextAsync());
        group.Deliver();
        Assert.True(waiting.IsCompletedSuccessfully);

        async Task<DictionaryChange<string, string>> Next()
        {
            Assert.True(await changes.MoveNextAsync());
            return changes.Current;
        }
    }

    [Fact]
    public async Task A_watch_of_a_member_that_comes_back_has_the_differences()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        Call(group, one.Tool.SetAsync("a", "1"));
        Call(group, one.Tool.SetAsync("b", "1"));
        await using var changes = other.Tool.WatchChangesAsync(TestContext.Current.CancellationToken).GetAsyncEnumerator(
            TestContext.Current.CancellationToken);
        Assert.True(await changes.MoveNextAsync());
        Assert.True(await changes.MoveNextAsync());
        other.IsCutOff = true;
        Call(group, one.Tool.SetAsync("a", "2"));
        Call(group, one.Tool.RemoveAsync("b"));
        Call(group, one.Tool.SetAsync("c", "1"));
        other.IsCutOff = false;
        group.RemoveAndReturn(other);

        var seen = new List<DictionaryChange<string, string>>();
        for (int i = 0; i < 3; i++)
        {
            Assert.True(await changes.MoveNextAsync());
            seen.Add(changes.Current);
        }

        Assert.Equal(
            [("a", "2", false), ("c", "1", false), ("b", null, true)],
            seen.Select(static change => (change.Key, change.Value, change.IsRemoved)));
    }

    [Fact]
    public async Task A_watch_that_is_too_slow_fails_and_the_group_continues()
    {
        var group = NewGroup();
        var one = group.Join();
        await using var changes = one.Tool.WatchChangesAsync(TestContext.Current.CancellationToken).GetAsyncEnumerator(
            TestContext.Current.CancellationToken);
        for (int i = 0; i <= ChangeWatch<int>.MostWaiting; i++)
        {
            _ = one.Tool.SetAsync("a", "x").AsTask();
            group.DeliverOne();
        }

        await Assert.ThrowsAsync<GroupFullException>(() => changes.MoveNextAsync().AsTask());
        Assert.Equal(ChangeWatch<int>.MostWaiting + 2, Call(group, one.Tool.SetAsync("a", "x")));
    }

    [Fact]
    public void Entries_that_a_member_cannot_decode_are_absent_there_and_change_nothing_for_others()
    {
        var group = new ModelGroup<ReplicatedDictionary<string, string>>(static (id, host) => New(
            id, host, new TextCodec(id.Id == 2 ? "secret" : null)));
        var (one, picky) = (group.Join(), group.Join());
        Call(group, one.Tool.SetAsync("a", "secret"));
        Call(group, one.Tool.SetAsync("b", "known"));
        Assert.Equal((2, 0), (one.Tool.Count, one.Tool.Unreadable));
        Assert.Equal((1, 1), (picky.Tool.Count, picky.Tool.Unreadable));
        Assert.False(picky.Tool.TryGetValue("a", out _));
        Assert.False(Call(group, picky.Tool.TryAddAsync("a", "x")));

        // It gives the bytes to others as it got them.
        group.Leave(one);
        Assert.Equal(2, group.Join().Tool.Count);
        Call(group, picky.Tool.SetAsync("a", "open"));
        Assert.Equal((2, 0), (picky.Tool.Count, picky.Tool.Unreadable));
    }

    [Fact]
    public void Calls_beyond_the_limit_wait_for_a_place()
    {
        var group = NewGroup();
        var one = group.Join();
        var calls = Enumerable.Range(0, ToolLimits.MostPending + 2).Select(_ => one.Tool.SetAsync("a", "x").AsTask()).ToList();
        Assert.Equal(ToolLimits.MostPending, group.Waiting);
        using var cancellation = new CancellationTokenSource();
        var cancelled = one.Tool.SetAsync("a", "y", cancellation.Token).AsTask();
        cancellation.Cancel();
        Assert.Throws<TaskCanceledException>(() => Result(cancelled));
        group.Deliver();

        Assert.All(calls, static call => Assert.True(call.IsCompletedSuccessfully));
        Assert.True(one.Tool.TryGetValue("a", out string? value, out long version));
        Assert.Equal(("x", (long)calls.Count), (value, version));
    }

    [Fact]
    public void A_call_ends_with_the_group_and_later_ones_throw()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var set = one.Tool.SetAsync("a", "1").AsTask();
        group.Leave(one, new NodeExpelledException("planned"));
        Assert.Throws<NodeExpelledException>(() => Result(set));
        Assert.Throws<NodeExpelledException>(() => Call(group, one.Tool.SetAsync("a", "1")));
        Assert.Throws<NodeExpelledException>(() => one.Tool.WatchChangesAsync(TestContext.Current.CancellationToken));
        group.Leave(other);
        Assert.Throws<ObjectDisposedException>(() => Call(group, other.Tool.SetAsync("a", "1")));
    }

    [Fact]
    public void A_call_that_cannot_be_sent_leaves_its_place()
    {
        var group = NewGroup();
        var one = group.Join();
        one.SendFault = new FormatException("planned");
        for (int i = 0; i <= ToolLimits.MostPending; i++)
        {
            Assert.Throws<FormatException>(() => Call(group, one.Tool.SetAsync("a", "1")));
        }

        one.SendFault = null;
        Assert.Equal(1, Call(group, one.Tool.SetAsync("a", "1")));
    }

    [Fact]
    public void Null_is_no_key_and_no_value()
    {
        var one = NewGroup().Join();
        Assert.Throws<ArgumentNullException>(() => one.Tool.TryGetValue(null!, out _));
        Assert.Throws<ArgumentNullException>(() => Result(one.Tool.SetAsync(null!, "x").AsTask()));
        Assert.Throws<ArgumentNullException>(() => Result(one.Tool.SetAsync("x", null!).AsTask()));
        Assert.Throws<ArgumentNullException>(() => Result(one.Tool.RemoveAsync(null!).AsTask()));
    }

    private static T Result<T>(Task<T> task)
    {
        Assert.True(task.IsCompleted);
        return task.GetAwaiter().GetResult();
    }

    private static T Call<T>(ModelGroup<ReplicatedDictionary<string, string>> group, ValueTask<T> call)
    {
        group.Deliver();
        return Result(call.AsTask());
    }

    private static ModelGroup<ReplicatedDictionary<string, string>> NewGroup() =>
        new(static (id, host) => New(id, host, new TextCodec()));

    private static ReplicatedDictionary<string, string> New(NodeId id, IToolHost host, IPayloadCodec<string> values) =>
        new("dictionary", id, host, (new TextCodec(), values), MaxKeys, GroupOrder.Total);
}
