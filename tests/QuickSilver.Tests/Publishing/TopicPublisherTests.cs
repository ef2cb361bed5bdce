using QuickSilver.Publishing;
using QuickSilver.Publishing.Requests;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// In which order messages go down to a topic's sender, and what comes of those that cannot.
public sealed class TopicPublisherTests
{
    private const int TurnMessages = 1024;

    private readonly PublishBench _bench = new();
    private readonly FakeSender _sender = new() { Room = int.MaxValue };

    private TopicPublisher Publisher => _bench.Publisher;

    [Fact]
    public void A_message_past_the_lane_goes_after_what_lay_in_the_lane_and_before_what_came_after_it()
    {
        Publisher.Open(_sender);
        _bench.Commit(1);
        _bench.Push(2);
        _bench.Push(3);
        _bench.Commit(4);
        _bench.Push(5);

        _bench.Core.Pump();

        Assert.Equal([1, 2, 3, 4, 5], PublishBench.NumbersOf(_sender));
        Assert.Equal(0, _bench.Gate.UsedBytes);
    }

    [Fact]
    public void Whichever_the_core_thread_looks_at_first_the_order_is_the_same()
    {
        Publisher.Open(_sender);
        _bench.Commit(1);
        _bench.Push(2);
        _bench.Commit(3);

        _bench.Intake.Drain();
        Publisher.OnInbox();

        Assert.Equal([1, 2, 3], PublishBench.NumbersOf(_sender));
    }

    [Fact]
    public void Messages_without_room_wait_in_their_order_and_nothing_is_lost_or_doubled()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        for (int i = 1; i <= 9; i++)
        {
            _bench.Push(i);
        }

        _bench.Core.Pump();
        Assert.Empty(_sender.Sent);
        for (int i = 0; i < 5; i++)
        {
            _sender.GiveRoom(2);
            _bench.Core.Pump();
        }

        Assert.Equal(Enumerable.Range(1, 9), PublishBench.NumbersOf(_sender));
        Assert.Equal(0, _bench.Gate.UsedBytes);
    }

    [Fact]
    public void A_blocked_topic_does_not_ask_its_sender_again_before_it_has_room()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        _bench.Push(1);
        _bench.Core.Pump();

        // Room that the sender has not announced.
        _sender.Room = 5;
        _bench.Push(2);
        _bench.Core.Pump();
        Assert.Empty(_sender.Sent);

        _sender.GiveRoom(5);
        Assert.Equal([1, 2], PublishBench.NumbersOf(_sender));
    }

    [Fact]
    public void The_core_thread_comes_back_after_so_many_messages()
    {
        Publisher.Open(_sender);
        for (int i = 0; i < 2 * TurnMessages; i++)
        {
            _bench.Push(i);
        }

        Publisher.OnInbox();
        Assert.Equal(TurnMessages, _sender.Sent.Count);

        _bench.Core.Pump();
        Assert.Equal(Enumerable.Range(0, 2 * TurnMessages), PublishBench.NumbersOf(_sender));
    }

    [Fact]
    public void A_marker_is_called_when_all_before_it_was_sent_and_not_before()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        int sentBefore = -1;
        _bench.Push(1);
        _bench.Push(2);
        Assert.True(_bench.Gate.TryEnter(Marker(() => sentBefore = _sender.Sent.Count)));
        _bench.Push(3);
        _bench.Core.Pump();
        _sender.GiveRoom(1);
        Assert.Equal(-1, sentBefore);

        _sender.GiveRoom(5);

        Assert.Equal((2, 3), (sentBefore, _sender.Sent.Count));
    }

    [Fact]
    public void Messages_that_spilled_out_of_the_lane_are_put_in_by_where_they_lay()
    {
        // The lane has passed all these marks.
        Publisher.Open(_sender);
        _bench.Commit(0, 500);
        _bench.Core.Pump();
        _sender.Sent.Clear();
        Publisher.Close(new InvalidOperationException());
        foreach (int mark in new[] { 50, 10, 30, 30, 20, 60 })
        {
            var request = _bench.Request(mark);
            request.Mark = mark;
            Publisher.TakeOver(request);
        }

        Assert.True(_bench.Gate.IsPastLane);
        var sender = new FakeSender { Room = int.MaxValue };
        Publisher.Open(sender);

        Assert.Equal([10, 20, 30, 30, 50, 60], PublishBench.NumbersOf(sender));
        Assert.Equal(0, _bench.Gate.UsedBytes);
        Assert.False(_bench.Gate.IsPastLane);
    }

    [Fact]
    public void Closing_closes_the_sender_fails_what_waits_with_the_reason_and_calls_markers()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        bool isCalled = false;
        var stable = Stable(_bench.Request(1), out var request);
        Assert.True(_bench.Gate.TryEnter(request));
        _bench.Push(2);
        Assert.True(_bench.Gate.TryEnter(Marker(() => isCalled = true)));
        _bench.Core.Pump();
        var reason = new InvalidOperationException("over");

        Publisher.Close(reason);

        Assert.True(_sender.IsClosed && isCalled);
        Assert.Same(reason, stable.Task.Exception!.InnerException);
        Assert.Equal((0, 0), (_bench.Gate.UsedBytes, _bench.Budget.Used));
    }

    [Fact]
    public void Calls_after_the_close_fail_with_the_same_reason()
    {
        Publisher.Open(_sender);
        var reason = new InvalidOperationException("over");
        Publisher.Close(reason);
        var stable = Stable(_bench.Request(1), out var request);

        Assert.True(_bench.Gate.TryEnter(request));
        _bench.Core.Pump();

        Assert.Same(reason, stable.Task.Exception!.InnerException);
        Assert.Empty(_sender.Sent);
        Assert.Equal(0, _bench.Gate.UsedBytes);
    }

    [Fact]
    public void A_topic_that_is_opened_again_continues_with_its_new_sender()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        _bench.Push(1);
        _bench.Core.Pump();
        Publisher.Close(new InvalidOperationException());
        var next = new FakeSender { Room = int.MaxValue };

        Publisher.Open(next);
        _bench.Push(2);
        _bench.Commit(3);
        _bench.Core.Pump();

        Assert.Empty(_sender.Sent);
        Assert.Equal([2, 3], PublishBench.NumbersOf(next));
    }

    [Fact]
    public void Queued_messages_of_an_ended_endpoint_go_without_waiting_for_room_and_the_others_stay_in_order()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        var ended = new StubOrigin();
        foreach (int number in Enumerable.Range(1, 6))
        {
            Assert.True(_bench.Gate.TryEnter(_bench.Request(number, origin: number % 2 == 0 ? ended : null)));
        }

        _bench.Core.Pump();
        long used = _bench.Gate.UsedBytes;
        ended.End(new OperationCanceledException());

        Publisher.OnEndpointEnded();

        Assert.Equal(used / 2, _bench.Gate.UsedBytes);
        _sender.GiveRoom(10);
        Assert.Equal([1, 3, 5], PublishBench.NumbersOf(_sender));
    }

    [Fact]
    public void Messages_published_after_an_endpoint_ended_the_queue_come_behind_those_left()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        var ended = new StubOrigin();
        _bench.Push(1);
        Assert.True(_bench.Gate.TryEnter(_bench.Request(2, origin: ended)));
        _bench.Core.Pump();
        ended.End(new OperationCanceledException());
        Publisher.OnEndpointEnded();

        _bench.Push(3);
        _sender.GiveRoom(10);
        _bench.Core.Pump();

        Assert.Equal([1, 3], PublishBench.NumbersOf(_sender));
    }

    [Fact]
    public void A_message_without_receivers_is_stable_at_once_without_a_sender()
    {
        bool isCalled = false;

        Publisher.WhenStable(() => isCalled = true);

        Assert.True(isCalled);
    }

    [Fact]
    public void A_stable_message_that_finds_no_room_waits_and_is_sent_once()
    {
        _sender.GiveRoom(0);
        Publisher.Open(_sender);
        var stable = Stable(_bench.Request(1), out var request);
        Assert.True(_bench.Gate.TryEnter(request));
        _bench.Core.Pump();
        Assert.True(_bench.Endpoint.Unstable.IsEmpty);

        _sender.GiveRoom(10);
        Assert.False(_bench.Endpoint.Unstable.IsEmpty);
        _sender.MakeStable();

        Assert.True(stable.Task.IsCompletedSuccessfully);
        Assert.Equal([1], PublishBench.NumbersOf(_sender));
        Assert.True(_bench.Endpoint.Unstable.IsEmpty);
    }

    private PublishRequest Marker(Action action)
    {
        var marker = _bench.Request(0);
        marker.Marker = action;
        return marker;
    }

    private StableCompletion Stable(PublishRequest of, out PublishRequest request)
    {
        request = of;
        return request.Stable = new StableCompletion(new PublishLatency(_bench.Core, null), default);
    }
}
