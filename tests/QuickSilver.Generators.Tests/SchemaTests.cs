using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.Generators.Tests.Infrastructure;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.Generators.Tests;

public sealed class SchemaTests
{
    [Fact]
    public void A_schema_lists_fields_by_number_and_messages_within_it_once()
    {
        var schema = Codecs.Of<VersionTwo>().Schema;
        Assert.Equal(("QuickSilver.Generators.Tests.Contracts.VersionTwo", "message"), (schema.TypeName, schema.Kind));
        Assert.Equal(
            [
                new PayloadField(1, "Flight", "string"),
                new PayloadField(2, "Gate", "int32"),
                new PayloadField(3, "Route", "repeated message") { Message = 1 },
            ],
            Matched(schema.Fields));
        var point = Assert.Single(schema.Nested);
        Assert.Equal("Point", point.Name);
        Assert.Equal([new PayloadField(1, "X", "int32"), new PayloadField(2, "Y", "int32")], Matched(point.Fields));
    }

    [Fact]
    public void Names_given_by_attributes_are_used()
    {
        Assert.Equal("Renamed", Codecs.Of<Mutable>().Schema.TypeName);
        Assert.Equal("count", Codecs.Of<Mutable>().Schema.Fields[0].Name);
        var inner = Codecs.Of<Outer.Inner>().Schema;
        Assert.Equal(new PayloadField(2, "Held", "message") { Message = 1 }, Matched(inner.Fields)[1]);
        Assert.Equal("Renamed", inner.Nested[0].Name);
    }

    [Fact]
    public void A_type_that_holds_itself_refers_to_itself()
    {
        Assert.Equal(
            [
                new PayloadField(1, "Name", "string"),
                new PayloadField(2, "Children", "repeated message") { Message = 0 },
                new PayloadField(3, "Twin", "message") { Message = 0 },
            ],
            Matched(Codecs.Of<Tree>().Schema.Fields));
        Assert.Empty(Codecs.Of<Tree>().Schema.Nested);
    }

    [Fact]
    public void Types_are_said_in_protobufs_words()
    {
        Assert.Equal("map<string, int32>", Codecs.Of<Maps>().Schema.Fields[0].Type);
        Assert.Equal(
            ["bcl.Decimal", "bcl.Guid", "bcl.DateTime", "bcl.DateTimeOffset", "bcl.TimeSpan"],
            Codecs.Of<Times>().Schema.Fields.Take(5).Select(field => field.Type));
        Assert.Equal(
            ["int32", "int64", "float", "string", "int128", "uint128"],
            Codecs.Of<Converted>().Schema.Fields.Take(6).Select(field => field.Type));
        Assert.Equal(
            ["repeated string", "repeated int32", "repeated int32", "repeated float", "repeated string", "map<string, int128>"],
            Codecs.Of<Sets>().Schema.Fields.Take(6).Select(field => field.Type));
    }

    [Fact]
    public void Enums_are_described_once_with_the_names_of_their_values()
    {
        var schema = Codecs.Of<Scalars>().Schema;
        var fields = schema.Fields.ToDictionary(static field => field.Name);
        Assert.Equal(["Color", "Wide"], schema.Enums.Select(static one => one.Name));
        Assert.Equal(
            [new PayloadEnumValue("None", 0), new("Far", long.MaxValue), new("Below", -1)],
            schema.Enums[fields["Wide"].Enum!.Value].Values.ToArray());
        Assert.Equal("Color", schema.Enums[fields["Color"].Enum!.Value].Name);
        Assert.Null(fields["Int32"].Enum);
        Assert.Single(Codecs.Of<Collections>().Schema.Enums);
    }

    [Fact]
    public void Flags_and_the_integer_type_of_an_enum_are_described()
    {
        var schema = Codecs.Of<Displayed>().Schema;
        var doors = schema.Enums[schema.Fields[0].Enum!.Value];
        Assert.True(doors.IsFlags);
        Assert.Equal("byte", schema.Fields[0].LogicalType);
        var largest = schema.Enums[schema.Fields[1].Enum!.Value];
        Assert.Equal([new PayloadEnumValue("Zero", 0), new("All", -1)], largest.Values.ToArray());
    }

    [Fact]
    public void Types_that_share_a_word_and_what_may_be_null_are_described()
    {
        Assert.Equal(
            [
                null, null, null, null, "int16", "uint16", "byte", "sbyte", "char", null, null, null, null, null, null, null, null,
            ],
            Codecs.Of<Scalars>().Schema.Fields.Select(static field => field.LogicalType));
        Assert.Equal(
            ["dateOnly", "timeOnly", "half", "uri", null, null],
            Codecs.Of<Converted>().Schema.Fields.Take(6).Select(static field => field.LogicalType));
        Assert.All(Codecs.Of<Scalars>().Schema.Fields, static field => Assert.False(field.IsNullable));
        Assert.All(Codecs.Of<Optionals>().Schema.Fields, static field => Assert.True(field.IsNullable));
        Assert.Equal("char", Codecs.Of<Displayed>().Schema.Fields[2].LogicalKeyType);
    }

    [Fact]
    public void Bytes_and_strings_have_codecs_of_their_own()
    {
        Assert.Equal(PayloadSchema.BytesKind, Codecs.Of<byte[]>().Schema.Kind);
        Assert.Equal(PayloadSchema.BytesKind, Codecs.Of<ReadOnlyMemory<byte>>().Schema.Kind);
        Assert.Equal(PayloadSchema.StringKind, Codecs.Of<string>().Schema.Kind);
        Assert.Equal([1, 2], Codecs.Encode<byte[]>([1, 2]));
        Assert.Equal([1, 2], Codecs.Decode<ReadOnlyMemory<byte>>([1, 2]).ToArray());
        Assert.Equal("Zürich", Codecs.Decode<string>(Codecs.Encode("Zürich")));
    }

    [Fact]
    public void A_type_without_a_codec_has_none()
    {
        Assert.False(GeneratedCodecs.TryGet<Version>(out var codec));
        Assert.Null(codec);
    }

    [Fact]
    public void A_second_codec_of_a_type_is_refused() =>
        Assert.Throws<InvalidOperationException>(() => GeneratedCodecs.Register(Codecs.Of<Tree>()));

    // Without what is for display.
    private static PayloadField[] Matched(IEnumerable<PayloadField> fields) =>
    [
        .. fields.Select(static field => field with { LogicalType = null, LogicalKeyType = null, Enum = null, IsNullable = null }),
    ];
}
