using System.Globalization;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.ProtobufNet.Tests.Differential;

// Random values of each shape, and random bytes made of them, which the generated codec, protobuf-net and Google.Protobuf must read alike.
// QS_CODEC_CASES sets how many.
public sealed class DifferentialTests
{
    private static readonly int Cases = int.Parse(
        Environment.GetEnvironmentVariable("QS_CODEC_CASES") ?? "1000", CultureInfo.InvariantCulture);

    private static readonly Arbitrary<(int Shape, int Seed)> Inputs = (
        from shape in Gen.Choose(0, Shape.All.Count - 1)
        from seed in Gen.Choose(0, int.MaxValue)
        select (shape, seed)).ToArbitrary();

    [Fact]
    public void A_value_that_one_library_writes_is_the_same_to_all() => ForAll((shape, chance) =>
    {
        object value = shape.Value(chance);
        byte[] ours = shape.Write(value);
        byte[] theirs = shape.WriteByProtobufNet(value);
        string expected = Convert.ToHexString(ours);
        Same(shape, ours, expected);
        Same(shape, theirs, expected);
        Assert.Equal(expected, Convert.ToHexString(shape.Rewritten(ours)));
    });

    [Fact]
    public void Fields_in_another_order_among_unknown_ones_and_in_parts_are_the_same_to_all() => ForAll((shape, chance) =>
    {
        byte[] bytes = Changed(shape, chance);
        Same(shape, bytes, shape.Read(bytes));
    });

    [Fact]
    public void The_generated_codec_reads_damaged_bytes_as_Google_reads_them() => ForAll((shape, chance) =>
    {
        byte[] bytes = Damaged(Changed(shape, chance), chance);
        string ours = shape.Read(bytes);
        // It may refuse more: a number that its type does not hold, a text or a date that is none.
        if (ours != Shape.Refused)
        {
            Same(shape, bytes, "Google", ours, shape.ReadByGoogle(bytes));
        }
    });

    private static void Same(Shape shape, byte[] bytes, string expected)
    {
        Same(shape, bytes, "the generated codec", expected, shape.Read(bytes));
        string theirs = shape.ReadByProtobufNet(bytes);
        if (theirs != Shape.Refused || !HasRepeatedKey(shape, bytes))
        {
            Same(shape, bytes, "protobuf-net", expected, theirs);
        }

        Same(shape, bytes, "Google", expected, shape.ReadByGoogle(bytes));
    }

    // protobuf-net refuses a bool key that occurs twice.
    private static bool HasRepeatedKey(Shape shape, byte[] bytes) =>
        shape.RefusalByProtobufNet(bytes)?.Contains("An item with the same key has already been added", StringComparison.Ordinal) == true;

    private static void Same(Shape shape, byte[] bytes, string library, string expected, string actual)
    {
        if (expected != actual)
        {
            Assert.Fail(
                $"{library} reads {shape.Name} {Convert.ToHexString(bytes)} as\n{actual}, and not as\n{expected}. protobuf-net refuses: "
                + shape.RefusalByProtobufNet(bytes));
        }
    }

    // Of one or two values, which are then one.
    private static byte[] Changed(Shape shape, Random chance)
    {
        bool hasParts = chance.Next(2) == 0;
        bool isOurs = chance.Next(2) == 0;
        byte[] bytes = Written(shape, chance, hasParts, isOurs);
        if (hasParts)
        {
            bytes = [.. bytes, .. Written(shape, chance, hasParts, isOurs)];
        }

        bytes = chance.Next(2) == 0 ? WireFields.Shuffled(bytes, chance) : bytes;
        return chance.Next(2) == 0 ? WireFields.AmongUnknown(bytes, chance) : bytes;
    }

    private static byte[] Written(Shape shape, Random chance, bool isPart, bool isOurs)
    {
        object value = shape.Value(chance, isPart);
        return isOurs ? shape.Write(value) : shape.WriteByProtobufNet(value);
    }

    private static byte[] Damaged(byte[] bytes, Random chance)
    {
        if (bytes.Length == 0)
        {
            return bytes;
        }

        for (int i = chance.Next(3); i >= 0; i--)
        {
            bytes[chance.Next(bytes.Length)] ^= (byte)(1 << chance.Next(8));
        }

        return chance.Next(3) == 0 ? bytes[..chance.Next(bytes.Length)] : bytes;
    }

    private static void ForAll(Action<Shape, Random> check) =>
        Prop.ForAll(Inputs, one => check(Shape.All[one.Shape], new Random(one.Seed)))
            .Check(Config.QuickThrowOnFailure.WithMaxTest(Cases));
}
