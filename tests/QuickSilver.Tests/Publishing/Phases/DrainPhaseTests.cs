using QuickSilver.Publishing.Lane;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Publishing.Phases;

public sealed class DrainPhaseTests
{
    private readonly PublishBench _bench = new();
    private DrainPhase _phase;

    [Fact]
    public void One_turn_runs_at_a_time()
    {
        _phase.BeginTurn();
        Assert.True(_phase.IsDraining);
        Assert.Throws<InvalidOperationException>(() => _phase.BeginTurn());

        _phase.EndTurn();
        Assert.False(_phase.IsDraining);
        Assert.Throws<InvalidOperationException>(() => _phase.EndTurn());
    }

    [Theory]
    [InlineData(100, 100, true)]
    [InlineData(100, 164, false)]
    public void A_lane_whose_head_has_not_moved_in_a_wait_is_stuck(long begin, long end, bool isStuck)
    {
        _phase.BeginWait(begin);
        Assert.True(_phase.IsWaiting);
        Assert.False(_phase.IsStuck);

        _phase.EndWait(end);
        Assert.False(_phase.IsWaiting);
        Assert.Equal(isStuck, _phase.IsStuck);
    }

    [Fact]
    public void There_is_one_wait_at_a_time()
    {
        Assert.Throws<InvalidOperationException>(() => _phase.EndWait(0));
        _phase.BeginWait(0);
        Assert.Throws<InvalidOperationException>(() => _phase.BeginWait(64));
    }

    [Fact]
    public void A_message_that_is_passed_on_ends_the_standstill()
    {
        Stick();
        _phase.OnMoved();

        Assert.False(_phase.IsStuck);
    }

    [Fact]
    public void Without_memory_nothing_is_moved_until_a_wait_has_ended()
    {
        Stick();
        _phase.BeginShort();
        Assert.True(_phase.IsShort);
        Assert.False(_phase.IsStuck);
        Assert.Throws<InvalidOperationException>(() => _phase.BeginShort());

        Stick();
        Assert.False(_phase.IsShort);
        Assert.True(_phase.IsStuck);
    }

    [Fact]
    public void A_stuck_lane_stands_for_one_topic_and_a_moving_one_for_any()
    {
        var other = new PublishBench().Gate;
        Assert.True(_phase.StandsFor(_bench.Gate));
        Assert.Throws<InvalidOperationException>(() => _phase.Stand(_bench.Gate));

        Stick();
        _phase.Stand(_bench.Gate);
        Assert.True(_phase.StandsFor(_bench.Gate));
        Assert.False(_phase.StandsFor(other));

        _phase.Release();
        Assert.True(_phase.StandsFor(other));
    }

    private void Stick()
    {
        _phase.BeginWait(0);
        _phase.EndWait(0);
    }
}
