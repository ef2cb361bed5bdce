using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Dashboard;

// The signs of a whole cluster at one time: sums of rates, and the worst of times. A time that no node measured is null.
internal readonly record struct HistoryPoint
{
    /// <summary>Seconds since 1970.</summary>
    public required double At { get; init; }
    public long Published { get; init; }
    public long Delivered { get; init; }
    public long PublishedBytes { get; init; }
    public long DeliveredBytes { get; init; }
    public long Pending { get; init; }

    /// <summary>Times in microseconds.</summary>
    public long? AckMedian { get; init; }
    public long? AckP99 { get; init; }
    public long? Token { get; init; }
    public long? Late { get; init; }
    public long? GcPause { get; init; }

    /// <summary>Per second.</summary>
    public double Requests { get; init; }
    public double Repairs { get; init; }
    public double Drops { get; init; }

    public static HistoryPoint Of(ClusterTables tables)
    {
        var answered = tables.Nodes.Select(static row => row.Signs).OfType<NodeSnapshot>().ToList();
        return new HistoryPoint
        {
            At = tables.At.ToUnixTimeMilliseconds() / 1e3,
            Published = tables.Published,
            Delivered = tables.Delivered,
            PublishedBytes = answered.Sum(static signs => signs.PublishedBytes),
            DeliveredBytes = answered.Sum(static signs => signs.DeliveredBytes),
            Pending = answered.Sum(static signs => signs.PendingPackets),
            AckMedian = Worst(static signs => signs.AckMedian),
            AckP99 = Worst(static signs => signs.AckNinetyNinth),
            Token = Worst(static signs => signs.TokenMedian),
            Late = Worst(static signs => signs.LatenessNinetyNinth),
            GcPause = answered.Count == 0 ? null : answered.Max(static signs => signs.CollectorPause),
            Requests = Rate(static signs => signs.RepairRequests),
            Repairs = Rate(static signs => signs.Repairs),
            Drops = Rate(static signs => signs.KernelDrops),
        };

        long? Worst(Func<NodeSnapshot, long> time) => answered.Count == 0 ? null : answered.Max(time) is var worst and > 0 ? worst : null;

        double Rate(Func<NodeSnapshot, long> count) => Math.Round(
            answered.Where(static signs => signs.SpanMillis > 0).Sum(signs => count(signs) * 1e3 / signs.SpanMillis), 1);
    }
}

// The last minutes, for browsers that come later. Bounded by number and by age. Thread-safe.
internal sealed class History(int most, TimeSpan age)
{
    private readonly Lock _lock = new();
    private readonly Queue<HistoryPoint> _points = [];
    private double _last;

    public void Add(HistoryPoint point)
    {
        lock (_lock)
        {
            // A clock that was set back begins again: a chart has one time at one place.
            if (_points.Count > 0 && _last >= point.At)
            {
                _points.Clear();
            }

            _last = point.At;
            _points.Enqueue(point);
            while (_points.Count > most || point.At - _points.Peek().At > age.TotalSeconds)
            {
                _points.Dequeue();
            }
        }
    }

    public HistoryPoint[] Points()
    {
        lock (_lock)
        {
            return [.. _points];
        }
    }
}
