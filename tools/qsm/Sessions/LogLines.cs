using System.Collections.Concurrent;
using QuickSilver.Tool.Catalog;
using Serilog.Core;
using Serilog.Events;

namespace QuickSilver.Tool.Sessions;

// Writes log events on a thread of its own. Nodes log on their core threads, and a terminal that stands still (Ctrl-S), or a pipe that
// is not read, blocks its writer: other members of the cluster would wait for this node. What comes while the queue is full is
// dropped and counted.
internal sealed class LogLines : ILogEventSink, IDisposable
{
    private const int Most = 1024;
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(1);

    private readonly BlockingCollection<LogEvent> _queue = new(Most);
    private readonly Logger _inner;
    private readonly Thread _thread;
    private long _dropped;

    public LogLines(Logger inner)
    {
        _inner = inner;
        _thread = new Thread(Run) { IsBackground = true, Name = "qsm log" };
        _thread.Start();
    }

    public void Emit(LogEvent logEvent)
    {
        if (_queue.IsAddingCompleted || !_queue.TryAdd(logEvent))
        {
            Interlocked.Increment(ref _dropped);
        }
    }

    /// <summary>What was logged is still written, unless that takes too long.</summary>
    public void Dispose()
    {
        _queue.CompleteAdding();
        if (_thread.Join(EndLimit))
        {
            _inner.Dispose();
            _queue.Dispose();
        }
    }

    // Names and reasons come from other nodes. The text of the message itself is this program's.
    private static void MakeSafe(LogEvent one)
    {
        foreach (var (name, value) in one.Properties.ToArray())
        {
            if (value is ScalarValue { Value: string text } && !SafeText.IsSafe(text))
            {
                one.AddOrUpdateProperty(new LogEventProperty(name, new ScalarValue(SafeText.Of(text))));
            }
        }
    }

    private void Run()
    {
        foreach (var one in _queue.GetConsumingEnumerable())
        {
            MakeSafe(one);
            _inner.Write(one);
            if (Interlocked.Exchange(ref _dropped, 0) is > 0 and var dropped)
            {
                _inner.Warning("{Count} log messages were dropped, because standard error was read too slowly", dropped);
            }
        }
    }
}
