using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace QuickSilver.Core.Tests.Infrastructure;

// Keeps what was logged, for tests that ask whether something was said.
internal sealed class LogRecorder : ILogger, ILoggerFactory
{
    public ConcurrentQueue<(int Id, string Text, LogLevel Level)> Entries { get; } = new();

    public bool Has(int id) => Entries.Any(entry => entry.Id == id);

    public string TextOf(int id) => Entries.First(entry => entry.Id == id).Text;

    public void Log<TState>(LogLevel level, EventId id, TState state, Exception? exception, Func<TState, Exception?, string> format) =>
        Entries.Enqueue((id.Id, format(state, exception), level));

    public bool IsEnabled(LogLevel level) => true;

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public void Dispose()
    {
    }
}
