using System.Diagnostics;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Loop;

// F6 (a pause) and F7 (a handler that blocks) are distinguished.
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
    public void A_handler_that_takes_long_is_named_with_the_time()
    {
        Assert.Equal(PauseCause.Handler, _watch.OnPause("the slow one", Ms(120)));
        Assert.Contains("the slow one", _log.TextOf(1021));
        Assert.Contains("120 ms", _log.TextOf(1021));
    }

    [Fact]
    public void A_step_that_the_collector_stopped_is_not_blamed_on_its_handler()
    {
        _watch.BeginTurn();
        _gcPause += Ms(100);
        Assert.Equal(PauseCause.Collector, _watch.OnPause("innocent", Ms(120)));
        Assert.False(_log.Has(1021));
        Assert.Contains("garbage collector", _log.TextOf(1022));
        Assert.Contains("100 ms", _log.TextOf(1022));

        // The same pause excuses one step only.
        Assert.Equal(PauseCause.Handler, _watch.OnPause("the slow one", Ms(120)));
        Assert.True(_log.Has(1021));
    }

    [Fact]
    public void A_step_that_was_compiled_at_its_first_run_is_no_warning()
    {
        _watch.BeginTurn();
        _compilation += Ms(70);
        Assert.Equal(PauseCause.Compiler, _watch.OnPause("new here", Ms(90)));
        Assert.False(_log.Has(1021));
        Assert.Contains("70 ms", _log.TextOf(1024));

        _watch.BeginTurn();
        Assert.Equal(PauseCause.Handler, _watch.OnPause("new here", Ms(90)));
        Assert.True(_log.Has(1021));
    }

    [Fact]
    public void The_compilation_of_a_step_is_information_once_and_then_for_debugging()
    {
        foreach (string step in (string[])["one", "one", "other", "one"])
        {
            _watch.BeginTurn();
            _compilation += Ms(70);
            Assert.Equal(PauseCause.Compiler, _watch.OnPause(step, Ms(90)));
        }

        Assert.Equal(
            [LogLevel.Information, LogLevel.Debug, LogLevel.Information, LogLevel.Debug],
            _log.Entries.Where(static entry => entry.Id == 1024).Select(static entry => entry.Level));
    }

    [Fact]
    public void A_logger_that_blocks_is_named_instead_of_the_step_that_logged()
    {
        _watch.BeginTurn();
        ListenerTime.EndLogger(ListenerTime.Begin() - Stopwatch.Frequency);
        Assert.Equal(PauseCause.Handler, _watch.OnPause("about to log", Ms(1100)));
        Assert.False(_log.Has(1021));
        Assert.Matches("mostly 1[0-9]{3} ms in a logger of the application", _log.TextOf(1027));

        _watch.BeginTurn();
        Assert.Equal(PauseCause.Handler, _watch.OnPause("the slow one", Ms(120)));
        Assert.True(_log.Has(1021));
    }

    [Fact]
    public void A_listener_to_meters_that_blocks_is_named_instead_of_the_step_that_measured()
    {
        _watch.BeginTurn();
        ListenerTime.EndListener(ListenerTime.Begin() - Stopwatch.Frequency);
        Assert.Equal(PauseCause.Handler, _watch.OnPause("about to measure", Ms(1100)));
        Assert.Matches("mostly 1[0-9]{3} ms in a listener to meters or activities", _log.TextOf(1027));
    }

    // Otherwise each report would be the cause of the next.
    [Fact]
    public void A_pause_by_the_report_of_a_pause_is_counted_and_not_reported()
    {
        _watch.BeginTurn();
        ListenerTime.EndLogger(ListenerTime.Begin() - Stopwatch.Frequency);
        Assert.Equal(PauseCause.Handler, _watch.OnPause(null, Ms(1100)));
        Assert.Empty(_log.Entries);
    }

    [Fact]
    public void A_time_in_which_nothing_ran_is_logged_with_the_collectors_share()
    {
        _watch.BeginTurn();
        _gcPause += Ms(70);
        Assert.Equal(PauseCause.Collector, _watch.OnPause(null, Ms(100)));
        Assert.Contains("100 ms", _log.TextOf(1023));
        Assert.Contains("70 ms", _log.TextOf(1023));
    }

    [Fact]
    public void A_time_in_which_nothing_ran_without_the_collector_is_one_in_which_the_process_did_not_run()
    {
        _watch.BeginTurn();
        _gcPause += Ms(20);
        Assert.Equal(PauseCause.NotRunning, _watch.OnPause(null, Ms(100)));
    }

    [Theory]
    [InlineData(249, LogLevel.Information)]
    [InlineData(250, LogLevel.Warning)]
    public void A_time_in_which_nothing_ran_is_a_warning_from_a_quarter_of_a_second_on(int milliseconds, LogLevel level)
    {
        _watch.OnPause(null, Ms(milliseconds));
        Assert.Equal(level, Assert.Single(_log.Entries, static entry => entry.Id == 1023).Level);
    }

    [Fact]
    public void The_collectors_time_since_the_turn_began_is_known_until_it_is_reported()
    {
        _watch.BeginTurn();
        Assert.Equal(Ms(0), _watch.CollectorPause);
        _gcPause += Ms(70);
        Assert.Equal(Ms(70), _watch.CollectorPause);
        _watch.OnPause(null, Ms(70));
        Assert.Equal(Ms(0), _watch.CollectorPause);
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
