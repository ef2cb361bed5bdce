using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Dashboard;

namespace QuickSilver.Tool.Tests.Dashboard;

public sealed class HistoryTests
{
    private readonly History _history = new(most: 5, TimeSpan.FromSeconds(100));

    [Fact]
    public void It_keeps_the_newest_points()
    {
        Add(1, 2, 3, 4, 5, 6, 7);
        Assert.Equal([3, 4, 5, 6, 7], Times());
    }

    [Fact]
    public void It_forgets_what_is_too_old()
    {
        Add(1, 2, 101.5);
        Assert.Equal([2, 101.5], Times());
        Add(1_000);
        Assert.Equal([1_000], Times());
    }

    [Fact]
    public void A_clock_that_was_set_back_begins_again()
    {
        Add(10, 11, 12, 4, 5);
        Assert.Equal([4, 5], Times());
    }

    [Fact]
    public void A_point_has_the_sums_of_rates_and_the_worst_of_times()
    {
        var point = HistoryPoint.Of(Cluster.At(
            0,
            Cluster.Reported(1, new NodeSnapshot
            {
                SpanMillis = 1_000,
                Published = 5,
                PublishedBytes = 50,
                AckMedian = 200,
                AckNinetyNinth = 900,
                CollectorPause = 10,
                Repairs = 4,
                RepairRequests = 2,
                PendingPackets = 3,
            }),
            Cluster.Reported(2, new NodeSnapshot
            {
                SpanMillis = 500,
                Delivered = 7,
                DeliveredBytes = 70,
                AckMedian = 300,
                AckNinetyNinth = 400,
                Repairs = 3,
                PendingPackets = 4,
            }),
            Cluster.Silent(3)));
        Assert.Equal((5, 7, 50, 70, 7), (point.Published, point.Delivered, point.PublishedBytes, point.DeliveredBytes, point.Pending));
        Assert.Equal((300L, 900L, 10L), (point.AckMedian, point.AckP99, point.GcPause));
        Assert.Equal((10.0, 2.0, 0.0), (point.Repairs, point.Requests, point.Drops));
    }

    [Fact]
    public void A_value_that_was_not_measured_is_absent_and_not_zero()
    {
        var idle = HistoryPoint.Of(Cluster.At(0, Cluster.Reported(1, new NodeSnapshot { Repairs = 9 })));
        Assert.Equal((null, null, 0L, 0.0), (idle.AckP99, idle.Token, idle.GcPause, idle.Repairs));
        Assert.Null(HistoryPoint.Of(Cluster.At(0, Cluster.Silent(1))).GcPause);
    }

    private void Add(params double[] times)
    {
        foreach (double at in times)
        {
            _history.Add(new HistoryPoint { At = at });
        }
    }

    private IEnumerable<double> Times() => _history.Points().Select(static point => point.At);
}
