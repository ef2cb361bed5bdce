using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Tests.Channels;

public sealed class PacketParserTests
{
    private const int PacketBytes = 300;

    private readonly RetentionBuffer _packets = new(new RetentionBudget(long.MaxValue));
    private readonly Packer _packer;

    public PacketParserTests() =>
        _packer = new Packer(new SlabPool(1L << 22), new PacketTemplate(1, 2, 3, 4, 5), PacketBytes, _packets);

    [Fact]
    public void Messages_are_read_in_the_order_in_which_they_lie_in_the_packet()
    {
        var starts = new StartTable();
        starts.Add(3, 1);
        byte[] fields = [(byte)ExtensionKind.Correlation, 1, (byte)'x'];
        Append(7, 1, starts, fields, "first"u8);
        Append(8, 2, null, [], "second"u8);
        var packet = Packet(1);

        var messages = new PacketParser(packet);
        Assert.True(messages.MoveNext());
        Assert.Equal((7ul, 1L, 5), (messages.Topic, messages.Number, messages.PayloadBytes));
        Assert.Equal(MessageMarks.Start | MessageMarks.Extended, messages.Marks);
        Assert.Equal(starts.EncodedBytes, messages.Table.Length);
        Assert.True(packet.Slice(messages.PayloadAt - messages.FieldBytes, messages.FieldBytes).SequenceEqual(fields));
        Assert.True(packet.Slice(messages.PayloadAt, 5).SequenceEqual("first"u8));

        Assert.True(messages.MoveNext());
        Assert.Equal((8ul, 2L, MessageMarks.None), (messages.Topic, messages.Number, messages.Marks));
        Assert.True(messages.Table.IsEmpty && messages.FieldBytes == 0);
        Assert.True(packet[messages.PayloadAt..].SequenceEqual("second"u8));
        Assert.False(messages.MoveNext());
    }

    [Fact]
    public void The_rest_of_an_earlier_message_is_skipped_and_the_last_one_may_continue()
    {
        Append(7, 1, null, [], new byte[PacketBytes]);
        Append(7, 2, null, [], new byte[PacketBytes]);

        var messages = new PacketParser(Packet(2));
        Assert.True(messages.MoveNext());
        Assert.Equal(2, messages.Number);
        Assert.True(messages.Continues);
        Assert.False(messages.MoveNext());
    }

    [Fact]
    public void A_message_that_ends_with_its_packet_does_not_continue()
    {
        Append(7, 1, null, [], new byte[PacketBytes - PacketHeader.Bytes - MessageHeader.Bytes]);
        var messages = new PacketParser(Packet(1));
        Assert.True(messages.MoveNext());
        Assert.False(messages.Continues || messages.MoveNext());
    }

    [Fact]
    public void Padding_is_no_message()
    {
        Append(7, 1, null, [], new byte[PacketBytes - PacketHeader.Bytes - MessageHeader.Bytes - 10]);
        Append(7, 2, null, [], []);
        var messages = new PacketParser(Packet(1));
        Assert.True(messages.MoveNext());
        Assert.False(messages.MoveNext());
    }

    [Fact]
    public void Nothing_is_read_behind_a_message_whose_extensions_are_damaged()
    {
        Append(7, 1, null, [(byte)ExtensionKind.Correlation, 1, (byte)'x'], []);
        Append(7, 2, null, [], []);
        byte[] packet = Packet(1).ToArray();
        packet[PacketHeader.Bytes + MessageHeader.Bytes + 2] = byte.MaxValue;

        var messages = new PacketParser(packet);
        Assert.True(messages.MoveNext());
        Assert.True(messages.IsDamaged);
        Assert.True(messages.Table.IsEmpty);
        Assert.False(messages.MoveNext());
    }

    [Fact]
    public void A_head_that_is_longer_than_the_packet_leaves_no_message()
    {
        Append(7, 1, null, [], []);
        byte[] packet = Packet(1).ToArray();
        packet[PacketHeader.HeadBytesOffset + 1] = byte.MaxValue;
        Assert.False(new PacketParser(packet).MoveNext());
    }

    private void Append(ulong topic, long number, StartTable? starts, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload) =>
        _packer.Append(topic, number, starts, extensions, payload);

    private ReadOnlySpan<byte> Packet(long number)
    {
        _packer.Flush();
        return _packets.PacketAt(number);
    }
}
