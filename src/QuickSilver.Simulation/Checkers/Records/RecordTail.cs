using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers.Records;

// Checks no invariant: keeps the last records of a history until the first violation, to show them with it. Register it as the last
// checker.
internal sealed class RecordTail : HistoryChecker
{
    private const int Kept = 40;

    private readonly Queue<object> _records = new();
    private readonly TextWriter? _all;

    /// <param name="all">Where to write every record as well, to show a whole run.</param>
    public RecordTail(TextWriter? all = null)
    {
        _all = all;
    }

    public override string Invariant => "none";

    /// <summary>Where a node logs: next to all records, or nowhere.</summary>
    public ILoggerFactory LogsOf(string node, Func<TimeSpan> now) =>
        _all is null ? NullLoggerFactory.Instance : new RecordLog(_all, node, now);

    public override void On(in Delivered delivered) => Add(delivered);

    public override void On(in GapReported gap) => Add(gap);

    public override void On(in Sent sent) => Add(sent);

    public override void On(in Activated activated) => Add(activated);

    public override void OnSubscribed(TimeSpan at, Subscription subscription) => Add($"{at:c} settled: {subscription}");

    public override void OnUnsubscribed(TimeSpan at, Subscription subscription) => Add($"{at:c} closed: {subscription}");

    public override void OnStopped(TimeSpan at, int node, NodeKey life) => Add($"{at:c} node {node} ({life}) ended");

    public override void On(in Configured configured) => Add(configured);

    public override string ToString() => string.Join('\n', _records.Select(Text));

    // Records are boxed only here, and formatted when they are shown.
    private void Add(object record)
    {
        _all?.WriteLine(Text(record));
        if (History!.ViolationCount > 0)
        {
            return;
        }

        if (_records.Count == Kept)
        {
            _records.Dequeue();
        }

        _records.Enqueue(record);
    }

    private static string Text(object record) => record switch
    {
        Delivered it => $"{it.At:c} {it.Subscription} received {it.Message}",
        GapReported it => $"{it.At:c} {it.Subscription} was notified of a gap from {it.First} to {it.Last} of {it.Sender}",
        Sent it => $"{it.At:c} sent: {it.Message}, in {string.Join(", ", it.Views.Select(Short))}",
        Activated it => $"{it.At:c} {it.Subscription} is in view from configuration {it.Configuration:x} on, life {it.Life}",
        Configured it => $"{it.At:c} node {it.Node} ({it.Life}) applied {Text(it.Change)}",
        _ => record.ToString()!,
    };

    private static string Text(ConfigurationChange change)
    {
        string removed = string.Join(", ", change.Removed);
        string regions = string.Join(", ", change.Regions.Select(view => $"{Short(view)} of {view.Members.Length}"));
        string topics = string.Join(", ", change.Topics.Select(Short));
        string number = $"configuration {change.Number:x}{(change.IsSnapshot ? " (all)" : "")}";
        return $"{number}: {change.Joined.Length} joined, {change.Removed.Length} removed [{removed}]; {regions}; {topics}";
    }

    private static string Short(RegionView view) => $"{view.RegionId:x}/{view.Number}@{view.Configuration:x}";

    private static string Short(TopicView view)
    {
        string regions = string.Join('+', view.Regions.Select(region => $"{region:x}"));
        return $"topic {view.TopicId:x16} in {regions}{(view.Subscribed ? " subscribed" : "")}";
    }
}

// Writes the log of one node, line by line with the time of the simulation, next to the records of the run.
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
