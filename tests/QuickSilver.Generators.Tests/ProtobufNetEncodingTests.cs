using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization;

namespace QuickSilver.Generators.Tests;

// What protobuf-net writes by default for the types that protobuf lacks, worked out by hand from its bcl.proto.
public sealed class ProtobufNetEncodingTests
{
    private static readonly Times Default = new(0m, Guid.Empty, DateTime.MinValue, DateTimeOffset.MinValue, TimeSpan.Zero);

    // DateTime is never left out, whatever its value: {value = -1, scale = MinMax}.
    private static readonly byte[] MinAt = [26, 4, 8, 1, 16, 15];
    private static readonly byte[] MinThere = [34, 4, 8, 1, 16, 15];

    private static readonly long[] Units =
    [
        TimeSpan.TicksPerDay, TimeSpan.TicksPerHour, TimeSpan.TicksPerMinute, TimeSpan.TicksPerSecond, TimeSpan.TicksPerMillisecond, 1,
    ];

    // Multiples of a unit as far from 1970 as any magnitude, and what lies next to them.
    private static readonly Arbitrary<DateTime> Instants =
        (from unit in Gen.Elements(Units)
         from width in Gen.Choose(0, 62)
         from count in ArbMap.Default.GeneratorFor<DoNotSize<ulong>>()
         from sign in Gen.Elements(-1L, 1L)
         from beside in Gen.Elements(0L, 0L, 0L, 1L, -1L, TimeSpan.TicksPerMillisecond, TimeSpan.TicksPerMinute)
         let most = ((sign < 0 ? DateTime.UnixEpoch.Ticks : DateTime.MaxValue.Ticks - DateTime.UnixEpoch.Ticks) / unit) - 1
         let ticks = DateTime.UnixEpoch.Ticks + (sign * unit * (long)((count.Item >> (63 - width)) % (ulong)most)) + beside
         select new DateTime(Math.Clamp(ticks, 1, DateTime.MaxValue.Ticks - 1))).ToArbitrary();

    [Fact]
    public void Defaults_are_left_out_except_of_dates() => Assert.Equal([.. MinAt, .. MinThere], Codecs.Encode(Default));

    [Fact]
    public void Decimal_is_its_bits() => Assert.Equal(
        [10, 5, 8, 0xB9, 0x60, 24, 5, .. MinAt, .. MinThere],
        Codecs.Encode(Default with { Price = -123.45m }));

    [Fact]
    public void Decimal_has_a_high_word_of_its_own() => Assert.Equal(
        [10, 17, 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 16, 255, 255, 255, 255, 15, .. MinAt, .. MinThere],
        Codecs.Encode(Default with { Price = decimal.MaxValue }));

    [Fact]
    public void Guid_is_two_fixed_halves() => Assert.Equal(
        [
            18, 18,
            9, 0x78, 0x56, 0x34, 0x12, 0x45, 0x23, 0x56, 0x34,
            17, 0x45, 0x67, 0x56, 0x78, 0x9a, 0x67, 0x89, 0xab,
            .. MinAt, .. MinThere,
        ],
        Codecs.Encode(Default with { Id = new Guid("12345678-2345-3456-4567-56789a6789ab") }));

    [Theory]
    [InlineData(2 * TimeSpan.TicksPerDay, new byte[] { 42, 2, 8, 4 })]
    [InlineData(-3 * TimeSpan.TicksPerHour, new byte[] { 42, 4, 8, 5, 16, 1 })]
    [InlineData(90 * TimeSpan.TicksPerMinute, new byte[] { 42, 5, 8, 0xB4, 1, 16, 2 })]
    [InlineData(5 * TimeSpan.TicksPerSecond, new byte[] { 42, 4, 8, 10, 16, 3 })]
    [InlineData(7 * TimeSpan.TicksPerMillisecond, new byte[] { 42, 4, 8, 14, 16, 4 })]
    [InlineData(1, new byte[] { 42, 4, 8, 2, 16, 5 })]
    [InlineData(long.MaxValue, new byte[] { 42, 4, 8, 2, 16, 15 })]
    [InlineData(long.MinValue, new byte[] { 42, 4, 8, 1, 16, 15 })]
    public void TimeSpan_is_in_the_coarsest_exact_unit(long ticks, byte[] expected) => Assert.Equal(
        [.. MinAt, .. MinThere, .. expected],
        Codecs.Encode(Default with { Took = TimeSpan.FromTicks(ticks) }));

    [Fact]
    public void DateTime_counts_from_1970_and_leaves_its_kind_out() => Assert.Equal(
        [26, 2, 8, 2, .. MinThere],
        Codecs.Encode(Default with { At = new DateTime(1970, 1, 2, 0, 0, 0, DateTimeKind.Utc) }));

    [Fact]
    public void DateTime_is_in_the_coarsest_exact_unit_however_large_or_close_to_another() => Prop.ForAll(Instants, value =>
    {
        byte[] bytes = Codecs.Encode(Default with { At = value });
        byte[] expected = ByDivision(value);
        Assert.Equal([26, (byte)expected.Length, .. expected, .. MinThere], bytes);
        Assert.Equal(value, Codecs.Decode<Times>(bytes).At);
        Assert.Equal(value, Codecs.Decode<Times>([26, (byte)expected.Length, .. expected]).At);
    }).Check(Config.QuickThrowOnFailure.WithMaxTest(2000));

    [Fact]
    public void DateTimeOffset_is_its_instant_and_then_its_offset() => Assert.Equal(
        [.. MinAt, 34, 5, 8, 2, 32, 0xF0, 1],
        Codecs.Encode(Default with { There = new DateTimeOffset(1970, 1, 2, 2, 0, 0, TimeSpan.FromHours(2)) }));

    [Fact]
    public void A_kind_that_was_sent_is_read()
    {
        var value = Codecs.Decode<Times>([26, 4, 8, 2, 24, 1]);
        Assert.Equal((new DateTime(1970, 1, 2), DateTimeKind.Utc), (value.At, value.At.Kind));
    }

    [Theory]
    [InlineData(new byte[] { 10, 3, 24, 58, 0 })]
    [InlineData(new byte[] { 10, 2, 24, 58 })]
    [InlineData(new byte[] { 26, 2, 16, 6 })]
    [InlineData(new byte[] { 26, 4, 8, 4, 16, 15 })]
    [InlineData(new byte[] { 26, 2, 24, 3 })]
    [InlineData(new byte[] { 26, 11, 8, 254, 255, 255, 255, 255, 255, 255, 255, 255, 1 })]
    [InlineData(new byte[] { 34, 4, 32, 0x92, 0x0D, 0 })]
    [InlineData(new byte[] { 42, 11, 8, 254, 255, 255, 255, 255, 255, 255, 255, 255, 1 })]
    public void Values_out_of_range_are_malformed(byte[] bytes) => Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Times>(bytes));

    private static byte[] ByDivision(DateTime value)
    {
        long ticks = value.Ticks - DateTime.UnixEpoch.Ticks;
        int scale = Array.FindIndex(Units, unit => ticks % unit == 0);
        long count = ticks / Units[scale];
        var bytes = new List<byte>();
        if (count != 0)
        {
            bytes.Add(8);
            ulong zigzag = (ulong)((count << 1) ^ (count >> 63));
            for (; zigzag >= 0x80; zigzag >>= 7)
            {
                bytes.Add((byte)(zigzag | 0x80));
            }

            bytes.Add((byte)zigzag);
        }

        return scale == 0 ? [.. bytes] : [.. bytes, 16, (byte)scale];
    }
}
