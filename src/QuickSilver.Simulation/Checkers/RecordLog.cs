using Microsoft.Extensions.Logging;

namespace QuickSilver.Simulation.Checkers;

// What one node logs, line by line, with the time of the simulation: written beside the records of a run that is looked at.
internal sealed class RecordLog(TextWriter records, string node, Func<TimeSpan> now) : ILoggerFactory, ILogger
{
    public void AddProvider(ILoggerProvider provider)
    {
    }

    public ILogger CreateLogger(string categoryName) => this;

    public void Dispose()
    {
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        records.WriteLine($"{now():c} {node} says: {formatter(state, exception)}");
}
