using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Nodes.Measures;
using QuickSilver.Tests.Infrastructure.Fakes;

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
        }
    }

    [Fact]
    public async Task The_time_of_each_limit_is_reported_under_its_name()
    {
        foreach (var limit in Enum.GetValues<StreamLimit>())
        {
            await using var parts = new FakeParts();
            parts.Counters.Multicast.Limits.Change(StreamLimit.Idle, limit, TimeSpan.Zero);
            parts.Counters.Multicast.Limits.BringUpToDate(Second);
            var node = await parts.StartAsync();
            var read = node.Read(NodeFigures.SendLimits);
            Assert.Equal(Enum.GetNames<SendLimit>().Skip(1).Select(static name => name.ToLowerInvariant()), read.Select(one => one.Tag));
            string expected = Readings.Of(limit).ToString();
            Assert.All(read, one => Assert.Equal(
                string.Equals(one.Tag, expected, StringComparison.OrdinalIgnoreCase) ? Second : TimeSpan.Zero, one.Value));
        }
    }

    [Fact]
    public async Task The_times_of_the_queues_are_reported_under_their_names()
    {
        var core = new CoreCounters { AlarmTicks = 10, RequestTicks = 20 };
        foreach (var workClass in Enum.GetValues<WorkClass>())
        {
            core.QueueTicks[(int)workClass] = (int)workClass + 1;
        }

        await using var parts = new FakeParts { Counters = new LayerCounters { Core = core } };
        var node = await parts.StartAsync();
        Assert.Equal(
            [
                ("inbound_control", 1), ("inbound_repairs", 2), ("inbound_data", 3), ("alarms", 10), ("requests", 20),
                ("outbound_control", 4), ("outbound_data", 5), ("disk", 6), ("other", 7),
            ],
            node.Read(NodeFigures.CoreQueues).Select(static one => (one.Tag, one.Value.Ticks)));
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
