using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Tests.Sending;

public sealed class PacketBlockTests
{
    private const int PacketBytes = 200;

    private readonly SlabPool _pool = new(1L << 22);
    private PacketBlock _block;

    public PacketBlockTests() => _block.Rent(_pool);

    [Fact]
    public void Packets_lie_back_to_back_with_what_belongs_to_them()
    {
        _block.Open();
        _block.Write(PacketBytes, 7, 1, start: null, [], new byte[10]);
        int length = PacketHeader.Bytes + MessageHeader.Bytes + 10;
        Assert.Equal((0, length), (_block.Start, _block.Length));
        Assert.Equal(PacketBytes, _block.UsedWith(PacketBytes));

        _block.Close(behind: 16);
        Assert.False(_block.IsOpen);
        Assert.Equal(length + 16, _block.UsedWith(PacketBytes));
        _block.Open();
        Assert.Equal((length + 16, PacketHeader.Bytes), (_block.Start, _block.Length));
    }

    [Fact]
    public void A_message_is_written_with_all_that_precedes_its_payload()
    {
        var starts = new StartTable();
        starts.Add(3, 1);
        byte[] fields = [(byte)ExtensionKind.Correlation, 1, (byte)'x'];
        _block.Open();
        var rest = _block.Write(PacketBytes, 7, 5, starts, fields, "payload"u8);
        Assert.True(rest.IsEmpty);

        var message = _block.Packet(_block.Length)[PacketHeader.Bytes..];
        Assert.True(MessageHeader.TryRead(message, out int bytes, out var marks, out ulong topic, out long number));
        Assert.Equal((7, 7ul, 5L, MessageMarks.Start | MessageMarks.Extended), (bytes, topic, number, marks));
        Assert.True(MessagePreamble.TryMeasure(message[MessageHeader.Bytes..], marks, out var preamble));
        Assert.Equal(PacketBlock.BytesBefore(starts, fields), MessageHeader.Bytes + preamble.Bytes);
        Assert.True(message[(MessageHeader.Bytes + preamble.Bytes)..].SequenceEqual("payload"u8));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(PacketBytes)]
    public void The_rest_of_a_payload_without_room_is_left_for_the_next_packet(int more)
    {
        byte[] payload = [.. Enumerable.Range(0, PacketBytes - PacketHeader.Bytes - MessageHeader.Bytes + more).Select(i => (byte)i)];
        _block.Open();
        var rest = _block.Write(PacketBytes, 7, 1, start: null, [], payload);
        Assert.Equal(PacketBytes, _block.Length);
        Assert.True(rest.SequenceEqual(payload.AsSpan(payload.Length - more)));

        _block.Close(behind: 0);
        _block.Open();
        int taken = rest.Length - _block.Write(PacketBytes, rest).Length;
        Assert.Equal(Math.Min(more, PacketBytes - PacketHeader.Bytes), taken);
        Assert.True(_block.Packet(_block.Length)[PacketHeader.Bytes..].SequenceEqual(rest[..taken]));
    }

    [Fact]
    public void Earlier_content_of_the_memory_is_not_in_a_padded_packet()
    {
        _block.Open();
        _block.Packet(PacketBytes).Fill(0xFF);
        _block.Write(PacketBytes, 7, 1, start: null, [], []);
        int end = _block.Length;
        _block.Pad(PacketBytes);
        Assert.Equal(PacketBytes, _block.Length);
        Assert.False(_block.Packet(PacketBytes)[end..].ContainsAnyExcept((byte)0));
    }

    [Fact]
    public void A_new_block_is_filled_from_its_beginning_and_the_old_one_is_returned()
    {
        _block.Open();
        _block.Close(behind: 0);
        _block.Rent(_pool);
        Assert.Equal((0, 1L), (_block.Used, _pool.LeasedBlocks));

        _block.Open();
        _block.Release();
        Assert.False(_block.IsRented || _block.IsOpen);
        Assert.Equal(0, _pool.LeasedBlocks);
    }
}
