using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Dispatch;

namespace QuickSilver.Multicast.Tests.Dispatch;

public sealed class RunSplitterTests
{
    private readonly DispatchBench _bench = new();

    [Fact]
    public void A_run_is_split_at_the_lengths_that_its_packets_state()
    {
        _bench.Receive(DispatchBench.Announcement(1), DispatchBench.Announcement(2), DispatchBench.Announcement(3, bytes: 80));

        Assert.Equal([1, 2, 3], _bench.Announcements.Sequences);
        Assert.Equal([36, 36, 16], _bench.Announcements.Packets.Select(packet => packet.Body.Length));
        Assert.All(_bench.Announcements.Packets, packet => Assert.All(packet.Body, one => Assert.Equal((byte)packet.Sequence, one)));
        Assert.All(_bench.Announcements.Packets, packet => Assert.Equal(DispatchBench.Sender, packet.Sender));
        Assert.Equal((3, 280), (_bench.Counters.PacketsReceived, _bench.Counters.BytesReceived));
        Assert.Equal(0, _bench.Counters.DroppedInAll);
    }

    [Fact]
    public void A_damaged_packet_is_counted_and_those_behind_it_are_found()
    {
        _bench.Receive(
            DispatchBench.Announcement(1), DispatchBench.Damaged(DispatchBench.Announcement(2)), DispatchBench.Announcement(3));

        Assert.Equal([1, 3], _bench.Announcements.Sequences);
        Assert.Equal((2, 200), (_bench.Counters.PacketsReceived, _bench.Counters.BytesReceived));
        Assert.Equal((1, 1), (_bench.Counters.Dropped(DropReason.Corrupt), _bench.Counters.DroppedInAll));
    }

    [Theory]
    [InlineData(0, DropReason.Malformed)]
    [InlineData(PacketHeader.Bytes - 1, DropReason.Malformed)]
    [InlineData(PacketHeader.Bytes, DropReason.Corrupt)]
    [InlineData(99, DropReason.Corrupt)]
    [InlineData(101, DropReason.Corrupt)]
    [InlineData(200, DropReason.Corrupt)]
    [InlineData(201, DropReason.Truncated)]
    [InlineData(ushort.MaxValue, DropReason.Truncated)]
    public void The_length_of_a_refused_packet_is_not_trusted(int stated, object reason)
    {
        _bench.Receive(
            DispatchBench.Announcement(1), DispatchBench.Stating(DispatchBench.Announcement(2), stated), DispatchBench.Announcement(3));

        Assert.Equal([1, 3], _bench.Announcements.Sequences);
        Assert.Equal((1, 1), (_bench.Counters.Dropped((DropReason)reason), _bench.Counters.DroppedInAll));
    }

    [Fact]
    public void Before_a_good_packet_nothing_shows_where_the_next_begins()
    {
        _bench.Receive(
            DispatchBench.Damaged(DispatchBench.Announcement(1)), DispatchBench.Announcement(2), DispatchBench.Announcement(3));

        Assert.Empty(_bench.Announcements.Packets);
        Assert.Equal((0, 0), (_bench.Counters.PacketsReceived, _bench.Counters.BytesReceived));
        Assert.Equal((1, 1), (_bench.Counters.Dropped(DropReason.Corrupt), _bench.Counters.DroppedInAll));
    }

    [Fact]
    public void The_first_good_packet_shows_the_length_of_all()
    {
        _bench.Receive(
            DispatchBench.Announcement(1),
            DispatchBench.Announcement(2, bytes: 80),
            DispatchBench.Damaged(DispatchBench.Announcement(3)),
            DispatchBench.Announcement(4));

        Assert.Equal([1, 2, 4], _bench.Announcements.Sequences);
    }

    [Fact]
    public void Every_run_is_split_by_its_own_packets()
    {
        _bench.Receive(DispatchBench.Announcement(1, bytes: 80));
        _bench.Receive(DispatchBench.Damaged(DispatchBench.Announcement(2, bytes: 80)), DispatchBench.Announcement(3, bytes: 80));

        Assert.Equal([1], _bench.Announcements.Sequences);
    }

    [Fact]
    public void Packets_of_several_runs_add_up()
    {
        _bench.Receive(DispatchBench.Announcement(1), DispatchBench.Announcement(2));
        _bench.Receive(DispatchBench.Announcement(3));

        Assert.Equal((3, 300), (_bench.Counters.PacketsReceived, _bench.Counters.BytesReceived));
    }

    [Fact]
    public void A_rest_that_is_shorter_than_a_header_is_counted()
    {
        _bench.Receive(DispatchBench.Announcement(1), new byte[PacketHeader.Bytes - 1]);

        Assert.Equal([1], _bench.Announcements.Sequences);
        Assert.Equal((1, 1), (_bench.Counters.Dropped(DropReason.Truncated), _bench.Counters.DroppedInAll));
    }

    [Fact]
    public void Packets_of_other_clusters_and_versions_are_counted_apart()
    {
        byte[] foreign = DispatchBench.Packet(PacketKind.Announce, 2, cluster: DispatchBench.Cluster + 1);
        byte[] newer = DispatchBench.Announcement(3);
        newer[PacketHeader.VersionOffset]++;
        _bench.Receive(DispatchBench.Announcement(1), foreign, newer, DispatchBench.Announcement(4));

        Assert.Equal([1, 4], _bench.Announcements.Sequences);
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.ForeignCluster));
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.UnknownVersion));
    }

    [Fact]
    public void Kinds_that_are_unknown_or_have_no_handler_are_counted()
    {
        _bench.Receive(
            DispatchBench.Announcement(1),
            DispatchBench.Packet((PacketKind)200, 2),
            DispatchBench.Packet(PacketKind.Pull, 3),
            DispatchBench.Announcement(4));

        Assert.Equal([1, 4], _bench.Announcements.Sequences);
        Assert.Equal((2, 2), (_bench.Counters.Dropped(DropReason.UnknownKind), _bench.Counters.DroppedInAll));
        // The one without a handler is a whole packet.
        Assert.Equal(3, _bench.Counters.PacketsReceived);
    }

    [Fact]
    public void A_packet_that_a_handler_refuses_is_counted_by_its_reason()
    {
        _bench.Tokens.Answer = static () => DropReason.NotMember;
        _bench.Receive(DispatchBench.Packet(PacketKind.Token, 1), DispatchBench.Packet(PacketKind.Token, 2));

        Assert.Equal([1, 2], _bench.Tokens.Sequences);
        Assert.Equal((2, 2), (_bench.Counters.Dropped(DropReason.NotMember), _bench.Counters.DroppedInAll));
        Assert.Equal(2, _bench.Counters.PacketsReceived);
    }

    [Fact]
    public void Packets_received_before_a_handler_threw_are_counted()
    {
        _bench.Tokens.Answer = static () => throw new InvalidOperationException("no");
        Assert.Throws<InvalidOperationException>(
            () => _bench.Receive(DispatchBench.Announcement(1), DispatchBench.Packet(PacketKind.Token, 2)));

        Assert.Equal((1, 100), (_bench.Counters.PacketsReceived, _bench.Counters.BytesReceived));
    }

    [Fact]
    public void Until_there_is_a_dispatcher_what_arrives_is_dropped()
    {
        _bench.Receive(new RunSplitter(DispatchBench.Cluster), DispatchBench.Announcement(1));

        Assert.Empty(_bench.Announcements.Packets);
        Assert.Equal(0, _bench.Counters.PacketsReceived);
    }

    [Fact]
    public void All_kinds_but_data_are_control()
    {
        IDatagramReceiver splitter = _bench.Splitter;
        Assert.False(splitter.IsControl(DispatchBench.Packet(PacketKind.Data, 1)));
        Assert.True(splitter.IsControl(DispatchBench.Packet(PacketKind.Token, 1)));
        Assert.True(splitter.IsControl([2, (byte)PacketKind.Ack]));
        Assert.True(splitter.IsControl([2, (byte)PacketKinds.FirstControl]));
        Assert.False(splitter.IsControl([2, (byte)PacketKinds.FirstRepair]));
        Assert.False(splitter.IsControl([2, (byte)PacketKinds.FirstData]));
        // Too short to be recognized.
        Assert.False(splitter.IsControl([2]));
        Assert.False(splitter.IsControl([]));
    }

    [Fact]
    public void A_run_that_begins_with_a_packet_that_is_sent_again_is_a_repair()
    {
        IDatagramReceiver splitter = _bench.Splitter;
        byte[] packet = DispatchBench.Packet(PacketKind.Data, 1);
        Assert.False(splitter.IsRepair(packet));
        PacketTemplate.AddFlags(packet, PacketFlags.Repair);
        Assert.True(splitter.IsRepair(packet));
        Assert.False(splitter.IsRepair([2, (byte)PacketKind.Data]));
        Assert.True(splitter.IsRepair(DispatchBench.Packet(PacketKinds.FirstRepair, 1)));
        Assert.False(splitter.IsRepair(DispatchBench.Packet(PacketKinds.FirstData, 1)));
    }
}
