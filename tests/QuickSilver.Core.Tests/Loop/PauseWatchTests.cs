using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Tests.Loop;

// What a duty cycle takes for a pause, in a time of its own (F6, F7).
public sealed class PauseWatchTests : IPauseObserver
{
    private readonly Host _host = new();
    private readonly CoreCounters _counters = new();
    private readonly DutyCycle _cycle;
    private readonly List<Pause> _pauses = [];
    private readonly List<string> _steps = [];

    public PauseWatchTests()
    {
        var queues = new PriorityQueues();
        _cycle = new DutyCycle(_host, new CompletionIntake(new SlabPool(1 << 20), queues, _counters, new LogRecorder()), queues, _counters);
        _cycle.Pauses.Add(this);
        _host.Now = Ms(5000);
        Turn();
    }

    void IPauseObserver.OnPause(in Pause pause)
    {
        _pauses.Add(pause);
        _steps.Add("pause");
    }

    [Fact]
    public void A_rest_until_the_next_alarm_is_no_pause()
    {
        _cycle.Schedule(Alarm(), Ms(3000));
        Rest(Ms(3000));
        Assert.Empty(_pauses);
    }

    [Fact]
    public void A_rest_that_something_ends_early_is_no_pause()
    {
        _cycle.Schedule(Alarm(), Ms(3000));
        Rest(Ms(200));
        Assert.Empty(_pauses);
    }

    [Fact]
    public void A_rest_without_an_alarm_is_no_pause_however_long_it_is()
    {
        Rest(TimeSpan.FromHours(3));
        Assert.Empty(_pauses);
    }

    [Fact]
    public void Time_after_an_alarm_was_due_is_a_pause_and_it_is_reported_before_the_alarm_fires()
    {
        _cycle.Schedule(Alarm(), Ms(100));
        Rest(Ms(3100));
        Assert.Equal([new Pause(Ms(3000), PauseCause.NotRunning)], _pauses);
        Assert.Equal(["pause", "alarm"], _steps);
    }

    [Theory]
    [InlineData(50, 0)]
    [InlineData(51, 1)]
    public void A_pause_is_longer_than_50_ms(int late, int pauses)
    {
        _cycle.Schedule(Alarm(), Ms(100));
        Rest(Ms(100 + late));
        Assert.Equal(pauses, _pauses.Count);
    }

    [Fact]
    public void A_step_that_takes_long_is_a_pause_once()
    {
        _cycle.Requests.Enqueue(new ActionRequest(() => _host.Now += Ms(400)));
        _cycle.Requests.Enqueue(new ActionRequest(() => _host.Now += Ms(40)));
        Turn();
        Turn();
        Assert.Equal([new Pause(Ms(400), PauseCause.Handler)], _pauses);
    }

    [Fact]
    public void Time_that_passes_between_two_parts_of_a_turn_is_a_pause()
    {
        _cycle.Schedule(Alarm(), TimeSpan.Zero);
        _cycle.Requests.Enqueue(new ActionRequest(() => _steps.Add("request")));
        _cycle.BeginTurn(TimeSpan.MinValue);
        _cycle.FireAlarms();
        _host.Now += Ms(70);
        _cycle.ExecuteRequests();
        Assert.Equal([new Pause(Ms(70), PauseCause.NotRunning)], _pauses);
        Assert.Equal(["alarm", "pause", "request"], _steps);
    }

    [Fact]
    public void A_turn_that_follows_without_a_rest_has_nothing_that_explains_time()
    {
        Rest(TimeSpan.Zero);
        _host.Now += Ms(70);
        _cycle.BeginTurn(TimeSpan.MinValue);
        Assert.Equal(Ms(70), Assert.Single(_pauses).Length);
    }

    [Fact]
    public void Pauses_are_counted_with_their_time_the_longest_and_the_causes()
    {
        foreach (int length in new[] { 60, 300, 90 })
        {
            _cycle.Requests.Enqueue(new ActionRequest(() => _host.Now += Ms(length)));
            Turn();
        }

        _cycle.Schedule(Alarm(), Ms(1));
        Rest(Ms(101));
        Assert.Equal((4, Ms(550).Ticks, Ms(300).Ticks), (_counters.LongSteps, _counters.PauseTicks, _counters.LongestPauseTicks));
        Assert.Equal((1, 3), (_counters.PausesNotRunning, _counters.PausesOfHandlers));
        Assert.Equal((0, 0), (_counters.PausesOfCollector, _counters.PausesOfCompiler));
    }

    [Fact]
    public void An_exception_of_an_observer_reaches_the_host_and_ends_nothing()
    {
        _cycle.Pauses.Add(new Thrower());
        _cycle.Requests.Enqueue(new ActionRequest(() => _host.Now += Ms(400)));
        _cycle.Requests.Enqueue(new ActionRequest(() => _steps.Add("after")));
        Turn();
        Turn();
        Assert.Equal("observer", Assert.Single(_host.Escaped));
        Assert.Contains("after", _steps);
    }

    [Fact]
    public void An_observer_may_remove_itself_in_its_call()
    {
        var once = new Once(_cycle.Pauses);
        _cycle.Pauses.Add(once);
        for (int i = 0; i < 2; i++)
        {
            _cycle.Requests.Enqueue(new ActionRequest(() => _host.Now += Ms(400)));
            Turn();
        }

        Assert.Equal((1, 2), (once.Told, _pauses.Count));
    }

    private Alarm Alarm() => new(() => _steps.Add("alarm"));

    // As a host does that blocks until the next alarm and continues so much later.
    private void Rest(TimeSpan passes)
    {
        var due = _cycle.TryPeekDue(out var first) ? first : TimeSpan.MaxValue;
        _host.Now += passes;
        Turn(due);
    }

    private void Turn(TimeSpan? rested = null)
    {
        _cycle.BeginTurn(rested ?? TimeSpan.MinValue);
        _cycle.ServeInput();
        _cycle.FireAlarms();
        _cycle.ExecuteRequests();
        _cycle.ServeOutput();
    }

    private static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);

    private sealed class Thrower : IPauseObserver
    {
        public void OnPause(in Pause pause) => throw new InvalidDataException("observer");
    }

    private sealed class Once(PauseObservers observers) : IPauseObserver
    {
        public int Told { get; private set; }

        public void OnPause(in Pause pause)
        {
            Told++;
            observers.Remove(this);
        }
    }

    private sealed class Host : IDutyHost
    {
        public TimeSpan Now { get; set; }

        public List<string> Escaped { get; } = [];

        public void BeginRun(PortSource port, in PlacedRun run)
        {
        }

        public TimeSpan EndStep(object handler, TimeSpan began) => Now;

        public PauseCause OnPause(object? handler, TimeSpan length) => handler is null ? PauseCause.NotRunning : PauseCause.Handler;

        public void OnEscaped(Exception exception, object handler) => Escaped.Add(exception.Message);
    }
}
