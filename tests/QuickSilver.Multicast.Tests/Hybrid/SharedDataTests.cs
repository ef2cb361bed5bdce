using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Tests.Dispatch;

namespace QuickSilver.Multicast.Tests.Hybrid;

// What a node does with shared packets, also with those that no node should send.
public sealed class SharedDataTests
{
    private const int Data = PacketHeader.Bytes + MessageHeader.Bytes + 20;
    private const ulong Other = 99;
    private static readonly SharedEntry Mine = new(DispatchBench.Region, DispatchBench.View, 1);

    private readonly DispatchBench _bench = new();

    public SharedDataTests() => _bench.OpenView();

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(58)]
    public void A_member_takes_the_entry_of_its_region_wherever_it_is(int entries)
    {
        for (int at = 0; at < entries; at++)
        {
            var list = Enumerable.Range(0, entries).Select(i => new SharedEntry(Other + (ulong)i, 1, 7)).ToArray();
            list[at] = Mine with { Number = at + 1 };
            _bench.Receive(Shared(at + 1, list));
        }

        Assert.Equal(Enumerable.Range(1, entries).Select(number => (long)number), _bench.Consumer.Messages);
        Assert.Equal(entries, _bench.Counters.SharedPacketsReceived);
        Assert.Equal(0, _bench.Counters.DroppedInAll);
    }

    [Fact]
    public void A_run_of_shared_packets_is_split_like_any_other()
    {
        _bench.Receive(Shared(1, [Mine]), Shared(2, [Mine with { Number = 2 }]), Shared(3, [Mine with { Number = 3 }]));
        Assert.Equal([1, 2, 3], _bench.Consumer.Messages);
    }

    [Fact]
    public void A_packet_that_lists_no_open_view_of_the_node_is_dropped_and_counted()
    {
        _bench.Receive(Shared(1, []));
        _bench.Receive(Shared(1, [new SharedEntry(Other, DispatchBench.View, 1)]));
        _bench.Receive(Shared(1, [Mine with { View = DispatchBench.View + 1 }]));
        Assert.Empty(_bench.Consumer.Messages);
        Assert.Equal((3, 3), (_bench.Counters.Dropped(DropReason.NotListed), _bench.Counters.DroppedInAll));
        Assert.Equal(0, _bench.LeasedBlocks);
    }

    [Fact]
    public void Of_entries_that_are_listed_twice_the_first_counts()
    {
        _bench.Receive(Shared(1, [Mine, Mine with { Number = 2 }]));
        _bench.Receive(Shared(1, [Mine, Mine]));
        Assert.Equal([1], _bench.Consumer.Messages);
        Assert.Equal((1, 1), (_bench.Counters.Dropped(DropReason.Duplicate), _bench.Counters.DroppedInAll));
    }

    [Fact]
    public void A_shared_packet_and_the_data_packet_that_was_made_of_it_are_one()
    {
        _bench.Receive(Shared(1, [Mine]), DispatchBench.Packet(PacketKind.Data, 1));
        Assert.Equal([1], _bench.Consumer.Messages);
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.Duplicate));
    }

    [Fact]
    public void A_list_that_does_not_fit_into_its_packet_is_malformed()
    {
        byte[] packet = Shared(1, [Mine]);
        packet[^1] = 0xFF;
        PacketTemplate.Seal(packet);
        _bench.Receive(packet);
        Assert.Equal((1, 1), (_bench.Counters.Dropped(DropReason.Malformed), _bench.Counters.DroppedInAll));
    }

    [Fact]
    public void A_stranger_and_a_number_far_ahead_are_refused()
    {
        _bench.Receive(Shared(1, [Mine], new PacketTemplate(DispatchBench.Cluster, 77, 1, 0, 0)));
        _bench.Receive(Shared(1, [Mine with { Number = uint.MaxValue }]));
        _bench.Receive(Shared(1, [Mine], new PacketTemplate(DispatchBench.Cluster, 2, 5, 0, 0, streamClass: 9)));
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.UnknownSender));
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.OutOfWindow));
        Assert.Equal(1, _bench.Counters.Dropped(DropReason.UnknownClass));
        Assert.Empty(_bench.Consumer.Messages);
    }

    [Fact]
    public void A_shared_packet_is_data_and_waits_in_no_queue_of_control()
    {
        Core.Transport.IDatagramReceiver splitter = _bench.Splitter;
        Assert.False(splitter.IsControl(Shared(1, [Mine])));
        Assert.False(splitter.IsRepair(Shared(1, [Mine])));
    }

    private static byte[] Shared(long message, SharedEntry[] entries) =>
        Shared(
            message,
            entries,
            new PacketTemplate(DispatchBench.Cluster, DispatchBench.Sender.Id, DispatchBench.Sender.Incarnation, 0, 0));

    private static byte[] Shared(long message, SharedEntry[] entries, in PacketTemplate template)
    {
        var list = new SharedList(Data, entries.Length, entries.Length);
        var packet = new byte[Data + SharedPacket.ListBytes(entries.Length)];
        template.Write(packet, PacketKind.Shared, PacketFlags.None, 0, 0, 0);
        MessageHeader.Write(packet.AsSpan(PacketHeader.Bytes), 20, MessageMarks.None, 5, message);
        for (int i = 0; i < entries.Length; i++)
        {
            SharedPacket.WriteEntry(packet, list, i, entries[i]);
        }

        SharedPacket.WriteTail(packet, list, region: 0);
        PacketTemplate.Seal(packet);
        return packet;
    }
}
