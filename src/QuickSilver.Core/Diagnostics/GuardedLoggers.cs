using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace QuickSilver.Core.Diagnostics;

// The application's loggers as one node uses them: each place that takes a factory from outside guards it, and one that is
// guarded already does not change, so that a node's loggers share one count.
internal sealed class GuardedLoggers : ILoggerFactory
{
    // Whose nodes have nothing to count.
    private static readonly GuardedLoggers None = new(NullLoggerFactory.Instance);

    private readonly ILoggerFactory _loggers;
    private readonly LogFaults _faults = new();

    private GuardedLoggers(ILoggerFactory loggers) => _loggers = loggers;

    /// <summary>From any thread: what the application's loggers have thrown.</summary>
    public long Faults => _faults.Count;

    public static GuardedLoggers Of(ILoggerFactory loggers) =>
        loggers as GuardedLoggers ?? (loggers is NullLoggerFactory ? None : new GuardedLoggers(loggers));

    public ILogger CreateLogger(string categoryName)
    {
        try
        {
            var logger = _loggers.CreateLogger(categoryName);
            return logger is NullLogger ? logger : new GuardedLogger(logger, _faults);
        }
        catch (Exception)
        {
            _faults.Add();
            return NullLogger.Instance;
        }
    }

    public void AddProvider(ILoggerProvider provider) => _loggers.AddProvider(provider);

    // The application made it, and disposes it.
    public void Dispose()
    {
    }
}
