using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Transport;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Sending;

// What keeps a stream from sending, and how long acknowledgements take.
public sealed class StreamLimitTests
{
    private const int Window = 128;

    private readonly LoneSender _sender = new LoneSender().Opened();

    private StreamLimit Limit => _sender.Stream.Signs.Limit;

    private TimeSpan TimeOf(StreamLimit limit)
    {
        _sender.Counters.Limits.BringUpToDate(_sender.Environment.Now);
        return TimeSpan.FromTicks(_sender.Counters.Limits.TicksOf(limit));
    }

    [Fact]
    public void A_stream_that_has_sent_all_is_idle_and_counts_nowhere()
    {
        _sender.Send(3);
        Assert.Equal(StreamLimit.Idle, Limit);
        _sender.Advance(100);
        Assert.All(Enum.GetValues<StreamLimit>(), limit => Assert.Equal((TimeSpan.Zero, 0), (TimeOf(limit), StreamsOf(limit))));
    }

    [Fact]
    public void A_full_window_limits_until_it_opens()
    {
        _sender.Send(Window * 2);
        Assert.Equal((StreamLimit.Window, 1), (Limit, StreamsOf(StreamLimit.Window)));
        _sender.Advance(30);
        _sender.Ack(Window);
        Assert.Equal((StreamLimit.Idle, 0), (Limit, StreamsOf(StreamLimit.Window)));
        _sender.Advance(30);
        Assert.InRange(TimeOf(StreamLimit.Window).TotalMilliseconds, 30, 31);
    }

    [Fact]
    public void Packets_that_were_read_and_not_taken_are_the_readers_limit()
    {
        _sender.Send(Window * 8);
        for (int i = 0; i < SendWindow.RepairWindows; i++)
        {
            _sender.Ack(0, 0, _sender.Stream.Through.Sent);
        }

        Assert.Equal(StreamLimit.Reader, Limit);
    }

    [Fact]
    public void A_view_that_is_too_new_limits()
    {
        var sender = new LoneSender();
        sender.Send(1);
        Assert.Equal(StreamLimit.View, sender.Stream.Signs.Limit);
        sender.Advance(sender.Options.ReconfigurationPause);
        Assert.Equal(StreamLimit.Idle, sender.Stream.Signs.Limit);
    }

    [Fact]
    public void A_busy_system_limits()
    {
        _sender.Path.Outcome = SendOutcome.Busy;
        _sender.Send(2);
        Assert.Equal(StreamLimit.Socket, Limit);
    }

    [Fact]
    public void A_topic_that_waits_for_something_else_limits_a_stream_that_is_idle_and_no_other()
    {
        _sender.Stream.Signs.OnTopicLimited(StreamLimit.Reader);
        Assert.Equal(StreamLimit.Reader, Limit);
        _sender.Send(Window * 2);
        _sender.Stream.Signs.OnTopicLimited(StreamLimit.Reader);
        Assert.Equal(StreamLimit.Window, Limit);
    }

    [Fact]
    public void A_stream_that_is_closed_limits_no_more()
    {
        _sender.Send(Window * 2);
        _sender.Stream.Close("over");
        Assert.Equal((StreamLimit.Idle, 0), (Limit, StreamsOf(StreamLimit.Window)));
    }

    [Fact]
    public void The_time_to_acknowledge_is_that_of_one_packet_at_a_time()
    {
        _sender.Send(1);
        _sender.Advance(5);
        _sender.Send(1);
        _sender.Advance(2);
        _sender.Ack(2);
        Assert.Equal(7, _sender.Stream.Signs.LastTimeToAcknowledge.TotalMilliseconds, 1);
        Assert.Equal(7, _sender.Counters.TimesToAcknowledge.Total.TotalMilliseconds, 1);

        _sender.Send(1);
        _sender.Advance(1);
        _sender.Stream.Abandon();
        Assert.Equal(7, _sender.Counters.TimesToAcknowledge.Total.TotalMilliseconds, 1);
    }

    [Fact]
    public void Packets_are_pending_until_all_hold_them()
    {
        _sender.Send(5);
        Assert.Equal(5, Pending());
        _sender.Stream.LetGo(4, 4);
        Assert.Equal(4, Pending());
        _sender.Ack(2);
        Assert.Equal(2, Pending());
        _sender.Ack(5);
        Assert.Equal(0, Pending());

        long Pending() => _sender.Retention.Packets;
    }

    // The sum over streams, by any order of changes.
    [Fact]
    public void The_times_of_limits_are_the_sum_over_the_streams()
    {
        var changes = Gen.Choose(0, 2).SelectMany(stream => Gen.Choose(0, StreamLimitTimes.Count - 1)
            .SelectMany(limit => Gen.Choose(0, 50).Select(wait => (stream, limit: (StreamLimit)limit, wait))));
        Prop.ForAll(changes.ListOf().ToArbitrary(), list =>
        {
            var times = new StreamLimitTimes();
            var now = TimeSpan.Zero;
            var limits = new StreamLimit[3];
            var expected = new long[StreamLimitTimes.Count];
            foreach (var (stream, limit, wait) in list)
            {
                times.Change(limits[stream], limit, now);
                limits[stream] = limit;
                now += TimeSpan.FromTicks(wait);
                Array.ForEach(limits, one => expected[(int)one] += wait);
            }

            times.BringUpToDate(now);
            expected[0] = 0;
            Assert.Equal(expected, Enum.GetValues<StreamLimit>().Select(times.TicksOf));
        }).QuickCheckThrowOnFailure();
    }

    private int StreamsOf(StreamLimit limit) => _sender.Counters.Limits.StreamsOf(limit);
}
