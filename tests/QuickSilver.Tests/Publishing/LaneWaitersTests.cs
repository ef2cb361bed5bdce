using QuickSilver.Diagnostics;
using QuickSilver.Publishing;
using QuickSilver.Publishing.Requests;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// Which topics' publishers continue when the lane has room again; by calls, on one thread.
public sealed class LaneWaitersTests
{
    private const int Bytes = 1_000;
    // More than find room in the drains of a test.
    private const int Many = 60;

    private readonly PublishBench _bench = new();

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public void A_topic_whose_line_never_ends_does_not_keep_the_others_from_the_lane(int others)
    {
        while (_bench.Lane.HasMuchRoom)
        {
            _bench.Commit(0, 500);
        }

        for (int i = 0; i < Many; i++)
        {
            _ = Wait(_bench.Endpoint, _bench.Gate);
        }

        var gates = Enumerable.Range(0, others).Select(_ => WaitAtAnother()).ToList();
        for (int i = 0; i <= others + 1; i++)
        {
            _bench.Intake.Drain();
        }

        Assert.True(_bench.Gate.HasLine);
        Assert.All(gates, gate => Assert.False(gate.HasLine));
    }

    // As where a slow reader holds the topic: three quarters of the lane may need many seconds.
    [Fact]
    public async Task The_publishers_of_a_held_topic_continue_from_time_to_time_with_any_room_in_the_lane()
    {
        var sender = new FakeSender();
        _bench.Publisher.Open(sender);
        while (_bench.Lane.TryClaim(Bytes, out var claim))
        {
            _bench.Lane.Commit(claim, _bench.Number, Bytes);
        }

        _bench.Intake.Drain();
        _bench.Core.Advance(TimeSpan.FromSeconds(1));
        var waiting = Enumerable.Range(0, 3).Select(_ => Wait(_bench.Endpoint, _bench.Gate)).ToList();

        Send(sender);
        await waiting[0].OrFail();
        Send(sender);
        Assert.False(waiting[1].IsCompleted || waiting[2].IsCompleted);
        for (int i = 0; i < waiting.Count; i++)
        {
            _bench.Core.Advance(TimeSpan.FromMilliseconds(50));
            Send(sender);
        }

        await Task.WhenAll(waiting).OrFail();
        Assert.False(_bench.Lane.HasMuchRoom);
        // In the lane: past it they would cost more.
        Assert.Equal((false, 0), (_bench.Gate.IsPastLane, _bench.Gate.UsedBytes));
    }

    private void Send(FakeSender sender)
    {
        sender.GiveRoom(1);
        _bench.Core.Pump();
    }

    private PublishGate WaitAtAnother()
    {
        var endpoint = new StubOrigin();
        var publisher = new TopicPublisher(
            _bench.Core, new NodeCounterCells(), _bench.Budget, _bench.Intake, new PublishLatency(_bench.Core, null));
        _bench.Intake.Enter(endpoint, publisher);
        _ = Wait(endpoint, publisher.Gate);
        Assert.True(publisher.Gate.HasLine);
        return publisher.Gate;
    }

    private Task Wait(StubOrigin endpoint, PublishGate gate)
    {
        var request = _bench.Request(1, Bytes, endpoint);
        request.FitsLane = true;
        return _bench.Wait(request, gate);
    }
}
