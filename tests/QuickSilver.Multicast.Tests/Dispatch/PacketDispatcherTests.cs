using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Tests.Dispatch;

public sealed class PacketDispatcherTests
{
    private static readonly TimeSpan Age = new MulticastOptions { ClusterId = DispatchBench.Cluster }.UnknownViewAge;

    private readonly DispatchBench _bench = new();

    [Theory]
    [InlineData(PacketKind.None)]
    [InlineData(PacketKind.Data)]
    [InlineData(PacketKind.Token)]
    public void A_kind_has_one_handler(object kind) =>
        Assert.Throws<ArgumentException>(() => _bench.Dispatcher.Handlers.Register((PacketKind)kind, _bench.Tokens));

    [Fact]
    public void Packets_of_a_protocol_go_to_its_handler_and_are_dropped_while_it_has_none()
    {
        var handler = new DispatchBench.RecordingHandler();
        _bench.Receive(DispatchBench.Packet(PacketKinds.FirstRepair, 1));
        _bench.Dispatcher.Handlers.Register(PacketKinds.FirstRepair, "Healing", handler);
        _bench.Receive(DispatchBench.Packet(PacketKinds.FirstRepair, 2), DispatchBench.Packet(PacketKinds.FirstRepair + 1, 3));

        Assert.Equal([2], handler.Sequences);
        Assert.Equal(2, _bench.Counters.Dropped(DropReason.UnknownKind));
    }

    [Fact]
    public void Data_goes_to_its_view()
    {
        _bench.OpenView();
        _bench.Receive(DispatchBench.Packet(PacketKind.Data, 1), DispatchBench.Packet(PacketKind.Data, 2));

        Assert.Equal([1, 2], _bench.Consumer.Messages);
        Assert.Equal(0, _bench.Counters.DroppedInAll);
    }

    [Fact]
    public void A_packet_that_was_sent_again_counts_as_a_repair_if_it_is_new()
    {
        _bench.OpenView();
        byte[] again = DispatchBench.Packet(PacketKind.Data, 1);
        PacketTemplate.AddFlags(again, PacketFlags.Repair);
        PacketTemplate.Seal(again);
        _bench.Receive(again, DispatchBench.Packet(PacketKind.Data, 2), again);

        Assert.Equal([1, 2], _bench.Consumer.Messages);
        Assert.Equal(1, _bench.Counters.RepairsReceived);
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.Duplicate));
    }

    [Fact]
    public void Early_data_comes_again_when_its_view_is_known()
    {
        _bench.Receive(DispatchBench.Packet(PacketKind.Data, 1), DispatchBench.Packet(PacketKind.Data, 2));
        Assert.Empty(_bench.Consumer.Messages);
        Assert.Equal(0, _bench.Counters.DroppedInAll);

        _bench.OpenView();
        _bench.Dispatcher.ReplayUnknown();
        Assert.Equal([1, 2], _bench.Consumer.Messages);
        Assert.Equal(0, _bench.Counters.DroppedInAll);
    }

    [Fact]
    public void Early_packets_of_a_kind_that_asks_for_it_come_again_once()
    {
        MakeEarly();
        Assert.Equal([1, 2], _bench.Announcements.Sequences);
        Assert.Equal(0, _bench.Counters.DroppedInAll);

        _bench.Announcements.Answer = static () => DropReason.None;
        _bench.Dispatcher.ReplayUnknown();
        Assert.Equal([1, 2, 1, 2], _bench.Announcements.Sequences);
        Assert.All(_bench.Announcements.Packets, packet => Assert.All(packet.Body, one => Assert.Equal((byte)packet.Sequence, one)));
        Assert.All(_bench.Announcements.Packets, static packet => Assert.Equal(DispatchBench.Sender, packet.Sender));

        _bench.Dispatcher.ReplayUnknown();
        Assert.Equal(4, _bench.Announcements.Packets.Count);
        Assert.Equal(0, _bench.LeasedBlocks);
        // Received once, however often they are handed on.
        Assert.Equal(2, _bench.Counters.PacketsReceived);
    }

    [Fact]
    public void Early_packets_of_other_kinds_are_dropped_at_once()
    {
        _bench.Tokens.Answer = static () => DropReason.UnknownView;
        _bench.Receive(DispatchBench.Packet(PacketKind.Token, 1));
        Assert.Equal((1, 1), (_bench.Counters.Dropped(DropReason.UnknownView), _bench.Counters.DroppedInAll));

        _bench.Dispatcher.ReplayUnknown();
        Assert.Single(_bench.Tokens.Packets);
        Assert.Equal(0, _bench.LeasedBlocks);
    }

    [Fact]
    public void Packets_that_are_refused_for_another_reason_are_not_kept()
    {
        _bench.Announcements.Answer = static () => DropReason.StaleView;
        _bench.Receive(DispatchBench.Announcement(1));
        _bench.Dispatcher.ReplayUnknown();

        Assert.Single(_bench.Announcements.Packets);
        Assert.Equal((1, 1), (_bench.Counters.Dropped(DropReason.StaleView), _bench.Counters.DroppedInAll));
    }

    [Fact]
    public void A_packet_that_is_refused_when_it_comes_again_is_counted()
    {
        MakeEarly();
        _bench.Announcements.Answer = static () => DropReason.UnknownSender;
        _bench.Dispatcher.ReplayUnknown();

        Assert.Equal((2, 2), (_bench.Counters.Dropped(DropReason.UnknownSender), _bench.Counters.DroppedInAll));
        Assert.Equal(0, _bench.LeasedBlocks);
    }

    [Fact]
    public void Packets_that_are_still_early_are_kept_in_order_and_do_not_become_younger()
    {
        MakeEarly();
        _bench.Environment.Advance(Age - TimeSpan.FromSeconds(1));
        _bench.Dispatcher.ReplayUnknown();
        Assert.Equal([1, 2, 1, 2], _bench.Announcements.Sequences);
        Assert.Equal(0, _bench.Counters.DroppedInAll);
        Assert.Equal(1, _bench.LeasedBlocks);

        _bench.Environment.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, _bench.LeasedBlocks);
        _bench.Dispatcher.ReplayUnknown();
        Assert.Equal(4, _bench.Announcements.Packets.Count);
    }

    [Fact]
    public void Early_packets_are_forgotten_when_each_is_too_old()
    {
        _bench.Announcements.Answer = static () => DropReason.UnknownView;
        _bench.Receive(DispatchBench.Announcement(1));
        _bench.Environment.Advance(TimeSpan.FromSeconds(1));
        _bench.Receive(DispatchBench.Announcement(2));
        Assert.Equal(0, _bench.Counters.DroppedInAll);
        _bench.Environment.Advance(Age - TimeSpan.FromSeconds(1));
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.UnknownView));
        _bench.Announcements.Packets.Clear();

        _bench.Dispatcher.ReplayUnknown();
        Assert.Equal([2], _bench.Announcements.Sequences);
        _bench.Environment.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, _bench.LeasedBlocks);
        Assert.Equal(2, _bench.Counters.Dropped(DropReason.UnknownView));
    }

    [Fact]
    public void Early_packets_beyond_the_bound_are_dropped_and_counted()
    {
        var bench = new DispatchBench(new MulticastOptions { ClusterId = DispatchBench.Cluster, UnknownViewBytes = 250 });
        bench.Announcements.Answer = static () => DropReason.UnknownView;
        bench.Receive(DispatchBench.Announcement(1), DispatchBench.Announcement(2), DispatchBench.Announcement(3));
        Assert.Equal((1, 1), (bench.Counters.Dropped(DropReason.UnknownView), bench.Counters.DroppedInAll));

        bench.Announcements.Packets.Clear();
        bench.Announcements.Answer = static () => DropReason.None;
        bench.Dispatcher.ReplayUnknown();
        Assert.Equal([1, 2], bench.Announcements.Sequences);
    }

    // What escapes while a configuration is applied ends the node.
    [Theory]
    [InlineData(typeof(InvalidOperationException), DropReason.Malformed)]
    [InlineData(typeof(OutOfMemoryException), DropReason.NoMemory)]
    public void An_early_packet_at_which_its_handler_throws_is_dropped_and_those_behind_it_follow(Type exception, object counted)
    {
        var handler = new DispatchBench.RecordingHandler { Answer = static () => DropReason.UnknownView };
        _bench.Dispatcher.Handlers.Register(PacketKinds.FirstRepair, "Healing", handler, keepsEarly: true);
        _bench.Receive(DispatchBench.Packet(PacketKinds.FirstRepair, 1), DispatchBench.Packet(PacketKinds.FirstRepair, 2));
        handler.Answer = () => throw (Exception)Activator.CreateInstance(exception)!;

        _bench.Dispatcher.ReplayUnknown();

        Assert.Equal([1, 2, 1, 2], handler.Sequences);
        Assert.Equal(2, _bench.Counters.Dropped((DropReason)counted));
        Assert.Equal(0, _bench.LeasedBlocks);
    }

    [Fact]
    public void Nothing_is_kept_after_the_end()
    {
        MakeEarly();
        _bench.Dispatcher.Close();
        Assert.Equal(0, _bench.LeasedBlocks);

        _bench.Environment.Advance(Age * 2);
        _bench.Dispatcher.ReplayUnknown();
        Assert.Equal([1, 2], _bench.Announcements.Sequences);
    }

    private void MakeEarly()
    {
        _bench.Announcements.Answer = static () => DropReason.UnknownView;
        _bench.Receive(DispatchBench.Announcement(1), DispatchBench.Announcement(2));
    }
}
