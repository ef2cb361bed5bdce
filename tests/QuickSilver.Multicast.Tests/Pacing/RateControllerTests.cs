using QuickSilver.Multicast.Pacing;

namespace QuickSilver.Multicast.Tests.Pacing;

public sealed class RateControllerTests
{
    private const int Buffer = 4 << 20;

    [Fact]
    public void The_window_doubles_while_it_is_full_and_nothing_is_lost()
    {
        var pace = new RateController(1472);
        int before = pace.WindowPackets;

        pace.OnAck(TimeSpan.Zero, before, wasFull: true, kernelDrops: 0, Buffer);

        Assert.Equal(2 * before, pace.WindowPackets);
    }

    [Fact]
    public void The_window_never_exceeds_half_the_smallest_receive_buffer()
    {
        var pace = new RateController(1472);
        for (int i = 0; i < 100; i++)
        {
            pace.OnAck(TimeSpan.FromMilliseconds(i), pace.WindowPackets, wasFull: true, 0, Buffer);
        }

        Assert.Equal(Buffer / 2 / 1472, pace.WindowPackets);
    }

    [Fact]
    public void Kernel_drops_shrink_it_once_per_spacing_and_never_to_nothing()
    {
        var pace = new RateController(1472);
        pace.OnAck(TimeSpan.Zero, 128, true, 0, Buffer);
        int grown = pace.WindowPackets;

        pace.OnAck(TimeSpan.FromMilliseconds(1), 0, true, 5, Buffer);
        pace.OnAck(TimeSpan.FromMilliseconds(2), 0, true, 6, Buffer);

        Assert.Equal(grown * 7 / 10, pace.WindowPackets);
        for (int i = 1; i < 100; i++)
        {
            pace.OnAck(TimeSpan.FromMilliseconds(100 * i), 0, true, 6 + i, Buffer);
        }

        Assert.True(pace.WindowPackets >= 64);
    }

    [Fact]
    public void A_window_that_is_not_small_takes_time_to_double()
    {
        var pace = new RateController(1472);
        int limit = (int)(Buffer / 2 / 1472);
        for (int i = 0; pace.WindowPackets < limit / 8; i++)
        {
            pace.OnAck(TimeSpan.FromMilliseconds(i * 0.1), pace.WindowPackets, wasFull: true, 0, Buffer);
        }

        int small = pace.WindowPackets;
        var began = TimeSpan.FromMilliseconds(100);
        pace.OnAck(began, 0, wasFull: true, 0, Buffer);
        for (int i = 1; i <= 20; i++)
        {
            pace.OnAck(began + TimeSpan.FromMilliseconds(i), pace.WindowPackets, wasFull: true, 0, Buffer);
        }

        // Compounded, a twentieth twenty times is somewhat more than twice.
        Assert.InRange(pace.WindowPackets, small * 2, small * 3);
    }

    [Fact]
    public void A_window_doubles_with_an_acknowledgement_that_took_long()
    {
        var pace = new RateController(1472);
        for (int i = 0; pace.WindowPackets < (int)(Buffer / 2 / 1472) / 8; i++)
        {
            pace.OnAck(TimeSpan.FromMilliseconds(i * 0.1), pace.WindowPackets, wasFull: true, 0, Buffer);
        }

        int small = pace.WindowPackets;
        pace.OnAck(TimeSpan.FromSeconds(1), small, wasFull: true, 0, Buffer);

        Assert.Equal(small * 2, pace.WindowPackets);
    }

    [Fact]
    public void An_idle_senders_window_does_not_grow()
    {
        var pace = new RateController(1472);
        int before = pace.WindowPackets;

        pace.OnAck(TimeSpan.Zero, 10, wasFull: false, 0, Buffer);

        Assert.Equal(before, pace.WindowPackets);
    }
}
