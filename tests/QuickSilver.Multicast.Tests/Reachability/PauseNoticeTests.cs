using System.Buffers.Binary;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Reachability;

// What a node reports of its pauses, and what others take of it (docs/wire-format.md).
public sealed class PauseNoticeTests
{
    private readonly LoneMember _member = new(members: 4, rank: 1);
    private readonly PauseNotices _notices;
    private readonly ReportedPauses _reported;

    public PauseNoticeTests()
    {
        _notices = new PauseNotices(_member.Context, to =>
        {
            var neighbours = new List<NodeKey>();
            _member.Rings.AddNeighbours(neighbours);
            neighbours.ForEach(node => to.Add((node, null)));
        });
        _reported = new ReportedPauses(_member.Context);
    }

    [Fact]
    public void The_fields_lie_where_the_wire_format_says()
    {
        byte[] packet = Packet(3, Ms(0x01020304), Ms(0x0A0B), PauseCause.Collector);
        var header = new PacketHeader(packet);
        Assert.Equal((12, 3L, 0UL, 0u), ((int)packet[PacketHeader.KindOffset], header.Sequence, header.Region, header.View));
        Assert.Equal(12, header.Body.Length);
        Assert.Equal(0x01020304u, BinaryPrimitives.ReadUInt32LittleEndian(header.Body));
        Assert.Equal(0x0A0Bu, BinaryPrimitives.ReadUInt32LittleEndian(header.Body[4..]));
        Assert.Equal([1, 0, 0, 0], header.Body[8..].ToArray());
    }

    [Theory]
    [InlineData((byte)PauseCause.NotRunning, 0)]
    [InlineData((byte)PauseCause.Collector, 1)]
    [InlineData((byte)PauseCause.Compiler, 2)]
    [InlineData((byte)PauseCause.Handler, 3)]
    public void A_cause_has_its_number(byte cause, byte number) => Assert.Equal(number, cause);

    [Fact]
    public void Written_fields_are_read_and_later_ones_are_ignored()
    {
        var body = new PacketHeader(Packet(1, Ms(1500), Ms(20), PauseCause.Handler)).Body.ToArray();
        Assert.True(PauseNotice.TryRead([.. body, 7, 7], out var notice));
        Assert.Equal(new PauseNotice(Ms(1500), Ms(20), PauseCause.Handler), notice);
        Assert.False(PauseNotice.TryRead(body.AsSpan(0, 11), out _));
        body[8] = 200;
        Assert.True(PauseNotice.TryRead(body, out notice));
        Assert.Equal(PauseCause.NotRunning, notice.Cause);
    }

    [Fact]
    public void A_time_that_has_no_place_is_the_longest()
    {
        Assert.True(PauseNotice.TryRead(new PacketHeader(Packet(1, TimeSpan.MaxValue, -Ms(5), PauseCause.Handler)).Body, out var notice));
        Assert.Equal((Ms(uint.MaxValue), TimeSpan.Zero), (notice.Length, notice.Ago));
    }

    [Fact]
    public void The_neighbours_are_notified_at_once()
    {
        _notices.Add(new Pause(Ms(800), PauseCause.Collector));
        var sent = _member.Port.Take(PacketKind.Pause);
        Assert.Equal([1UL, 3UL], sent.Select(packet => (ulong)(packet.To.Port - 1000)));
        Assert.All(sent, packet =>
        {
            Assert.True(PauseNotice.TryRead(packet.Body, out var notice));
            Assert.Equal(new PauseNotice(Ms(800), TimeSpan.Zero, PauseCause.Collector), notice);
        });
    }

    [Fact]
    public void Pauses_that_follow_closely_are_reported_together_with_the_cause_of_the_longest()
    {
        _notices.Add(new Pause(Ms(60), PauseCause.Handler));
        _member.Port.Take(PacketKind.Pause);
        foreach (int length in new[] { 70, 90, 80 })
        {
            _notices.Add(new Pause(Ms(length), length == 90 ? PauseCause.NotRunning : PauseCause.Handler));
            _member.Advance(50);
        }

        Assert.False(_member.Port.Has(PacketKind.Pause));
        _member.Advance(100);
        var sent = _member.Port.Take(PacketKind.Pause);
        Assert.Equal(2, sent.Count);
        Assert.True(PauseNotice.TryRead(sent[0].Body, out var notice));
        Assert.Equal(new PauseNotice(Ms(240), Ms(150), PauseCause.NotRunning), notice);
        _member.Advance(1000);
        Assert.False(_member.Port.Has(PacketKind.Pause));
    }

    [Fact]
    public void A_notice_is_taken_once_and_an_older_one_never()
    {
        Assert.Equal(DropReason.None, Receive(2));
        _member.Advance(1000);
        Assert.Equal(DropReason.Duplicate, Receive(2));
        Assert.Equal(DropReason.Duplicate, Receive(1));
        Assert.Equal(DropReason.None, Receive(3));
        Assert.Equal(2, _member.Context.Counters.PausesReported);
    }

    [Fact]
    public void A_node_that_reports_all_the_time_is_heard_sometimes_and_others_are_heard_as_before()
    {
        int heard = 0;
        for (int i = 1; i <= 100; i++)
        {
            heard += Receive(i) == DropReason.None ? 1 : 0;
            _member.Advance(10);
        }

        Assert.Equal(5, heard);
        Assert.Equal(DropReason.None, Receive(1, _member.Keys[3]));
    }

    [Fact]
    public void Notices_of_an_unknown_node_and_of_this_node_itself_are_not_accepted()
    {
        Assert.Equal(DropReason.UnknownSender, Receive(1, new NodeKey(77, 1)));
        Assert.Equal(DropReason.UnknownSender, Receive(1, _member.Self));
    }

    [Fact]
    public void A_notice_without_its_fields_is_malformed()
    {
        byte[] packet = new byte[PacketHeader.Bytes + 11];
        _member.Context.Template().Write(packet, PacketKind.Pause, PacketFlags.None, 1, 0, 0);
        PacketTemplate.Seal(packet);
        Assert.Equal(DropReason.Malformed, _reported.OnPacket(new PacketHeader(packet), _member.Keys[0]));
    }

    private DropReason Receive(long number, NodeKey? from = null)
    {
        byte[] packet = Packet(number, TimeSpan.MaxValue, Ms(1), PauseCause.Handler);
        return _reported.OnPacket(new PacketHeader(packet), from ?? _member.Keys[0]);
    }

    private byte[] Packet(long number, TimeSpan length, TimeSpan ago, PauseCause cause)
    {
        byte[] packet = new byte[PauseNotice.Bytes];
        new PauseNotice(length, ago, cause).Write(packet, _member.Context.Template(), number);
        return packet;
    }

    private static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
