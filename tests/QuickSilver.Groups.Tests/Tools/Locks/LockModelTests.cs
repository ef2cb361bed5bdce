using QuickSilver.Groups.Tests.Tools.Models;
using QuickSilver.Groups.Tools;
using QuickSilver.Groups.Tools.Locks;
using QuickSilver.Groups.Tools.Replicas;

namespace QuickSilver.Groups.Tests.Tools.Locks;

// A lock whose messages and views a test decides.
public sealed class LockModelTests
{
    [Fact]
    public void Requests_are_granted_in_the_order_of_the_group_with_rising_numbers()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        Task<ILockHold>[] requests =
            [Acquire(one), Acquire(other), Acquire(one), Acquire(other)];
        group.Deliver();
        FencingNumber before = default;
        for (int i = 0; i < requests.Length; i++)
        {
            Assert.True(requests[i].IsCompleted);
            Assert.All(requests[(i + 1)..], static later => Assert.False(later.IsCompleted));
            Assert.Equal(requests.Length - 1 - i, one.Tool.Waiting);
            var hold = requests[i].Now();
            Assert.True(hold.FencingNumber > before, $"{hold.FencingNumber}");
            before = hold.FencingNumber;
            Dispose(hold);
            Dispose(hold);
            group.Deliver();
            Assert.False(hold.Lost.IsCancellationRequested);
        }

        Assert.Null(other.Tool.Holder);
    }

    [Fact]
    public void Taking_a_free_lock_succeeds_and_one_that_is_held_does_not_wait()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var first = one.Tool.TryAcquireAsync().AsTask();
        var second = other.Tool.TryAcquireAsync().AsTask();
        group.Deliver();
        var hold = first.Now();
        Assert.NotNull(hold);
        Assert.Null(second.Now());
        Assert.Equal(one.Id, other.Tool.Holder);
        Dispose(hold);
        second = other.Tool.TryAcquireAsync().AsTask();
        group.Deliver();
        Assert.NotNull(second.Now());
    }

    [Fact]
    public void The_lock_of_a_member_that_leaves_goes_to_the_next()
    {
        var group = NewGroup();
        var (one, other, third) = (group.Join(), group.Join(), group.Join());
        var first = Acquire(one);
        var second = Acquire(other);
        var last = Acquire(third);
        group.Deliver();
        var hold = first.Now();
        // It waits no longer, and so does not get the lock.
        group.Leave(other, new NodeExpelledException("planned"));
        group.Leave(one, new NodeExpelledException("planned"));

        Assert.True(hold.Lost.IsCancellationRequested);
        Assert.Throws<NodeExpelledException>(() => second.Now());
        Assert.True(last.Now().FencingNumber > hold.FencingNumber);
        Assert.False(one.Host.HasListeners);
    }

    [Fact]
    public void A_member_that_comes_back_has_lost_its_holds_and_its_requests()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var held = Acquire(other);
        group.Deliver();
        var waiting = Acquire(other);
        group.RemoveAndReturn(other);
        Assert.True(held.Now().Lost.IsCancellationRequested);
        Assert.Throws<GroupOutcomeUnknownException>(() => waiting.Now());
        var next = Acquire(one);
        group.Deliver();
        Assert.True(next.Now().FencingNumber > held.Now().FencingNumber);

        // It may be disposed late, and releases nothing of others.
        Dispose(held.Now());
        group.Deliver();
        Assert.Equal(one.Id, other.Tool.Holder);
    }

    [Fact]
    public void A_request_that_arrives_after_its_member_came_back_does_not_hold_the_lock()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        other.Delays = true;
        var late = Acquire(other);
        other.Delays = false;
        group.RemoveAndReturn(other);
        Assert.Throws<GroupOutcomeUnknownException>(() => late.Now());
        other.SendDelayed();
        group.Deliver();

        Assert.Null(one.Tool.Holder);
    }

    [Fact]
    public void A_request_that_is_cancelled_leaves_the_line_or_releases_what_it_got()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var first = Acquire(one);
        using var cancellation = new CancellationTokenSource();
        var waiting = other.Tool.AcquireAsync(cancellation.Token).AsTask();
        group.Deliver();
        Assert.Equal(1, one.Tool.Waiting);
        cancellation.Cancel();
        Assert.True(waiting.IsCanceled);
        group.Deliver();
        Assert.Equal(0, one.Tool.Waiting);

        using var late = new CancellationTokenSource();
        var granted = other.Tool.AcquireAsync(late.Token).AsTask();
        Dispose(first.Now());
        // Before the request is delivered, which is granted then.
        late.Cancel();
        Assert.True(granted.IsCanceled);
        group.Deliver();
        Assert.Null(one.Tool.Holder);
    }

    [Fact]
    public void Holds_are_lost_while_the_service_is_silent_and_stay_lost()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var held = Acquire(one);
        group.Deliver();
        one.Host.IsServiceHeard = false;
        Assert.True(held.Now().Lost.IsCancellationRequested);
        Assert.Equal(one.Id, other.Tool.Holder);
        var next = Acquire(one);
        Dispose(held.Now());
        group.Deliver();
        Assert.True(next.Now().Lost.IsCancellationRequested);
        one.Host.IsServiceHeard = true;
        Assert.True(next.Now().Lost.IsCancellationRequested);
        Dispose(next.Now());
        var after = Acquire(one);
        group.Deliver();
        Assert.False(after.Now().Lost.IsCancellationRequested);
    }

    [Fact]
    public void Numbers_rise_when_all_members_have_gone_and_others_begin()
    {
        var group = NewGroup();
        var one = group.Join();
        FencingNumber before = default;
        for (int i = 0; i < 1_000; i++)
        {
            var request = Acquire(one);
            group.Deliver();
            before = request.Now().FencingNumber;
            Dispose(request.Now());
        }

        group.Leave(one);
        var other = group.Join();
        var first = Acquire(other);
        group.Deliver();
        Assert.True(first.Now().FencingNumber > before, $"{first.Now().FencingNumber} after {before}");
    }

    [Fact]
    public void A_member_that_joins_knows_the_line()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var held = Acquire(one);
        var waiting = Acquire(other);
        group.Deliver();
        var third = group.Join();
        Assert.Equal((one.Id, 1), (third.Tool.Holder, third.Tool.Waiting));
        Dispose(held.Now());
        group.Deliver();
        Assert.Equal((other.Id, 0), (third.Tool.Holder, third.Tool.Waiting));
        Assert.True(waiting.IsCompletedSuccessfully);
    }

    [Fact]
    public void A_line_that_is_full_refuses_requests()
    {
        var group = NewGroup();
        var (one, other, third) = (group.Join(), group.Join(), group.Join());
        foreach (var member in new[] { one, other })
        {
            for (int i = 0; i < ToolLimits.MostPending; i++)
            {
                _ = Acquire(member);
            }

            Assert.Throws<GroupFullException>(() => Acquire(member).Now());
        }

        group.Deliver();
        var requests = Enumerable.Range(0, ToolLimits.MostPending).Select(_ => Acquire(third)).ToList();
        group.Deliver();
        int refused = requests.Count(static one => one.IsFaulted);
        Assert.Equal((3 * ToolLimits.MostPending) - 1 - LockMachine.MostWaiting, refused);
    }

    [Fact]
    public void A_member_that_misses_messages_ends_unless_it_was_removed_meanwhile()
    {
        var group = NewGroup();
        var (one, other) = (group.Join(), group.Join());
        var gap = new GapNotice(one.Id, 1, 2, GapReason.Unrepaired);
        other.Tool.Replica.OnGap(gap);
        group.RemoveAndReturn(other);
        var held = Acquire(other);
        group.Deliver();
        Assert.False(held.Now().Lost.IsCancellationRequested);

        other.Tool.Replica.OnGap(gap);
        _ = Acquire(one);
        var fault = Assert.Throws<InvalidOperationException>(group.Deliver);
        Assert.Contains("cannot get messages 1 to 2", fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Numbers_sort_as_text_as_they_do_as_numbers()
    {
        FencingNumber[] sorted = [new(0, 1), new(1, 0), new(1, 9), new(1, 10), new(9, 1), new(long.MaxValue, 1)];
        Assert.Equal(sorted, sorted.Reverse().Order());
        Assert.Equal(sorted, sorted.Reverse().OrderBy(static one => one.ToString(), StringComparer.Ordinal));
        Assert.All(sorted, static one => Assert.Equal(39, one.ToString().Length));
        Assert.True(sorted[0] < sorted[1] && sorted[1] <= sorted[2] && sorted[3] > sorted[2] && sorted[3] >= sorted[3]);
    }

    private static Task<ILockHold> Acquire(ModelGroup<DistributedLock>.Member member) => member.Tool.AcquireAsync().AsTask();

    private static void Dispose(ILockHold hold) => Assert.True(hold.DisposeAsync().IsCompletedSuccessfully);

    private static ModelGroup<DistributedLock> NewGroup() => new(static (id, host) => new DistributedLock("lock", id, host));
}
