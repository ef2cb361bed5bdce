using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace QuickSilver.GroupFlush;

// Where the service listens, when it removed a node and when it made each configuration, by its log. Warnings go to standard error.
internal sealed class NodeLog : ILoggerFactory, ILogger
{
    private static readonly LogLevel Least =
        Enum.Parse<LogLevel>(System.Environment.GetEnvironmentVariable("QS_LOG") ?? nameof(LogLevel.Warning));

    private const int ServiceListens = 1200;
    private const int NodeRemoved = 1206;
    private const int ConfigurationMade = 1210;

    private readonly Lock _turn = new();
    private readonly Dictionary<long, long> _made = [];
    private readonly List<long> _removed = [];

    public string Service { get; private set; } = "";

    public int Removals
    {
        get
        {
            lock (_turn)
            {
                return _removed.Count;
            }
        }
    }

    public long LastRemoval
    {
        get
        {
            lock (_turn)
            {
                return _removed[^1];
            }
        }
    }

    /// <summary>When the configuration of a view was made.</summary>
    public long MadeAt(long number)
    {
        lock (_turn)
        {
            return _made.GetValueOrDefault(number);
        }
    }

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        long now = Stopwatch.GetTimestamp();
        if (logLevel >= Least)
        {
            Console.Error.WriteLine($"{System.Environment.ProcessId} {DateTime.UtcNow:HH:mm:ss.fff} {formatter(state, exception)}");
        }

        lock (_turn)
        {
            if (eventId.Id == NodeRemoved)
            {
                _removed.Add(now);
            }
            else if (eventId.Id == ConfigurationMade)
            {
                _made[(long)ValueOf(state, "Configuration")] = now;
            }
            else if (eventId.Id == ServiceListens)
            {
                Service = ValueOf(state, "EndPoint").ToString()!;
            }
        }
    }

    private static object ValueOf(object? state, string name) =>
        ((IReadOnlyList<KeyValuePair<string, object?>>)state!).First(one => one.Key == name).Value!;

    public ILogger CreateLogger(string categoryName) => this;

    public bool IsEnabled(LogLevel logLevel) => true;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public void Dispose()
    {
    }
}
