using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Stalls;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stalls;

// What waits without progress is reported when the limit has passed, and soon after it (I21).
public sealed class StallWatchTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Latest = Limit * 1.1;

    private readonly HandDrivenEnvironment _environment = new();
    private readonly object _item = new();
    private readonly List<TimeSpan> _began = [];
    private readonly List<TimeSpan> _ended = [];
    private readonly StallWatch _watch;
    private long? _progress;

    public StallWatchTests()
    {
        _watch = new StallWatch(
            _environment,
            Limit,
            waits =>
            {
                if (_progress is { } progress)
                {
                    waits.Add(new Wait(_item, progress));
                }
            },
            (_, _) => _began.Add(_environment.Now),
            (_, _) => _ended.Add(_environment.Now));
    }

    // Other waits keep the watch looking, at moments that have nothing to do with this wait.
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(130)]
    [InlineData(499)]
    [InlineData(1_234)]
    public void A_wait_is_reported_at_most_a_tenth_of_the_limit_late(int offsetMillis)
    {
        _progress = 0;
        _watch.Look();
        _environment.Advance(offsetMillis);
        _progress = 1;
        _watch.Look();
        var from = _environment.Now;
        _environment.Advance(Limit * 3);

        var at = Assert.Single(_began);
        Assert.InRange(at - from, Limit, Latest);
        Assert.Equal(1, _watch.Stalled);
    }

    [Fact]
    public void Progress_just_before_the_limit_begins_the_time_again_and_progress_after_it_ends_the_stall()
    {
        _progress = 0;
        _watch.Look();
        _environment.Advance(Limit * 0.95);
        _progress = 1;
        _environment.Advance(Limit * 0.95);
        Assert.Empty(_began);

        _environment.Advance(Limit);
        Assert.Single(_began);
        _progress = 2;
        _environment.Advance(Limit * 0.2);
        Assert.Single(_ended);
        Assert.Equal(0, _watch.Stalled);
    }

    [Fact]
    public void It_rests_when_nothing_waits()
    {
        _progress = 0;
        _watch.Look();
        _environment.Advance(Limit / 2);
        _progress = null;
        _environment.Advance(Limit);
        _progress = 0;
        _environment.Advance(Limit * 4);
        Assert.Empty(_began);
    }
}
