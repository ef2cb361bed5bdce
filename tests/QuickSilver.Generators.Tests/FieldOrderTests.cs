using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests;

// T9, T11: codecs expect the fields in the order in which they write them, and read them in any other as well.
public sealed class FieldOrderTests
{
    [Fact]
    public void Fields_may_come_in_any_order() => ForEachContract(WireFields.Shuffled);

    [Fact]
    public void Unknown_fields_may_stand_anywhere() => ForEachContract(WireFields.AmongUnknown);

    [Fact]
    public void Unknown_fields_may_stand_anywhere_in_any_order() =>
        ForEachContract((bytes, chance) => WireFields.AmongUnknown(WireFields.Shuffled(bytes, chance), chance));

    [Fact]
    public void The_last_value_of_a_repeated_singular_field_counts() => Prop.ForAll(Values.Scalars, Values.Scalars, (first, last) =>
    {
        byte[] bytes = Codecs.Encode(last);
        // Each field of the last: what it leaves out stays the first one's.
        byte[] expected = Codecs.Encode(Codecs.Decode<Scalars>([.. FieldsOnlyIn(Codecs.Encode(first), bytes), .. bytes]));
        Assert.Equal(expected, Codecs.Encode(Codecs.Decode<Scalars>([.. Codecs.Encode(first), .. bytes])));
    }).QuickCheckThrowOnFailure();

    [Fact]
    public void Tags_and_numbers_may_be_longer_than_they_need_to_be()
    {
        // int32 = 1, precise = 12, text = 13, each with a padded tag or number.
        byte[] bytes = [0x88, 0x80, 0x00, 0x85, 0x80, 0x00, 0xE1, 0x00, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 0x6A, 0x81, 0x80, 0x00, (byte)'x'];
        var value = Codecs.Decode<Scalars>(bytes);
        Assert.Equal((5, 1.0, "x"), (value.Int32, value.Precise, value.Text));
    }

    private static IEnumerable<byte> FieldsOnlyIn(byte[] first, byte[] second)
    {
        var others = WireFields.Split(second).Select(field => field.Tag).ToHashSet();
        return WireFields.Split(first).Where(field => !others.Contains(field.Tag)).SelectMany(field => field.Bytes);
    }

    private static void ForEachContract(Func<byte[], Random, byte[]> change)
    {
        ForAll(Values.Scalars, change);
        ForAll(Values.Optionals, change);
        ForAll(Values.Collections, change);
        ForAll(Values.Maps, change);
        ForAll(Values.Trees, change);
        ForAll(Values.Times, change);
        ForAll(Values.Converted, change);
        ForAll(Values.Sets, change);
    }

    // Two values are equal when their bytes are; collections have no equality of their own.
    private static void ForAll<T>(Arbitrary<T> values, Func<byte[], Random, byte[]> change) =>
        Prop.ForAll(values, Gen.Choose(0, int.MaxValue).ToArbitrary(), (value, seed) =>
        {
            byte[] bytes = Codecs.Encode(Codecs.Decode<T>(Codecs.Encode(value)));
            Assert.Equal(bytes, Codecs.Encode(Codecs.Decode<T>(change(bytes, new Random(seed)))));
        }).QuickCheckThrowOnFailure();
}
