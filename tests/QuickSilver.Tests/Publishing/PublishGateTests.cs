using QuickSilver.Publishing.Requests;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Publishing;

// Which calls enter, which wait, and which continue when room comes; by calls, on one thread.
public sealed class PublishGateTests
{
    private const long Limit = 20_000;
    private const long TopicLimit = Limit / 2;
    private const int Bytes = 1_000;
    private const long Charge = Bytes + PublishBudget.MessageOverhead;
    private const int Fits = (int)(TopicLimit / Charge);

    private readonly PublishBench _bench = new(Limit);

    private PublishGate Gate => _bench.Gate;

    [Fact]
    public void A_topic_takes_half_of_the_nodes_bound_and_counts_what_it_took()
    {
        Assert.Equal(Fits, Fill());

        Assert.Equal(Fits * Charge, Gate.UsedBytes);
        Assert.Equal(Fits * Charge, _bench.Budget.Used);
    }

    [Fact]
    public void A_topic_takes_nothing_more_when_others_fill_the_nodes_bound()
    {
        Assert.True(Gate.TryEnter(_bench.Request(1, Bytes)));
        _bench.Budget.Add(Limit - Charge);

        Assert.False(Gate.TryEnter(_bench.Request(2, Bytes)));
        Assert.Equal((Charge, Limit), (Gate.UsedBytes, _bench.Budget.Used));
    }

    [Fact]
    public void A_topic_that_has_nothing_queued_takes_one_message_whatever_its_size_and_whatever_others_have()
    {
        _bench.Budget.Add(Limit);

        Assert.True(Gate.TryEnter(_bench.Request(1, 4 * (int)Limit)));
        Assert.False(Gate.TryEnter(_bench.Request(2)));
    }

    [Fact]
    public void Items_are_taken_oldest_first()
    {
        _bench.Push(1);
        _bench.Push(2);
        _bench.Push(3);

        Assert.True(Gate.HasInbox);
        Assert.Equal([1, 2, 3], _bench.TakeInbox());
        Assert.False(Gate.HasInbox);
        Assert.False(_bench.Intake.HasInboxes);
    }

    [Fact]
    public void Only_the_first_into_an_empty_inbox_wakes_the_core_thread()
    {
        int before = _bench.Core.Posts;
        for (int i = 0; i < 5; i++)
        {
            _bench.Push(i);
        }

        Assert.Equal(before + 1, _bench.Core.Posts);
    }

    [Fact]
    public void A_message_is_marked_with_where_the_lane_ends_when_it_is_pushed()
    {
        _bench.Commit(1);
        long tail = _bench.Lane.Tail;
        _bench.Push(2);
        _bench.Commit(3);

        Assert.Equal(tail, Gate.TakeInbox()!.Mark);
    }

    [Fact]
    public void No_call_enters_before_waiting_ones_although_there_is_room_for_it()
    {
        Fill();
        var waiting = _bench.Wait(_bench.Request(100, Bytes));
        Gate.Release(Charge);
        Assert.True(Gate.HasLine && Gate.IsPastLane);

        Assert.False(Gate.TryEnter(_bench.Request(101)));
        Assert.False(waiting.IsCompleted);
    }

    [Fact]
    public async Task Waiting_calls_continue_in_their_order_when_half_of_the_room_is_free()
    {
        int filled = Fill();
        _bench.TakeInbox();
        var waiting = Enumerable.Range(100, 4).Select(i => _bench.Wait(_bench.Request(i, Bytes))).ToList();
        while (Gate.UsedBytes - Charge > TopicLimit / 2)
        {
            Gate.Release(Charge);
            filled--;
        }

        Assert.DoesNotContain(waiting, wait => wait.IsCompleted);

        Gate.Release(Charge);

        await Task.WhenAll(waiting).OrFail();
        Assert.Equal([100, 101, 102, 103], _bench.TakeInbox());
        Assert.Equal((filled - 1 + 4) * Charge, Gate.UsedBytes);
        Assert.False(Gate.HasLine);
    }

    // Otherwise the publishers of a topic that a slow reader holds stand still until all of that has gone.
    [Fact]
    public async Task Messages_from_the_lane_widen_the_room_until_nothing_is_queued()
    {
        int filled = Fill();
        _bench.TakeInbox();
        Gate.Charge(2 * Charge);
        var waiting = _bench.Wait(_bench.Request(100, Bytes));
        _bench.Core.Advance(TimeSpan.FromMilliseconds(100));
        Gate.Release(Charge);
        await waiting.OrFail();
        Assert.Equal((filled + 2) * Charge, Gate.UsedBytes);

        _bench.TakeInbox();
        Gate.Release(Gate.UsedBytes);
        Gate.SetQueued(false);
        Assert.Equal(filled, Fill());
    }

    // As where a slow reader holds the topic: half of the room may need many seconds.
    [Fact]
    public async Task Calls_that_wait_for_long_continue_as_soon_as_a_message_has_gone()
    {
        Fill();
        _bench.TakeInbox();
        var first = _bench.Wait(_bench.Request(100, Bytes));
        var second = _bench.Wait(_bench.Request(101, Bytes));
        Gate.Release(Charge);
        Assert.False(first.IsCompleted);
        _bench.Core.Advance(TimeSpan.FromMilliseconds(100));
        Gate.Release(Charge);
        await Task.WhenAll(first, second).OrFail();
        Assert.Equal([100, 101], _bench.TakeInbox());

        var third = _bench.Wait(_bench.Request(102, Bytes));
        Gate.Release(Charge);
        Assert.False(third.IsCompleted);
    }

    [Fact]
    public void A_call_that_finds_room_on_joining_the_line_does_not_wait()
    {
        var request = _bench.Request(1, Bytes);

        Assert.True(Gate.EnterOrQueue(request));

        Assert.False(Gate.HasLine);
        Assert.Equal([1], _bench.TakeInbox());
    }

    [Fact]
    public async Task A_wait_that_is_withdrawn_leaves_the_line_and_its_message_is_not_sent()
    {
        Fill();
        var first = _bench.Wait(_bench.Request(100, Bytes));
        var request = _bench.Request(101, Bytes);
        var middle = _bench.Wait(request);
        var last = _bench.Wait(_bench.Request(102, Bytes));
        using var cancelled = new CancellationTokenSource();
        await cancelled.CancelAsync();

        Gate.Withdraw(request.Wait!, cancelled.Token);

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => middle);
        _bench.TakeInbox();
        Gate.Release(Gate.UsedBytes);
        await Task.WhenAll(first, last).OrFail();
        Assert.Equal([100, 102], _bench.TakeInbox());
    }

    [Fact]
    public async Task Calls_behind_a_large_message_that_is_withdrawn_continue()
    {
        _bench.Push(1);
        var large = _bench.Request(100, (int)Limit);
        var wait = _bench.Requests.RentWait();
        (wait.Gate, wait.Request, large.Wait) = (Gate, large, wait);
        Assert.False(Gate.EnterOrQueue(large));
        var small = _bench.Wait(_bench.Request(101));
        Assert.False(small.IsCompleted);

        Assert.True(Gate.TryWithdraw(wait));

        await small.OrFail();
        Assert.Equal([1, 101], _bench.TakeInbox());
        Assert.False(Gate.HasLine);
    }

    [Fact]
    public async Task A_wait_that_has_left_the_line_cannot_be_withdrawn()
    {
        Fill();
        var request = _bench.Request(100, Bytes);
        var wait = new PublishWait(null) { Gate = Gate, Request = request };
        request.Wait = wait;
        Assert.False(Gate.EnterOrQueue(request));
        Gate.Release(Gate.UsedBytes);
        await wait.Task.OrFail();

        Assert.False(Gate.TryWithdraw(wait));
    }

    // The core thread may free the room of an ended endpoint's messages before the thread that ends it has failed its line.
    [Fact]
    public async Task Room_that_is_free_after_an_endpoints_end_is_given_to_other_publishers_only()
    {
        Fill();
        var ended = new StubOrigin();
        var (own, other) = (_bench.Wait(_bench.Request(100, Bytes, ended)), _bench.Wait(_bench.Request(101, Bytes)));
        _bench.TakeInbox();
        var reason = new InvalidOperationException("over");
        ended.End(reason);

        Gate.Release(Gate.UsedBytes);

        Assert.Same(reason, await Assert.ThrowsAsync<InvalidOperationException>(() => own));
        await other.OrFail();
        Assert.Equal([101], _bench.TakeInbox());
        Assert.Equal(Charge, Gate.UsedBytes);
        Gate.FailLine(ended, reason);
        Assert.False(Gate.HasLine);
    }

    [Fact]
    public async Task An_endpoints_end_fails_those_of_its_publishers_that_wait_and_no_others()
    {
        Fill();
        var ended = new StubOrigin();
        var (own, other) = (_bench.Wait(_bench.Request(100, Bytes)), _bench.Wait(_bench.Request(101, Bytes, ended)));
        var reason = new InvalidOperationException("over");

        Gate.FailLine(ended, reason);

        Assert.Same(reason, await Assert.ThrowsAsync<InvalidOperationException>(() => other));
        Assert.False(own.IsCompleted);
        Gate.FailLine(null, reason);
        Assert.Same(reason, await Assert.ThrowsAsync<InvalidOperationException>(() => own));
        Assert.False(Gate.HasLine);
    }

    [Fact]
    public void A_marker_keeps_its_place_when_the_line_fails()
    {
        Fill();
        var marker = _bench.Request(100, Bytes);
        marker.Marker = () => { };
        Assert.False(Gate.EnterOrQueue(marker));

        Gate.FailLine(null, new InvalidOperationException());
        Assert.True(Gate.HasLine);
        _bench.TakeInbox();
        Gate.Release(Gate.UsedBytes);

        Assert.Equal([100], _bench.TakeInbox());
    }

    [Fact]
    public async Task Messages_that_fit_the_lane_wait_for_it_and_not_past_it()
    {
        FillLane();
        var request = _bench.Request(100);
        request.FitsLane = true;
        Assert.False(Gate.TryEnter(request));
        var waiting = _bench.Wait(request);
        Assert.False(waiting.IsCompleted);

        // The endpoint's messages are dropped, so the lane gets room.
        _bench.Intake.Leave(_bench.Number);
        _bench.Core.Pump();

        await waiting.OrFail();
    }

    // Otherwise all messages after them would go past the lane too, for as long as publishers are faster than the network.
    [Fact]
    public async Task Calls_that_waited_for_the_lane_leave_their_messages_in_it_in_their_order()
    {
        FillLane();
        var waiting = new List<Task>();
        for (int i = 1; i <= 3; i++)
        {
            var request = _bench.Request(i, 100);
            request.FitsLane = true;
            waiting.Add(_bench.Wait(request));
        }

        Assert.True(Gate.IsPastLane);
        EmptyLane();
        Gate.Serve(isDue: false);

        await Task.WhenAll(waiting).OrFail();
        Assert.False(Gate.IsPastLane);
        Assert.False(Gate.HasInbox);
        Assert.Equal(0, Gate.UsedBytes);
        Assert.Equal([1, 2, 3], EmptyLane());
    }

    [Fact]
    public async Task Messages_that_do_not_fit_the_lane_follow_those_that_went_into_it_before()
    {
        FillLane();
        var small = _bench.Request(1, 100);
        small.FitsLane = true;
        var waiting = new[] { _bench.Wait(small), _bench.Wait(_bench.Request(2, 100)) };
        EmptyLane();
        Gate.Serve(isDue: false);

        await Task.WhenAll(waiting).OrFail();
        Assert.True(_bench.Lane.TryPeek(out var message));
        Assert.Equal(1, PublishBench.NumberOf(message.Payload));
        Assert.Equal(message.Position + message.Bytes, Gate.TakeInbox()!.Mark);
    }

    [Fact]
    public void Messages_that_fit_the_lane_go_past_it_while_older_messages_of_the_topic_wait_there()
    {
        FillLane();
        Gate.SetQueued(true);
        var request = _bench.Request(100);
        request.FitsLane = true;

        Assert.True(Gate.IsPastLane);
        Assert.True(Gate.TryEnter(request));
    }

    private int Fill()
    {
        int count = 0;
        while (Gate.TryEnter(_bench.Request(count, Bytes)))
        {
            count++;
        }

        return count;
    }

    private List<int> EmptyLane()
    {
        var numbers = new List<int>();
        while (_bench.Lane.TryPeek(out var message))
        {
            numbers.Add(PublishBench.NumberOf(message.Payload));
            _bench.Lane.Take(message);
        }

        _bench.Lane.Release();
        return numbers;
    }

    private void FillLane()
    {
        while (_bench.Lane.HasMuchRoom)
        {
            _bench.Commit(0, 500);
        }
    }
}
