using Microsoft.Extensions.Logging;

namespace QuickSilver.Core.Diagnostics;

// A logger of the application's, called from protocol code: what it throws goes no further. A provider that was disposed or a
// disk that is full ends neither a core thread nor an alarm that is about to set itself again.
internal sealed class GuardedLogger : ILogger
{
    private readonly ILogger _logger;
    private readonly LogFaults _faults;

    internal GuardedLogger(ILogger logger, LogFaults faults)
    {
        _logger = logger;
        _faults = faults;
    }

    public static ILogger Of(ILogger logger) => logger is GuardedLogger ? logger : new GuardedLogger(logger, new LogFaults());

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull
    {
        try
        {
            return _logger.BeginScope(state);
        }
        catch (Exception)
        {
            _faults.Add();
            return null;
        }
    }

    public bool IsEnabled(LogLevel logLevel)
    {
        try
        {
            return _logger.IsEnabled(logLevel);
        }
        catch (Exception)
        {
            _faults.Add();
            return false;
        }
    }

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        long began = ListenerTime.Begin();
        try
        {
            _logger.Log(logLevel, eventId, state, exception, formatter);
        }
        catch (Exception)
        {
            _faults.Add();
        }

        ListenerTime.EndLogger(began);
    }
}
