using QuickSilver.Diagnostics;
using QuickSilver.Publishing;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Publishing;

// Which topics' publishers go on when the lane has room again; by calls, on one thread.
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
            Wait(_bench.Endpoint, _bench.Gate);
        }

        var gates = Enumerable.Range(0, others).Select(_ => WaitAtAnother()).ToList();
        for (int i = 0; i <= others + 1; i++)
        {
            _bench.Intake.Drain();
        }

        Assert.True(_bench.Gate.HasLine);
        Assert.All(gates, gate => Assert.False(gate.HasLine));
    }

    private PublishGate WaitAtAnother()
    {
        var endpoint = new StubEndpoint();
        var publisher = new TopicPublisher(
            _bench.Core, new NodeCounterCells(), _bench.Budget, _bench.Intake, new PublishLatency(_bench.Core, null));
        _bench.Intake.Enter(endpoint, publisher);
        Wait(endpoint, publisher.Gate);
        Assert.True(publisher.Gate.HasLine);
        return publisher.Gate;
    }

    private void Wait(StubEndpoint endpoint, PublishGate gate)
    {
        var request = _bench.Request(1, Bytes, endpoint);
        request.FitsLane = true;
        _ = _bench.Wait(request, gate);
    }
}
