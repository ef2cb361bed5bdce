using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Tests.Sending;

public sealed class SendWindowTests
{
    private readonly SendWindow _window = new(packetBytes: 1000, isReliable: true);

    private int Size => _window.Packets;

    [Fact]
    public void Packets_that_members_have_read_make_room_for_as_many()
    {
        _window.OnSent(default, Size);
        Assert.Equal(0, _window.RoomAt(default));
        Ack(consumed: 0, read: 10);
        Assert.Equal(10, _window.RoomAt(default));
    }

    [Fact]
    public void Packets_that_are_read_and_not_consumed_make_room_for_some_windows_only()
    {
        for (int i = 0; i < SendWindow.RepairWindows; i++)
        {
            _window.OnSent(default, Size);
            Ack(consumed: 0, read: _window.Sent);
        }

        Assert.Equal(0, _window.RoomAt(default));
        Ack(consumed: 5, read: _window.Sent);
        Assert.Equal(5, _window.RoomAt(default));
    }

    [Fact]
    public void A_crack_of_the_window_stays_closed_while_more_waits_than_fits_and_something_is_on_the_way()
    {
        Assert.Equal(Size, _window.NextOf(default, Size * 2));
        _window.OnSent(default, Size);
        Ack(consumed: Size, read: 1);
        Assert.Equal(Size, _window.NextOf(default, Size * 2));
        _window.OnSent(default, Size - 5);
        Assert.Equal(0, _window.NextOf(default, Size));
        Assert.Equal(5, _window.NextOf(default, 5));
    }

    [Fact]
    public void No_acknowledgement_counts_for_more_than_was_sent_nor_goes_back()
    {
        _window.OnSent(default, 10);
        Ack(consumed: 20, read: 20);
        Assert.Equal((10, 10), (_window.Consumed, _window.Read));
        Ack(consumed: 3, read: 4);
        Assert.Equal((10, 10), (_window.Consumed, _window.Read));
    }

    [Fact]
    public void A_best_effort_stream_has_room_for_a_window_whatever_was_sent()
    {
        var window = new SendWindow(packetBytes: 1000, isReliable: false);
        window.OnSent(default, window.Packets * 10);
        Assert.Equal(window.Packets, window.NextOf(default, window.Packets * 2));
    }

    // The smallest buffer that leaves the window unchanged.
    private void Ack(long consumed, long read) => _window.OnAck(default, consumed, read, hasBacklog: false, 0, 2L * Size * 1000);
}
