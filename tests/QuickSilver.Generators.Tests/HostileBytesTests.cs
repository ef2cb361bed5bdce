using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization;

namespace QuickSilver.Generators.Tests;

// F10, F18, T9, T11: whatever the bytes, a codec answers with a value or with PayloadFormatException, at once.
public sealed class HostileBytesTests
{
    [Fact]
    public void Random_bytes_are_a_value_or_malformed() => Prop.ForAll(
        ArbMap.Default.GeneratorFor<byte[]>().Resize(400).ToArbitrary(),
        ReadAll).Check(Config.QuickThrowOnFailure.WithMaxTest(3000));

    [Fact]
    public void Mutilated_payloads_are_a_value_or_malformed()
    {
        var mutations =
            from times in Values.Times.Generator
            from maps in Values.Maps.Generator
            from tree in Values.Trees.Generator
            from collections in Values.Collections.Generator
            from converted in Values.Converted.Generator
            from sets in Values.Sets.Generator
            from which in Gen.Choose(0, 5)
            from cut in Gen.Choose(0, 1_000_000)
            from at in Gen.Choose(0, 1_000_000)
            from bit in Gen.Choose(0, 7)
            select Mutilate(
                which switch
                {
                    0 => Codecs.Encode(times),
                    1 => Codecs.Encode(maps),
                    2 => Codecs.Encode(tree),
                    3 => Codecs.Encode(converted),
                    4 => Codecs.Encode(sets),
                    _ => Codecs.Encode(collections),
                },
                cut,
                at,
                bit);
        Prop.ForAll(mutations.ToArbitrary(), ReadAll).Check(Config.QuickThrowOnFailure.WithMaxTest(500));
    }

    [Fact]
    public void Every_truncation_of_a_message_ends_cleanly()
    {
        byte[] bytes = Codecs.Encode(new Collections { List = [1, 300], Texts = ["a", "b"], Trees = [new Tree { Name = "t" }] });
        for (int length = 0; length < bytes.Length; length++)
        {
            ReadAll(bytes[..length]);
        }

        Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Collections>(bytes[..^1]));
    }

    [Fact]
    public void A_length_beyond_the_payload_allocates_nothing()
    {
        // texts = 5 and list = 1, each claiming 2 GiB.
        foreach (byte tag in new byte[] { 42, 10, 74, 82 })
        {
            byte[] bytes = [tag, 0xFF, 0xFF, 0xFF, 0xFF, 0x07];
            Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Collections>(bytes));
            long before = GC.GetAllocatedBytesForCurrentThread();
            Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Collections>(bytes));
            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 64 * 1024);
        }
    }

    [Fact]
    public void Nesting_beyond_the_limit_is_malformed_not_a_stack_overflow()
    {
        byte[] bytes = [];
        for (int i = 0; i < 101; i++)
        {
            bytes = [26, .. LengthOf(bytes), .. bytes];
        }

        Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Tree>(bytes));
        byte[] groups = [.. Enumerable.Repeat((byte)0x43, 1_000_000)];
        Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Tree>(groups));
    }

    [Fact]
    public void Interleaved_fields_are_read_in_linear_time()
    {
        // texts = 5 and blobs = 6 in turn, so that no run is ever longer than one.
        byte[] bytes = new byte[2_000_000];
        for (int i = 0; i < bytes.Length; i += 4)
        {
            bytes[i] = 42;
            bytes[i + 2] = 50;
        }

        var value = Codecs.Decode<Collections>(bytes);
        Assert.Equal((500_000, 500_000), (value.Texts.Count, value.Blobs.Length));
    }

    [Theory]
    [InlineData(new byte[] { 0, 1 })]
    [InlineData(new byte[] { 7, 1 })]
    [InlineData(new byte[] { 14, 1 })]
    [InlineData(new byte[] { 12 })]
    [InlineData(new byte[] { 0x43, 0x4C })]
    [InlineData(new byte[] { 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 })]
    [InlineData(new byte[] { 255, 255, 255, 255, 127, 1 })]
    [InlineData(new byte[] { 106, 1, 0xFF })]
    [InlineData(new byte[] { 40, 255, 255, 3 })]
    [InlineData(new byte[] { 56, 128, 2 })]
    [InlineData(new byte[] { 93, 1, 2, 3 })]
    public void Malformed_fields_are_named_so(byte[] bytes) => Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Scalars>(bytes));

    [Theory]
    [InlineData(new byte[] { 8, 0xFF, 0xFF, 0xFF, 0x7F })]
    [InlineData(new byte[] { 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 })]
    [InlineData(new byte[] { 16, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10 })]
    [InlineData(new byte[] { 29, 1, 0, 128, 63 })]
    [InlineData(new byte[] { 34, 7, (byte)'h', (byte)'t', (byte)'t', (byte)'p', (byte)':', (byte)'/', (byte)'/' })]
    [InlineData(new byte[] { 42, 2, 1, 2 })]
    [InlineData(new byte[] { 50, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 })]
    public void Bytes_of_which_no_type_can_be_made_are_malformed(byte[] bytes) =>
        Assert.Throws<PayloadFormatException>(() => Codecs.Decode<Converted>(bytes));

    private static byte[] LengthOf(byte[] bytes) =>
        bytes.Length < 128 ? [(byte)bytes.Length] : [(byte)(bytes.Length | 0x80), (byte)(bytes.Length >> 7)];

    private static byte[] Mutilate(byte[] bytes, int cut, int at, int bit)
    {
        if (bytes.Length == 0)
        {
            return bytes;
        }

        bytes[at % bytes.Length] ^= (byte)(1 << bit);
        return cut % 3 == 0 ? bytes[..(cut % bytes.Length)] : bytes;
    }

    private static void ReadAll(byte[] bytes)
    {
        Read<Scalars>(bytes);
        Read<Optionals>(bytes);
        Read<Collections>(bytes);
        Read<Maps>(bytes);
        Read<Tree>(bytes);
        Read<Times>(bytes);
        Read<Converted>(bytes);
        Read<Sets>(bytes);
        Read<Immutable>(bytes);
        Read<string>(bytes);
    }

    private static void Read<T>(byte[] bytes)
    {
        try
        {
            Codecs.Decode<T>(bytes);
        }
        catch (PayloadFormatException)
        {
        }
    }
}
