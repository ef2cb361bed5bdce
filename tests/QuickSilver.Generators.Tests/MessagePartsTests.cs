using System.Text;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Generators.Tests;

// A nested message whose field occurs several times is one message, and costs linear time and memory.
public sealed class MessagePartsTests
{
    private static readonly Point Merged = new(5, 7);

    [Theory]
    [InlineData("0A0208050A021007")]
    [InlineData("0A020801A006010A040805100A0A021007")]
    [InlineData("0A000A020805A006010A0210070A00")]
    public void Parts_of_a_message_are_merged(string hex) =>
        Assert.Equal(Merged, Codecs.Decode<Holder>(Convert.FromHexString(hex)).Point);

    [Fact]
    public void Parts_of_an_optional_message_and_of_the_value_of_a_map_are_merged()
    {
        Assert.Equal(Merged, Codecs.Decode<Holder>([18, 2, 8, 5, 18, 2, 16, 7]).MaybePoint);
        Assert.Equal(new Point(0, 0), Codecs.Decode<Holder>([18, 0]).MaybePoint);
        Assert.Null(Codecs.Decode<Holder>([]).MaybePoint);
        Assert.Equal(Merged, Codecs.Decode<Holder>([34, 10, 8, 3, 18, 2, 8, 5, 18, 2, 16, 7]).Points[3]);
        Assert.Equal(new Point(0, 0), Codecs.Decode<Holder>([34, 2, 8, 3]).Points[3]);
    }

    [Fact]
    public void Parts_of_parts_are_what_Google_makes_of_them()
    {
        byte[] bytes =
        [
            10, 1, (byte)'a',
            26, 8, 10, 1, (byte)'b', 18, 3, 10, 1, (byte)'c',
            26, 10, 18, 3, 10, 1, (byte)'d', 26, 3, 10, 1, (byte)'e',
            26, 7, 26, 5, 18, 3, 10, 1, (byte)'f',
        ];
        byte[] expected = Google.Protobuf.MessageExtensions.ToByteArray(Twins.Tree.Parser.ParseFrom(bytes));
        Assert.Equal(expected, Codecs.Encode(Codecs.Decode<Tree>(bytes)));
    }

    [Fact]
    public void Consecutive_parts_of_one_subtype_are_merged_and_another_subtype_replaces_them()
    {
        byte[] account = [10, 3, 10, 1, (byte)'a'];
        byte[] version = [10, 2, 80, 7];
        Assert.Equal(new Deposit("a", 0) { Version = 7 }, Codecs.Decode<Movement>([.. account, .. version]));
        Assert.Equal(new Fee(""), Codecs.Decode<Movement>([.. account, 26, 0]));
        Assert.Equal(new Deposit("", 0) { Version = 7 }, Codecs.Decode<Movement>([.. account, 26, 0, .. version]));
    }

    [Fact]
    public void Json_shows_all_parts()
    {
        byte[] bytes = [10, 2, 8, 5, 10, 2, 16, 7, 34, 10, 8, 3, 18, 2, 8, 5, 18, 2, 16, 7];
        using var json = new PayloadToJson(new DynamicSchema(Codecs.Of<Holder>().Schema));
        Assert.Equal(
            """{"Point":{"X":5,"Y":7},"Points":{"3":{"X":5,"Y":7}}}""", Encoding.UTF8.GetString(json.Convert(bytes).Span));
    }

    [Fact]
    public void Parts_nest_as_deep_as_the_limit_and_no_deeper()
    {
        var deepest = Codecs.Decode<Holder>(Nested(ProtobufLimits.MaxJoins));
        for (int i = 0; i < ProtobufLimits.MaxJoins; i++)
        {
            deepest = deepest.Next!;
        }

        Assert.Equal(5, deepest.Point.X);
        var refusal = Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Holder>(Nested(ProtobufLimits.MaxJoins + 1)));
        Assert.Contains("messages in several parts nest deeper than 8", refusal.Message);
        Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Holder>(Nested(99)));
    }

    [Fact]
    public void Many_small_parts_take_linear_time_and_memory()
    {
        byte[] bytes = new byte[4_000_000];
        for (int i = 0; i < bytes.Length; i += 4)
        {
            (bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]) = (10, 2, 8, (byte)(i % 100));
        }

        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(96, Codecs.Decode<Holder>(bytes).Point.X);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 4 * bytes.Length);
    }

    [Fact]
    public void Dates_and_times_in_collections_are_not_packed_and_are_read_in_both_forms()
    {
        var value = new Calendar
        {
            Days = [DateOnly.FromDayNumber(2), DateOnly.FromDayNumber(300)],
            Times = [new TimeOnly(5)],
            Holidays = [DateOnly.FromDayNumber(0)],
            Breaks = [new TimeOnly(1), new TimeOnly(2)],
        };
        byte[] unpacked = [8, 2, 8, 0xAC, 2, 16, 5, 24, 0, 32, 1, 32, 2];
        byte[] packed = [10, 3, 2, 0xAC, 2, 18, 1, 5, 26, 1, 0, 34, 2, 1, 2];
        Assert.Equal(unpacked, Codecs.Encode(value));
        Assert.Equal(unpacked, Codecs.Encode(Codecs.Decode<Calendar>(unpacked)));
        Assert.Equal(unpacked, Codecs.Encode(Codecs.Decode<Calendar>(packed)));
    }

    // Each level has the next one and an empty part of it.
    private static byte[] Nested(int levels)
    {
        byte[] bytes = [10, 2, 8, 5];
        for (int i = 0; i < levels; i++)
        {
            bytes = [42, .. LengthOf(bytes.Length), .. bytes, 42, 2, 18, 0];
        }

        return bytes;
    }

    private static byte[] LengthOf(int length) => length < 128 ? [(byte)length] : [(byte)(length | 0x80), (byte)(length >> 7)];
}
