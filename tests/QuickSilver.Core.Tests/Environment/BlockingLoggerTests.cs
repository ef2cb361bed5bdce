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
        environment.Post(new ActionRequest(static () => throw new InvalidOperationException("meant")));
        Patience.Until(() => logs.Recorder.Has(ListenerHeldThread), "the report");
        Assert.Contains("in a logger of the application", logs.Recorder.TextOf(ListenerHeldThread));
        Assert.DoesNotContain(
            logs.Recorder.Entries,
            static entry => entry.Id == HandlerHeldThread
                && entry.Text.Contains(nameof(A_logger_that_blocks_the_core_thread_is_named_and_not_the_step_that_logged)));
    }

    // Takes its time for the failure of a handler and for the report of that.
    private sealed class BlockingLogs : ILoggerFactory, ILogger
    {
        private static readonly TimeSpan Blocked = TimeSpan.FromMilliseconds(300);
        private readonly ManualResetEventSlim _never = new();

        public LogRecorder Recorder { get; } = new();

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
            if (eventId.Id is HandlerThrew or ListenerHeldThread)
            {
                _never.Wait(Blocked);
            }

            Recorder.Log(logLevel, eventId, state, exception, formatter);
        }
    }
}
