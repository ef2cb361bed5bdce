using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Receiving.Windows;

namespace QuickSilver.Multicast.Tests.Receiving;

public sealed class ReceiveWindowTests
{
    private static readonly MulticastOptions Options = new() { ClusterId = 1, WindowPackets = 64 };
    private static readonly TimeSpan Reordering = Options.ReorderWindow;

    private readonly PacketWindow _packets;
    private readonly ReceiveWindow _window;
    private readonly Lease _block;
    private TimeSpan _now = TimeSpan.FromSeconds(1);

    public ReceiveWindowTests()
    {
        var pool = new SlabPool(64L << 20);
        _packets = new PacketWindow(Options.WindowPackets, new ReceiveMemory(pool, 1_472));
        _window = new ReceiveWindow(_packets, Options);
        _block = pool.TryRent()!;
    }

    [Fact]
    public void Packets_in_order_leave_nothing_missing()
    {
        Assert.Equal(0, Take(1).Numbers);
        Assert.Equal(0, Take(2).Numbers);

        Assert.Equal((2, 2, 2), (_window.Contiguous, _window.Arrived, _window.Highest));
        Assert.Equal(0, _window.Missing.Count);
    }

    [Fact]
    public void A_packet_behind_a_gap_shows_what_is_missing_and_since_when()
    {
        Take(1);

        Assert.Equal(new SequenceRange(2, 4), Take(5));

        Assert.Equal((1, 5), (_window.Contiguous, _window.Arrived));
        Assert.Equal(_now, _packets.Missing(3).AskedAt);
        Assert.Equal(0, _packets.Missing(3).Asked);
    }

    [Fact]
    public void A_packet_that_fills_a_gap_is_missing_no_more()
    {
        Take(1);
        Take(4);

        Assert.Equal(0, Take(2).Numbers);
        Assert.Equal(2, _window.Contiguous);
        Take(3);
        Assert.Equal(4, _window.Contiguous);
    }

    [Fact]
    public void Packets_that_came_or_were_given_up_count_as_had()
    {
        Take(1);
        Take(4);
        Assert.True(_window.TryGiveUp(2, 2));

        Assert.True(_window.HasHad(1) && _window.HasHad(2) && _window.HasHad(4));
        Assert.False(_window.HasHad(3) || _window.HasHad(5) || _window.HasHad(6));

        _packets.ReleaseThrough(1);
        Assert.True(_window.HasHad(1));
    }

    [Fact]
    public void A_packet_that_is_only_reported_is_lacked_and_not_missing()
    {
        Take(1);

        Assert.Equal(0, _window.OnAnnounced(3, _now, _now).Numbers);

        Assert.Equal((1, 3), (_window.Arrived, _window.Highest));
        Assert.True(_window.Lacks(2) && _window.Lacks(3));
        Assert.False(_window.Lacks(1) || _window.Lacks(4));
        Assert.Equal(0, _window.Missing.Count);
    }

    [Fact]
    public void A_packet_that_is_reported_twice_while_nothing_comes_is_missing()
    {
        Take(1);
        _window.OnAnnounced(3, _now, _now);
        _now += Reordering - TimeSpan.FromTicks(1);
        Assert.Equal(0, _window.OnAnnounced(3, _now, _now).Numbers);

        _now += TimeSpan.FromTicks(1);

        Assert.Equal(new SequenceRange(2, 3), _window.OnAnnounced(3, _now, _now));
        Assert.Equal(3, _window.Arrived);
    }

    [Fact]
    public void A_reported_packet_may_wait_in_the_sockets_until_the_node_has_caught_up()
    {
        Take(1);
        var told = _now;
        _window.OnAnnounced(3, _now, _now);
        _now += Reordering * 20;
        Assert.Equal(0, _window.OnAnnounced(3, _now, caughtUpAt: told - TimeSpan.FromTicks(1)).Numbers);

        Assert.Equal(new SequenceRange(2, 3), _window.OnAnnounced(3, _now, caughtUpAt: told));
    }

    [Fact]
    public void A_node_that_never_catches_up_misses_what_was_lost_all_the_same()
    {
        Take(1);
        _window.OnAnnounced(3, _now, TimeSpan.Zero);
        _now += TimeSpan.FromMilliseconds(100);

        Assert.Equal(new SequenceRange(2, 3), _window.OnAnnounced(3, _now, TimeSpan.Zero));
    }

    [Fact]
    public void A_packet_that_comes_in_between_begins_the_wait_again()
    {
        Take(1);
        _window.OnAnnounced(4, _now, _now);
        _now += Reordering;
        Take(2);

        Assert.Equal(0, _window.OnAnnounced(4, _now, _now).Numbers);
        _now += Reordering;
        Assert.Equal(new SequenceRange(3, 4), _window.OnAnnounced(4, _now, _now));
    }

    [Fact]
    public void A_higher_number_that_was_reported_before_is_missing_with_a_lower_one()
    {
        _window.OnAnnounced(9, _now, _now);
        _now += Reordering;

        Assert.Equal(new SequenceRange(1, 9), _window.OnAnnounced(2, _now, _now));
    }

    [Fact]
    public void A_lie_reaches_no_further_than_a_window()
    {
        _window.OnAnnounced(long.MaxValue, _now, _now);

        Assert.Equal(64, _window.Highest);
    }

    [Fact]
    public void A_number_two_windows_beyond_what_came_is_not_accepted()
    {
        Take(1);

        Assert.Equal(129, _window.Believable(129, _now));
        Assert.Equal(0, _window.Believable(130, _now));
    }

    [Fact]
    public void A_number_that_the_sender_denies_is_not_accepted_for_a_second()
    {
        Take(1);
        Miss(2, 3);
        _packets.Missing(2).Asked = 3;
        Assert.True(_window.TryRetract(1, _now));
        Assert.Equal((1, 1, 1), (_window.Contiguous, _window.Arrived, _window.Highest));

        Assert.Equal(0, _window.Believable(3, _now + TimeSpan.FromMilliseconds(999)));
        Assert.Equal(3, _window.Believable(3, _now + TimeSpan.FromSeconds(1)));
    }

    [Fact]
    public void Nothing_is_retracted_before_the_sender_was_asked()
    {
        Take(1);
        Miss(2, 3);
        _packets.Missing(2).Asked = 2;

        Assert.False(_window.TryRetract(1, _now));
    }

    [Fact]
    public void Nothing_is_retracted_of_which_something_came()
    {
        Take(1);
        Take(3);
        _packets.Missing(2).Asked = 3;

        Assert.False(_window.TryRetract(1, _now));
    }

    [Fact]
    public void Only_what_is_missing_is_given_up()
    {
        Take(1);
        Take(4);

        Assert.False(_window.TryGiveUp(4, 9));
        Assert.True(_window.TryGiveUp(1, 2));

        Assert.Equal(2, _window.Contiguous);
        Assert.False(_packets.Holds(2));
        Assert.True(_packets.Contains(2));
    }

    [Fact]
    public void Packets_that_are_not_held_and_all_that_never_came_cannot_be_supplied()
    {
        Take(2);
        Take(3);
        Take(6);
        _packets.Drop(3);
        var into = new SequenceRanges(8);

        _window.CopyUnsupplied(after: 0, through: 8, into);

        Assert.Equal([(1, 1), (3, 5), (7, 8)], Ranges(into));
    }

    [Fact]
    public void A_stream_that_does_not_repair_continues_where_it_skips_to()
    {
        Take(1);
        Take(5);

        _window.SkipTo(100);

        Assert.Equal((99, 99, 0), (_window.Contiguous, _window.Arrived, _window.Missing.Count));
        Assert.Equal(1, _block.Claims);
    }

    [Fact]
    public void Each_number_up_to_the_highest_that_arrived_is_held_or_missing()
    {
        var step = Gen.Choose(0, 9).SelectMany(kind => Gen.Choose(1, 64).Select(number => (Kind: kind, Number: (long)number)));
        Prop.ForAll(step.ListOf().ToArbitrary(), steps =>
        {
            var test = new ReceiveWindowTests();
            foreach (var (kind, number) in steps)
            {
                test.Do(kind, number);
                test.Check();
            }
        }).QuickCheckThrowOnFailure();
    }

    private void Do(int kind, long number)
    {
        _now += TimeSpan.FromTicks(number * 1_000);
        switch (kind)
        {
            case 0:
                _window.OnAnnounced(number, _now, _now);
                break;
            case 1:
                _window.TryGiveUp(number, number + 2);
                break;
            case 2:
                _window.Miss(Math.Min(number, _window.Highest), _now);
                break;
            case 3:
                _window.TryRetract(number, _now);
                break;
            default:
                if (!_window.HasHad(number))
                {
                    Take(number);
                }

                break;
        }
    }

    private void Check()
    {
        Assert.InRange(_window.Contiguous, 0, _window.Arrived);
        Assert.InRange(_window.Arrived, 0, _window.Highest);
        for (long n = 1; n <= 64; n++)
        {
            bool isKnown = _packets.Contains(n);
            Assert.Equal(n <= _window.Arrived, isKnown || _window.Missing.Contains(n));
            Assert.False(isKnown && _window.Missing.Contains(n));
            Assert.Equal(n <= _window.Highest && !isKnown, _window.Lacks(n));
        }
    }

    private SequenceRange Take(long number) => _window.Take(number, _block, 0, 100, _now);

    private void Miss(long first, long last)
    {
        _window.OnAnnounced(last, _now, _now);
        Assert.Equal(new SequenceRange(first, last), _window.Miss(last, _now));
    }

    private static List<(long First, long Last)> Ranges(SequenceRanges ranges)
    {
        var all = new List<(long, long)>();
        for (int i = 0; i < ranges.Count; i++)
        {
            var (first, last) = ranges[i];
            all.Add((first, last));
        }

        return all;
    }
}
