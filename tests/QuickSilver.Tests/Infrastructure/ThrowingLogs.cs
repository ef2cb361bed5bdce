using Microsoft.Extensions.Logging;

namespace QuickSilver.Tests.Infrastructure;

// Loggers whose provider is gone: each line throws, always or from the moment on that a test says.
internal sealed class ThrowingLogs : ILoggerFactory, ILogger
{
    private volatile bool _throws = true;

    public bool Throws
    {
        get => _throws;
        set => _throws = value;
    }

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (Throws)
        {
            throw new ObjectDisposedException("log");
        }
    }

    public void Dispose()
    {
    }
}
