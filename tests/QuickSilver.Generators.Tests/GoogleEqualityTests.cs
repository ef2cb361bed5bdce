using FsCheck;
using FsCheck.Fluent;
using Google.Protobuf;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;

namespace QuickSilver.Generators.Tests;

// Byte for byte what Google.Protobuf writes, and what it writes is read: for every shape that protobuf has.
public sealed class GoogleEqualityTests
{
    [Fact]
    public void Scalars_are_the_same_bytes() => SameBytes(Values.Scalars, GoogleTwins.Of, Twins.Scalars.Parser);

    [Fact]
    public void Optional_members_are_the_same_bytes() => SameBytes(Values.Optionals, GoogleTwins.Of, Twins.Optionals.Parser);

    [Fact]
    public void Collections_are_the_same_bytes() => SameBytes(Values.Collections, GoogleTwins.Of, Twins.Collections.Parser);

    [Fact]
    public void Maps_are_the_same_bytes() => SameBytes(Values.Maps, GoogleTwins.Of, Twins.Maps.Parser);

    [Fact]
    public void Trees_are_the_same_bytes() => SameBytes(Values.Trees, GoogleTwins.Of, Twins.Tree.Parser);

    [Fact]
    public void A_tree_as_deep_as_Google_reads_is_the_same_bytes()
    {
        var tree = new Tree { Name = "leaf" };
        for (int i = 0; i < 99; i++)
        {
            tree = new Tree { Name = "n" + i, Twin = tree };
        }

        byte[] bytes = Codecs.Encode(tree);
        Assert.Equal(GoogleTwins.Of(tree).ToByteArray(), bytes);
        Assert.Equal(bytes, Codecs.Encode(Codecs.Decode<Tree>(bytes)));
    }

    [Fact]
    public void Unpacked_numbers_are_read_as_packed_ones_are()
    {
        // list = 1 as three fields, then packed, as a writer of proto2 and one of proto3 may send them.
        byte[] bytes = [8, 1, 8, 2, 8, 3, 10, 2, 4, 5];
        Assert.Equal(Twins.Collections.Parser.ParseFrom(bytes).List, Codecs.Decode<Collections>(bytes).List);
        Assert.Equal([1, 2, 3, 4, 5], Codecs.Decode<Collections>(bytes).List);
    }

    [Fact]
    public void A_repeated_scalar_field_keeps_its_last_value()
    {
        byte[] bytes = [8, 1, 8, 2];
        Assert.Equal(Twins.Scalars.Parser.ParseFrom(bytes).Int32, Codecs.Decode<Scalars>(bytes).Int32);
    }

    [Fact]
    public void A_field_of_another_wire_type_is_skipped_as_unknown()
    {
        // int32 = 1 sent as fixed32, then as a varint.
        byte[] bytes = [13, 1, 2, 3, 4, 8, 9];
        Assert.Equal(9, Twins.Scalars.Parser.ParseFrom(bytes).Int32);
        Assert.Equal(9, Codecs.Decode<Scalars>(bytes).Int32);
    }

    [Fact]
    public void Unknown_fields_and_groups_are_skipped()
    {
        // Fields 20 to 24: a varint, a fixed64, bytes, a group that holds a varint and a group, a fixed32.
        byte[] unknown =
        [
            0xA0, 1, 0x96, 1,
            0xA9, 1, 1, 2, 3, 4, 5, 6, 7, 8,
            0xB2, 1, 2, 9, 9,
            0xBB, 1, 8, 1, 0x13, 0x14, 0xBC, 1,
            0xC5, 1, 1, 2, 3, 4,
        ];
        byte[] bytes = [.. unknown, 8, 42, .. unknown];
        Assert.Equal(42, Twins.Scalars.Parser.ParseFrom(bytes).Int32);
        Assert.Equal(42, Codecs.Decode<Scalars>(bytes).Int32);
    }

    private static void SameBytes<T, TTwin>(Arbitrary<T> values, Func<T, TTwin> twinOf, MessageParser<TTwin> parser)
        where TTwin : IMessage<TTwin> =>
        Prop.ForAll(values, value =>
        {
            byte[] ours = Codecs.Encode(value);
            var twin = twinOf(value);
            byte[] theirs = twin.ToByteArray();
            Assert.Equal(theirs, ours);
            Assert.Equal(twin.ToByteArray(), parser.ParseFrom(ours).ToByteArray());
            Assert.Equal(theirs, Codecs.Encode(Codecs.Decode<T>(theirs)));
        }).QuickCheckThrowOnFailure();
}
