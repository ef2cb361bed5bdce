using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Tests.Protobuf;

public sealed class ProtobufWriterTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(127)]
    [InlineData(128)]
    [InlineData(16_383)]
    [InlineData(16_384)]
    [InlineData(2_097_152)]
    public void A_nested_message_gets_the_length_that_it_turned_out_to_have(int bodyBytes)
    {
        byte[] body = new byte[bodyBytes];
        Array.Fill(body, (byte)7);
        byte[] room = new byte[bodyBytes + 16];
        var writer = new ProtobufWriter(room);
        int start = writer.BeginMessage(10);
        body.CopyTo(room.AsSpan(start));
        writer.EndMessage(start, start + bodyBytes);
        writer.WriteUInt64(16, 1);

        var reader = new ProtobufReader(room.AsSpan(0, writer.Written));
        Assert.True(reader.TryReadTag(out uint tag));
        Assert.Equal(10u, tag);
        Assert.True(body.AsSpan().SequenceEqual(reader.ReadLengthDelimited()));
        Assert.True(reader.TryReadVarint(16, out ulong behind));
        Assert.Equal(1ul, behind);
        Assert.True(reader.IsAtEnd);
        Assert.Equal(1 + ProtobufSize.LengthDelimited(bodyBytes) + 2, writer.Written);
    }

    [Fact]
    public void Packed_integers_of_fixed_width_are_little_endian()
    {
        byte[] room = new byte[20];
        var writer = new ProtobufWriter(room);
        int start = writer.BeginLength(10);
        writer.WriteFixed64(0x0102030405060708);
        writer.WriteFixed64(1);
        writer.EndLength(start);
        Assert.Equal("0A1008070605040302010100000000000000", Convert.ToHexString(room.AsSpan(0, writer.Written)));
    }

    [Theory]
    [InlineData(11)]
    [InlineData(17)]
    public void Nothing_is_written_behind_a_destination_that_is_too_small(int room) => Assert.Throws<ArgumentException>(() =>
    {
        var writer = new ProtobufWriter(new byte[room]);
        int start = writer.BeginLength(10);
        writer.WriteFixed64(1);
        writer.WriteFixed64(2);
        writer.EndLength(start);
    });

    [Fact]
    public void Text_is_written_as_long_as_its_UTF_8_is()
    {
        string text = new('ü', 100);
        byte[] room = new byte[1 + ProtobufSize.String(text)];
        var writer = new ProtobufWriter(room);
        writer.WriteString(10, text);
        Assert.Equal(room.Length, writer.Written);
        var reader = new ProtobufReader(room);
        Assert.True(reader.TryReadTag(out _));
        Assert.Equal(text, reader.ReadString());
    }
}
