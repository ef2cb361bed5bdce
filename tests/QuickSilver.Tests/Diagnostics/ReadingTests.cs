using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Nodes.Measures;

namespace QuickSilver.Tests.Diagnostics;

public sealed class ReadingTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Each_limit_below_has_its_name_above()
    {
        foreach (var limit in Enum.GetValues<StreamLimit>())
        {
            string expected = limit == StreamLimit.Idle ? nameof(SendLimit.None) : limit.ToString();
            Assert.Equal(expected, Readings.Of(limit).ToString());
            var times = new StreamLimitTimes();
            times.Change(StreamLimit.Idle, limit, TimeSpan.Zero);
            times.BringUpToDate(Second);
            var read = Readings.Of(times);
            Assert.Equal(limit == StreamLimit.Idle ? TimeSpan.Zero : Second, read.Of(Readings.Of(limit)));
            var all = Enum.GetValues<SendLimit>().Aggregate(TimeSpan.Zero, (sum, one) => sum + read.Of(one));
            Assert.Equal(read.Of(Readings.Of(limit)), all);
        }
    }

    [Fact]
    public void The_times_of_the_queues_are_reported_under_their_names()
    {
        var core = new CoreCounters { AlarmTicks = 10, RequestTicks = 20 };
        foreach (var workClass in Enum.GetValues<WorkClass>())
        {
            core.QueueTicks[(int)workClass] = (int)workClass + 1;
        }

        var times = Readings.Of(core);

        Assert.Equal((1, 2, 3), (times.InboundControl.Ticks, times.InboundRepairs.Ticks, times.InboundData.Ticks));
        Assert.Equal((10, 20), (times.Alarms.Ticks, times.Requests.Ticks));
        Assert.Equal((4, 5, 6, 7), (times.OutboundControl.Ticks, times.OutboundData.Ticks, times.Disk.Ticks, times.Other.Ticks));
        Assert.Equal(58, times.Total.Ticks);
    }

    [Fact]
    public void The_rate_now_is_that_since_the_last_pulse_and_has_the_limit_that_lasted_longest()
    {
        var cells = new NodeCounterCells();
        var rates = new NodeRates(cells);
        var limits = new MulticastCounters().Limits;
        rates.Note(TimeSpan.Zero, limits);
        (cells.Published, cells.Delivered) = (100, 30);
        limits.Change(StreamLimit.Idle, StreamLimit.Reader, TimeSpan.Zero);
        limits.Change(StreamLimit.Reader, StreamLimit.Window, Second * 0.1);
        limits.BringUpToDate(Second * 0.5);
        rates.Note(Second * 0.5, limits);
        Assert.Equal((200, 60), (rates.PublishedPerSecond, rates.DeliveredPerSecond));
        Assert.Equal(SendLimit.Window, rates.Limit);
        Assert.Equal(0.8, rates.LimitShare, 6);

        limits.Change(StreamLimit.Window, StreamLimit.Idle, Second * 0.5);
        rates.Note(Second, limits);
        Assert.Equal((0, SendLimit.None, 0), (rates.PublishedPerSecond, rates.Limit, rates.LimitShare));
    }
}
