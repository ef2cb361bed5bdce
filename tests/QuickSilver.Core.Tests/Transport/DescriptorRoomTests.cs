using System.Net.Sockets;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport.Descriptors;

namespace QuickSilver.Core.Tests.Transport;

public sealed class DescriptorRoomTests
{
    private DateTimeOffset _now = DateTimeOffset.UnixEpoch;

    [Fact]
    public void Any_limit_leaves_a_reserve_and_a_half_of_it_that_no_connection_takes() => Prop.ForAll<PositiveInt, NonNegativeInt>(
        (limit, number) =>
        {
            var room = NewRoom(64 + limit.Get);
            room.OnOpened(number.Get);
            Assert.InRange(room.Reserve, 16, 64);
            Assert.Equal(number.Get >= room.Limit - room.Reserve, room.IsShort);
            Assert.Equal(number.Get >= room.Limit - (room.Reserve / 2), room.IsSpent);
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void A_shortage_is_named_with_the_limit_since_when_it_lasts_and_until_descriptors_are_free()
    {
        int lowest = 140;
        var room = new DescriptorRoom(160, () => _now, () => lowest);
        var trouble = room.Trouble!;
        Assert.Equal((TroubleKind.DescriptorsFew, _now), (trouble.Kind, trouble.Since));
        Assert.StartsWith("This process may open 160 files and sockets, and fewer than 32 are left.", trouble.Description);
        var began = _now;
        _now += TimeSpan.FromMinutes(1);
        Assert.Equal(began, room.Trouble!.Since);
        lowest = 120;
        Assert.Null(room.Trouble);
        lowest = 128;
        Assert.Equal(_now, room.Trouble!.Since);
    }

    [Fact]
    public void The_limit_in_effect_is_read()
    {
        string[] lines =
        [
            "Limit                     Soft Limit           Hard Limit           Units     ",
            "Max processes             7000                 7000                 processes ",
            "Max open files            160                  4096                 files     ",
        ];
        Assert.Equal(160, DescriptorRoom.Parse(lines));
        Assert.Null(DescriptorRoom.Parse([lines[2].Replace("160 ", "unlimited", StringComparison.Ordinal)]));
        Assert.Null(DescriptorRoom.Parse(lines[..2]));
    }

    [Fact]
    public void The_room_of_this_process_sees_what_the_process_opens()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems show no limit");
        var room = DescriptorRoom.OfThisProcess()!;
        Assert.True(room.Limit > 100);
        Assert.Null(room.Trouble);
        Assert.False(room.IsShort);
    }

    [Fact]
    public void The_limit_of_the_process_is_named_where_the_system_has_no_descriptor_left()
    {
        var full = new SocketException((int)SocketError.TooManyOpenSockets);
        Assert.Equal(
            "this process has open all 160 files and sockets that it may (ulimit -n)", DescriptorRoom.InWords(full, NewRoom(160)));
        Assert.Equal(full.Message, DescriptorRoom.InWords(full, null));
        var other = new SocketException((int)SocketError.AccessDenied);
        Assert.Equal(other.Message, DescriptorRoom.InWords(other, NewRoom(160)));
    }

    private DescriptorRoom NewRoom(int limit) => new(limit, () => _now);
}
