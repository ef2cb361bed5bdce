using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Hearing;

// The topics whose addresses members of some regions have reported not to hear. The sender does not use the address for that region for a
// while, and then tries again: the member reports it again if it still does not hear. Each try costs repairs, so the time doubles while a
// report follows each try.
internal sealed class UnheardTopics(INodeEnvironment environment)
{
    // The limit of the table. Reports beyond it have no effect, and are repeated.
    public const int Most = 4096;

    private static readonly TimeSpan LeastTime = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan MostTime = TimeSpan.FromHours(1);
    private static readonly TimeSpan RemoveInterval = TimeSpan.FromSeconds(1);

    private readonly Dictionary<(ulong Topic, ulong Region), Report> _reports = [];
    private TimeSpan _removedAt = TimeSpan.MinValue / 2;

    public void Add(ulong topicId, ulong region)
    {
        var now = environment.Now;
        bool isKnown = _reports.TryGetValue((topicId, region), out var report);
        if (!isKnown && _reports.Count >= Most && !TryMakeRoom(now))
        {
            return;
        }

        if (now >= report.Until)
        {
            var time = report.IsForgotten(now) ? LeastTime : report.For * 2;
            time = time < MostTime ? time : MostTime;
            _reports[(topicId, region)] = new Report(now + time, time);
        }
    }

    public bool Contains(ulong topicId, ulong region) =>
        _reports.Count > 0 && _reports.TryGetValue((topicId, region), out var report) && environment.Now < report.Until;

    // Not for each report, because it reads the whole table.
    private bool TryMakeRoom(TimeSpan now)
    {
        if (now - _removedAt < RemoveInterval)
        {
            return false;
        }

        _removedAt = now;
        foreach (var (key, report) in _reports)
        {
            if (report.IsForgotten(now))
            {
                _reports.Remove(key);
            }
        }

        return _reports.Count < Most;
    }

    private readonly record struct Report(TimeSpan Until, TimeSpan For)
    {
        // A try that was followed by no report for as long as the address was not used before it.
        public bool IsForgotten(TimeSpan now) => now >= Until + For;
    }
}
