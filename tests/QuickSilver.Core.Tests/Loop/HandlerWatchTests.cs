using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Loop;

// F6 (a pause), F7 (a handler that blocks), told apart.
public sealed class HandlerWatchTests
{
    private readonly LogRecorder _log = new();
    private readonly CoreCounters _counters = new();
    private readonly HandlerWatch _watch;
    private TimeSpan _gcPause = TimeSpan.FromSeconds(3);
    private TimeSpan _compilation = TimeSpan.FromSeconds(2);

    public HandlerWatchTests()
    {
        _watch = new HandlerWatch(_counters, () => _gcPause, () => _compilation, _log);
    }

    [Fact]
    public void A_step_within_the_limit_is_not_mentioned()
    {
        Assert.Equal(Ms(50), _watch.EndStep("quick", Ms(0), Ms(50)));
        Assert.Empty(_log.Entries);
        Assert.Equal(0, _counters.LongSteps);
    }

    [Fact]
    public void A_long_step_is_counted_and_its_handler_named_with_the_time()
    {
        _watch.EndStep("the slow one", Ms(0), Ms(120));
        Assert.Equal(1, _counters.LongSteps);
        Assert.Contains("the slow one", _log.TextOf(1021));
        Assert.Contains("120 ms", _log.TextOf(1021));
    }

    [Fact]
    public void A_step_that_the_collector_stopped_is_not_blamed_on_its_handler()
    {
        _watch.BeginTurn();
        _gcPause += Ms(100);
        _watch.EndStep("innocent", Ms(0), Ms(120));
        Assert.False(_log.Has(1021));
        Assert.Contains("garbage collector", _log.TextOf(1022));
        Assert.Contains("100 ms", _log.TextOf(1022));

        // The same pause excuses one step only.
        _watch.EndStep("the slow one", Ms(120), Ms(240));
        Assert.True(_log.Has(1021));
    }

    [Fact]
    public void A_step_that_was_compiled_at_its_first_run_is_no_warning()
    {
        _watch.BeginTurn();
        _compilation += Ms(70);
        _watch.EndStep("new here", Ms(0), Ms(90));
        Assert.False(_log.Has(1021));
        Assert.Contains("70 ms", _log.TextOf(1024));

        _watch.BeginTurn();
        _watch.EndStep("new here", Ms(90), Ms(180));
        Assert.True(_log.Has(1021));
    }

    [Fact]
    public void A_late_wake_is_logged_with_the_collectors_share()
    {
        _watch.BeginTurn();
        _watch.Woke(Ms(100), Ms(140));
        Assert.Empty(_log.Entries);
        _gcPause += Ms(70);
        _watch.Woke(Ms(100), Ms(200));
        Assert.Contains("100 ms late", _log.TextOf(1023));
        Assert.Contains("70 ms", _log.TextOf(1023));
    }

    [Fact]
    public void Pauses_are_counted_from_the_beginning()
    {
        _gcPause += Ms(7);
        _watch.BeginTurn();
        Assert.Equal(Ms(7), _counters.GcPauseTime);
    }

    private static TimeSpan Ms(int milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
