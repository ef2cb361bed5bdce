using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization;

namespace QuickSilver.Generators.Tests;

// F10, F18: codecs read and write words where there are bytes, and never one that is not theirs.
public sealed class SpanBoundsTests
{
    private const int Behind = 32;

    // Each value is read or written once a byte of it, and most of those throw.
    private static readonly Config Few = Config.QuickThrowOnFailure.WithMaxTest(15);

    [Fact]
    public void Bytes_after_a_payload_are_not_read()
    {
        Truncated(Values.Scalars);
        Truncated(Values.Optionals);
        Truncated(Values.Trees);
        Truncated(Values.Times);
        Truncated(Values.Converted);
    }

    [Fact]
    public void A_payload_cut_within_a_field_is_malformed() => Prop.ForAll(Values.Scalars, value =>
    {
        byte[] bytes = Short(value);
        var ends = WireFields.Split(bytes).Select(field => field.Bytes.Length).Aggregate(
            new List<int> { 0 },
            (list, length) => [.. list, list[^1] + length]);
        for (int length = 0; length < bytes.Length; length++)
        {
            Assert.Equal(ends.Contains(length), Read<Scalars>(bytes.AsSpan(0, length)) is not null);
        }
    }).Check(Few);

    [Fact]
    public void Nothing_is_written_behind_the_destination_and_too_small_a_one_is_refused()
    {
        Sized(Values.Scalars);
        Sized(Values.Optionals);
        Sized(Values.Trees);
        Sized(Values.Times);
        Sized(Values.Converted);
        Sized(Values.Sets);
        Sized(Values.Maps);
    }

    private static void Truncated<T>(Arbitrary<T> values) => Prop.ForAll(values, value =>
    {
        byte[] bytes = Short(value);
        for (int length = 0; length <= bytes.Length; length++)
        {
            byte[] low = [.. bytes[..length], .. new byte[Behind]];
            byte[] high = [.. bytes[..length], .. Enumerable.Repeat((byte)0xFF, Behind)];
            Assert.Equal(Read<T>(low.AsSpan(0, length)), Read<T>(high.AsSpan(0, length)));
        }
    }).Check(Few);

    private static void Sized<T>(Arbitrary<T> values) => Prop.ForAll(values, value =>
    {
        var codec = Codecs.Of<T>();
        byte[] expected = Codecs.Encode(value);
        Assert.True(codec.GetMaxSize(in value) >= expected.Length);
        int nearby = Math.Min(expected.Length, Behind);
        for (int room = expected.Length - nearby; room <= expected.Length + Behind; room++)
        {
            byte[] bytes = new byte[room + Behind];
            if (room < expected.Length)
            {
                Assert.Throws<ArgumentException>(() => codec.Write(in value, bytes.AsSpan(0, room)));
            }
            else
            {
                Assert.Equal(expected.Length, codec.Write(in value, bytes.AsSpan(0, room)));
                Assert.Equal(expected, bytes[..expected.Length]);
            }

            Assert.False(bytes.AsSpan(room).ContainsAnyExcept((byte)0));
        }
    }).Check(Few);

    // Every prefix is read: long texts and blobs would take long and show no more.
    private static byte[] Short<T>(T value) =>
        [.. WireFields.Split(Codecs.Encode(value)).Where(field => field.Bytes.Length < 100).SelectMany(field => field.Bytes).Take(300)];

    // As bytes, which two equal values have the same of; null: malformed.
    private static byte[]? Read<T>(ReadOnlySpan<byte> bytes)
    {
        try
        {
            return Codecs.Encode(Codecs.Decode<T>(bytes));
        }
        catch (PayloadFormatException)
        {
            return null;
        }
    }
}
