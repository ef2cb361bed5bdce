using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Diagnostics;

public sealed class GuardedLoggerTests
{
    [Fact]
    public void Exceptions_of_a_logger_are_swallowed_and_counted()
    {
        var loggers = GuardedLoggers.Of(new ThrowingLogs());
        var logger = loggers.CreateLogger("any");
        Assert.False(logger.IsEnabled(LogLevel.Error));
        Assert.Null(logger.BeginScope("any"));
        logger.Log(LogLevel.Error, 1, "any", null, static (state, _) => state);
        Assert.Equal(3, loggers.Faults);
    }

    [Fact]
    public void A_factory_that_makes_no_logger_leaves_one_that_says_nothing()
    {
        var loggers = GuardedLoggers.Of(new ThrowingLogs { Makes = false });
        loggers.CreateLogger("any").Log(LogLevel.Error, 1, "any", null, static (state, _) => state);
        Assert.Equal(1, loggers.Faults);
    }

    [Fact]
    public void A_logger_that_works_is_given_all_and_is_guarded_once()
    {
        var recorder = new LogRecorder();
        var loggers = GuardedLoggers.Of(recorder);
        var logger = loggers.CreateLogger("any");
        Assert.True(logger.IsEnabled(LogLevel.Error));
        logger.Log(LogLevel.Error, 7, "said", null, static (state, _) => state);
        Assert.Equal("said", recorder.TextOf(7));
        Assert.Equal(0, loggers.Faults);
        Assert.Same(loggers, GuardedLoggers.Of(loggers));
        Assert.Same(logger, GuardedLogger.Of(logger));
    }

    private sealed class ThrowingLogs : ILoggerFactory, ILogger
    {
        public bool Makes { get; init; } = true;

        public ILogger CreateLogger(string categoryName) => Makes ? this : throw Gone();

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => throw Gone();

        public bool IsEnabled(LogLevel logLevel) => throw Gone();

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            throw Gone();

        public void Dispose()
        {
        }

        private static ObjectDisposedException Gone() => new("log");
    }
}
