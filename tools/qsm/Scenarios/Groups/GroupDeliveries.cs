using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios.Groups;

// What was sent and what came, by the numbers of nodes. In each order a member gets the messages of one sender as they were sent, so that
// they need no numbers. A member's own messages do not count: its latency is that of the others.
internal sealed class GroupDeliveries(int senders, int members)
{
    private readonly List<TimeSpan>[] _sentAt = [.. Enumerable.Range(0, senders).Select(_ => new List<TimeSpan>())];
    private readonly int[,] _next = new int[members, senders];
    private readonly long[] _before = new long[members];
    private readonly long[] _counts = new long[members];
    // Of each message of the first sender, when the last member had it.
    private readonly List<double> _latencyOfEach = [];
    private long _sentBefore;
    private int _firstCounted;
    private bool _isOver;

    /// <summary>From sending to each other member, of all messages that came while it was measured.</summary>
    public Distribution Latency { get; } = new();

    /// <summary>From sending to the last of the other members, of each message of the first sender, in milliseconds.</summary>
    public IReadOnlyList<double> LatencyOfEach => _latencyOfEach[_firstCounted..];

    /// <summary>Since it is measured.</summary>
    public long Sent => AllSent - _sentBefore;

    /// <summary>At each member since it is measured.</summary>
    public IEnumerable<long> Counts => _counts.Select((count, i) => count - _before[i]);

    /// <summary>From the beginning.</summary>
    public long Total { get; private set; }

    public long Missing => (AllSent * (members - 1)) - Total;

    private long AllSent => _sentAt.Sum(static sent => (long)sent.Count);

    public void Send(int sender, TimeSpan now)
    {
        _sentAt[sender].Add(now);
        if (sender == 0 && !_isOver)
        {
            _latencyOfEach.Add(0);
        }
    }

    public void Add(int member, int sender, TimeSpan now)
    {
        if (member == sender)
        {
            return;
        }

        int number = _next[member, sender]++;
        var latency = now - _sentAt[sender][number];
        _counts[member]++;
        Total++;
        if (!_isOver)
        {
            Latency.Add(latency.Ticks);
        }

        if (sender == 0 && number < _latencyOfEach.Count)
        {
            _latencyOfEach[number] = Math.Max(_latencyOfEach[number], latency.TotalMilliseconds);
        }
    }

    /// <summary>What went before does not count.</summary>
    public void Clear()
    {
        Latency.Clear();
        _sentBefore = AllSent;
        _firstCounted = _latencyOfEach.Count;
        _counts.CopyTo(_before, 0);
    }

    /// <summary>What is sent from now on does not count. What was sent may still come.</summary>
    public void End() => _isOver = true;
}
