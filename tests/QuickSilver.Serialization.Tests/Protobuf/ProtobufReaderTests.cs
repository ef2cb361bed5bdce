using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Tests.Protobuf;

// Bytes that are not trusted: each is a value or a PayloadFormatException, and no length is trusted.
public sealed class ProtobufReaderTests
{
    private delegate void Reading(ref ProtobufReader reader);

    private static string Malformed(byte[] bytes, Reading read) => Assert.Throws<PayloadFormatException>(() =>
    {
        var reader = new ProtobufReader(bytes);
        read(ref reader);
    }).Message;

    private static void SkipAll(ref ProtobufReader reader)
    {
        while (reader.TryReadTag(out uint tag))
        {
            reader.Skip(tag);
        }
    }

    [Fact]
    public void Every_wire_type_is_skipped()
    {
        byte[] fields = [8, 0xFF, 1, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1A, 2, 0xFF, 0xFF, 0x23, 8, 1, 0x24, 0x2D, 1, 2, 3, 4];
        var reader = new ProtobufReader(fields);
        SkipAll(ref reader);
        Assert.True(reader.IsAtEnd);
    }

    [Theory]
    [InlineData("08")]
    [InlineData("08FF")]
    [InlineData("0901020304050607")]
    [InlineData("0A02FF")]
    [InlineData("0AFFFFFFFF07")]
    [InlineData("0AFFFFFFFFFFFFFFFFFF01")]
    [InlineData("0D010203")]
    [InlineData("0B0801")]
    [InlineData("80")]
    public void Truncated_fields_are_distinguished_from_complete_ones(string bytes) =>
        Assert.Contains("ends in the middle of a field", Malformed(Convert.FromHexString(bytes), SkipAll), StringComparison.Ordinal);

    [Theory]
    [InlineData("00", "no valid number")]
    [InlineData("07", "no valid number")]
    [InlineData("8080808010", "no valid number")]
    [InlineData("0C", "an end-group tag has no matching start")]
    [InlineData("0E", "unknown wire type")]
    [InlineData("08FFFFFFFFFFFFFFFFFFFF01", "more than ten bytes")]
    public void Malformed_input_is_described(string bytes, string what) =>
        Assert.Contains(what, Malformed(Convert.FromHexString(bytes), SkipAll), StringComparison.Ordinal);

    [Fact]
    public void Groups_and_messages_nest_to_a_limit()
    {
        byte[] groups = [.. Enumerable.Repeat((byte)0x0B, 101), .. Enumerable.Repeat((byte)0x0C, 101)];
        Assert.Contains("groups nest deeper than 100", Malformed(groups, SkipAll), StringComparison.Ordinal);
        var whole = new ProtobufReader(groups.AsSpan(1, 200));
        SkipAll(ref whole);
        Assert.True(whole.IsAtEnd);

        string tooDeep = Malformed([0], static (ref reader) => Enter(reader, 101));
        Assert.Contains("messages nest deeper than 100", tooDeep, StringComparison.Ordinal);
        Enter(default, 100);

        static void Enter(ProtobufReader reader, int levels)
        {
            for (int i = 0; i < levels; i++)
            {
                reader = reader.Enter([]);
            }
        }
    }

    [Fact]
    public void A_nested_message_ends_where_its_length_says()
    {
        var reader = new ProtobufReader([0x0A, 2, 8, 5, 0x10, 7]);
        Assert.True(reader.TryReadTag(out uint tag));
        Assert.Equal(10u, tag);
        var nested = reader.ReadMessage();
        Assert.True(nested.TryReadVarint(8, out ulong within));
        Assert.Equal(5ul, within);
        Assert.False(nested.TryReadTag(out _));
        Assert.True(reader.TryReadVarint(16, out ulong after));
        Assert.Equal(7ul, after);
    }

    [Fact]
    public void A_row_of_repeats_is_counted_before_room_is_made()
    {
        var reader = new ProtobufReader([8, 1, 8, 2, 8, 3, 0x10, 4, 8, 5]);
        Assert.True(reader.TryReadTag(out uint tag));
        Assert.Equal(3, reader.CountRepeats(tag));
        Assert.Equal(1ul, reader.ReadUInt64());
    }
}
