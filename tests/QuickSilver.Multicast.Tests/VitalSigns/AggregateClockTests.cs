using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Stability;

namespace QuickSilver.Multicast.Tests.VitalSigns;

public sealed class AggregateClockTests
{
    private static readonly StreamKey A = new(new NodeKey(1, 1), StreamClass.Reliable);
    private static readonly StreamKey B = new(new NodeKey(1, 1), StreamClass.ReliableOf(1));

    private readonly AggregateClock _clock = new();
    private readonly RingTimes _times = new();

    [Fact]
    public void Each_level_counts_from_the_arrival_below()
    {
        _clock.OnArrived(A, 5, Ms(10));
        Result(0, A, 5, 13);
        Result(1, A, 5, 20, isHighest: true);
        Assert.Equal((Ms(3), Ms(10)), (_times.At(0)!.Total, _times.At(1)!.Total));
        Assert.False(_clock.IsRunning);
    }

    [Fact]
    public void Results_that_do_not_cover_the_packet_or_are_of_others_do_not_count()
    {
        _clock.OnArrived(A, 5, Ms(10));
        Result(0, A, 4, 11);
        Result(0, B, 9, 12);
        Result(1, A, 9, 13, isHighest: true);
        Assert.Null(_times.At(0));
        Assert.Null(_times.At(1));
        Assert.True(_clock.IsRunning);
    }

    [Fact]
    public void One_packet_at_a_time_is_measured_and_one_that_is_never_covered_is_given_up()
    {
        _clock.OnArrived(A, 5, Ms(0));
        _clock.OnArrived(B, 1, Ms(1));
        Result(0, B, 1, 2, isHighest: true);
        Assert.Null(_times.At(0));

        _clock.OnArrived(B, 2, TimeSpan.FromMinutes(2));
        Result(0, B, 2, 120_005, isHighest: true);
        Assert.Equal(Ms(5), _times.At(0)!.Total);
    }

    [Fact]
    public void A_measurement_during_a_change_of_members_does_not_count()
    {
        _clock.OnArrived(A, 5, Ms(0));
        _clock.Reset();
        Result(0, A, 5, 2, isHighest: true);
        Assert.Null(_times.At(0));
    }

    [Fact]
    public void Levels_above_the_last_count_as_the_last()
    {
        _times.Add(RingTimes.Levels + 3, Ms(1));
        Assert.Equal(Ms(1), _times.At(RingTimes.Levels - 1)!.Total);
    }

    private static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);

    private void Result(int level, StreamKey stream, long held, double at, bool isHighest = false) =>
        _clock.OnResult(level, isHighest, stream, held, Ms(at), _times);
}
