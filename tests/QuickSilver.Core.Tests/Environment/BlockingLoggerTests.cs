using System.Diagnostics;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Environment;

// F7: what blocks the core thread is a logger of the application.
public sealed class BlockingLoggerTests
{
    private const int HandlerThrew = 1020;
    private const int HandlerHeldThread = 1021;
    private const int ListenerHeldThread = 1027;

    [Fact]
    public void A_logger_that_blocks_the_core_thread_is_named_and_not_the_step_that_logged()
    {
        var logs = new BlockingLogs();
        using var environment = MachineEnvironment.Start(new MachineEnvironmentOptions { BufferBytes = 4 << 20 }, logs);
        // Again if the collector or the compiler held the thread for longer than the logger, and is named.
        Patience.Until(() => HoldUp(environment, logs) && logs.Recorder.Has(ListenerHeldThread), "the report");
        Assert.Contains("in a logger of the application", logs.Recorder.TextOf(ListenerHeldThread));
        Assert.DoesNotContain(
            logs.Recorder.Entries,
            static entry => entry.Id == HandlerHeldThread
                && entry.Text.Contains(nameof(A_logger_that_blocks_the_core_thread_is_named_and_not_the_step_that_logged)));
    }

    private static bool HoldUp(MachineEnvironment environment, BlockingLogs logs)
    {
        using var isOver = new ManualResetEventSlim();
        environment.Post(new ActionRequest(() =>
        {
            logs.StepBegan = Stopwatch.GetTimestamp();
            throw new InvalidOperationException("meant");
        }));
        environment.Post(new ActionRequest(isOver.Set));
        return isOver.Wait(Patience.Limit);
    }

    // Takes its time for the failure of a handler and for the report of that: longer than what is to be reported at all, and far longer
    // than all else in the step, which takes long where the machine is busy.
    private sealed class BlockingLogs : ILoggerFactory, ILogger
    {
        private const int TimesTheRest = 5;
        private static readonly TimeSpan LeastBlocked = TimeSpan.FromMilliseconds(300);
        private readonly ManualResetEventSlim _never = new();

        public LogRecorder Recorder { get; } = new();

        /// <summary>The time stamp at which the step began that fails.</summary>
        public long StepBegan { get; set; }

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public void Dispose() => _never.Dispose();

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            Recorder.Log(logLevel, eventId, state, exception, formatter);
            if (eventId.Id == HandlerThrew)
            {
                var rest = TimesTheRest * Stopwatch.GetElapsedTime(StepBegan);
                _never.Wait(rest > LeastBlocked ? rest : LeastBlocked);
            }
            else if (eventId.Id == ListenerHeldThread)
            {
                _never.Wait(LeastBlocked);
            }
        }
    }
}
