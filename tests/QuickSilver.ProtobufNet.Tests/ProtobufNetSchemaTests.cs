using System.Text.Json;
using ProtoBuf;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Serialization.Generated;

namespace QuickSilver.ProtobufNet.Tests;

// Endpoints on either library open the same topic: their schemas must be one.
public sealed class ProtobufNetSchemaTests
{
    [Fact]
    public void The_schema_is_the_generated_codecs()
    {
        Assert.True(GeneratedCodecs.TryGet<Departure>(out var generated));
        var schema = new ProtobufNetCodec<Departure>().Schema;
        Assert.Equal(generated!.Schema.TypeName, schema.TypeName);
        Assert.Equal(generated.Schema.Kind, schema.Kind);
        // With what is for display.
        Assert.Equal(generated.Schema.Fields.ToArray(), schema.Fields.ToArray());
        Assert.Equal(generated.Schema.Nested.Select(message => message.Name), schema.Nested.Select(message => message.Name));
        Assert.Equal(
            generated.Schema.Nested.SelectMany(message => message.Fields), schema.Nested.SelectMany(message => message.Fields));
        Assert.Equal(InWords(generated.Schema.Enums), InWords(schema.Enums));
        Assert.Contains("DayOfWeek False: Sunday 0,", InWords(schema.Enums));
        Assert.Contains(new PayloadField(2, "Miles", "double") { IsNullable = false }, Assert.Single(schema.Nested).Fields);
        Assert.Contains(new PayloadField(13, "Next", "message") { Message = 0, IsNullable = true }, schema.Fields);
    }

    [Fact]
    public void ProtobufNets_own_attributes_tell_it_too()
    {
        var schema = new ProtobufNetCodec<Annotated>().Schema;
        Assert.Equal(
            [
                new PayloadField(3, "Name", "string") { IsNullable = true },
                new PayloadField(7, "leg", "message") { Message = 1, IsNullable = true },
            ],
            schema.Fields.ToArray());
        Assert.Equal("Stage", Assert.Single(schema.Nested).Name);
        PayloadField[] fields = [new(1, "From", "string") { IsNullable = true }, new(2, "Miles", "double") { IsNullable = false }];
        Assert.Equal(fields, schema.Nested[0].Fields.ToArray());
    }

    [Fact]
    public void A_schema_can_be_given()
    {
        var schema = new PayloadSchema("Known elsewhere", PayloadSchema.MessageKind, []);
        Assert.Same(schema, new ProtobufNetCodec<Leg>(schema).Schema);
    }

    [Fact]
    public void The_schema_has_what_tools_show()
    {
        Assert.True(GeneratedCodecs.TryGet<Shown>(out var generated));
        var schema = new ProtobufNetCodec<Shown>().Schema;
        Assert.Equal(generated!.Schema.Fields.ToArray(), schema.Fields.ToArray());
        Assert.Equal(InWords(generated.Schema.Enums), InWords(schema.Enums));
        Assert.Equal(LogicalType.DateOnly, schema.Fields.Single(static field => field.Name == "Days").LogicalType);
    }

    [Fact]
    public void The_type_of_a_number_in_another_format_is_not_named()
    {
        var field = Assert.Single(new ProtobufNetCodec<Zigzag>().Schema.Fields);
        Assert.Equal(new PayloadField(1, "Small", "sint32") { IsNullable = false }, field);
    }

    [Fact]
    public void A_payload_that_is_a_list_of_dates_says_so()
    {
        var field = Assert.Single(new ProtobufNetCodec<List<DateOnly>>().Schema.Fields);
        Assert.Equal(("repeated int32", LogicalType.DateOnly), (field.Type, field.LogicalType));
    }

    [Fact]
    public void Subtypes_are_marked()
    {
        var schema = new ProtobufNetCodec<Animal>().Schema;
        Assert.Equal(
            new PayloadField(5, "Dog", "message") { Message = 1, LogicalType = LogicalType.Subtype, IsNullable = true },
            Assert.Single(schema.Fields));
    }

    // protobuf-net does not read packed dates.
    [Fact]
    public void A_payload_that_a_tool_writes_by_the_schema_is_read()
    {
        var codec = new ProtobufNetCodec<Shown>();
        using var json = JsonDocument.Parse(
            """{"Days":["2026-01-31","2026-02-01"],"Times":["12:30:15"],"Color":"Red","Letter":"x","Bytes":[1,255]}""");

        var value = codec.Read(new JsonToPayload(new DynamicSchema(codec.Schema)).Convert(json.RootElement));

        Assert.Equal([new DateOnly(2026, 1, 31), new DateOnly(2026, 2, 1)], value.Days);
        Assert.Equal([new TimeOnly(12, 30, 15)], value.Times);
        Assert.Equal((Color.Red, 'x'), (value.Color, value.Letter));
        Assert.Equal([1, 255], value.Bytes);
    }

    private static string InWords(IEnumerable<PayloadEnum> enums) => string.Join("; ", enums.Select(
        static one => $"{one.Name} {one.IsFlags}: {string.Join(", ", one.Values.Select(static value => $"{value.Name} {value.Number}"))}"));

    [ProtoContract]
    private sealed class Zigzag
    {
        [ProtoMember(1, DataFormat = DataFormat.ZigZag)]
        public short Small { get; set; }
    }

    [ProtoContract]
    [ProtoInclude(5, typeof(Dog))]
    private class Animal;

    [ProtoContract]
    private sealed class Dog : Animal
    {
        [ProtoMember(1)]
        public string? Name { get; set; }
    }

    [ProtoContract]
    private sealed class Annotated
    {
        [ProtoMember(7, Name = "leg")]
        public Leg? Leg { get; set; }

        [ProtoMember(3)]
        public string? Name { get; set; }
    }
}
