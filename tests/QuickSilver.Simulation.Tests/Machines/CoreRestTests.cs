using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Tests.Machines;

public sealed class CoreRestTests
{
    private static readonly TimeSpan Step = TimeSpan.FromMicroseconds(10);

    private readonly DriftingClock _clock = new(new VirtualTime());
    private CoreRest _rest = new();
    private TimeSpan _now = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_thread_with_work_left_does_not_rest()
    {
        _rest.Begin(isIdle: false, _now, _now);
        Assert.False(_rest.IsAsleep);
        Assert.False(_rest.IsNapping);
    }

    [Fact]
    public void An_idle_thread_blocks_until_its_next_turn()
    {
        _rest.Begin(isIdle: true, _now, _now);
        Assert.True(_rest.IsAsleep);
        Assert.False(_rest.IsNapping);
        Assert.Equal(_now, _rest.Since);

        _rest.End(_now + Step, _clock, hasInput: true);
        Assert.False(_rest.IsAsleep);
    }

    [Fact]
    public void After_a_stream_of_quick_wakes_the_thread_naps_before_it_blocks()
    {
        int wakes = 0;
        do
        {
            _rest.Begin(isIdle: true, _now, _now);
            if (!_rest.IsNapping)
            {
                _now += Step;
                _rest.End(_now, _clock, hasInput: true);
            }
        }
        while (!_rest.IsNapping && ++wakes < 100);

        Assert.True(_rest.IsNapping);
        Assert.True(_rest.Since > _now);
        // A turn within the nap does not end it, and one after it does.
        _rest.End(_now + TimeSpan.FromTicks(1), _clock, hasInput: true);
        Assert.True(_rest.IsNapping);
        _rest.End(_rest.Since + Step, _clock, hasInput: true);
        Assert.False(_rest.IsAsleep);
        Assert.False(_rest.IsNapping);
    }
}
