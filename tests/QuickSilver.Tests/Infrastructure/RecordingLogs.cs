using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Tests.Infrastructure;

internal sealed class RecordingLogs : ILoggerFactory, ILogger
{
    public ConcurrentQueue<(int Id, LogLevel Level, string Text, Exception? Exception)> Entries { get; } = new();

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        Entries.Enqueue((eventId.Id, logLevel, formatter(state, exception), exception));

    public void Dispose()
    {
    }
}
