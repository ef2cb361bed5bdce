using ProtoBuf;
using QuickSilver.Serialization;
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
        Assert.Equal(Matched(generated.Schema.Fields), Matched(schema.Fields));
        Assert.Equal(generated.Schema.Nested.Select(message => message.Name), schema.Nested.Select(message => message.Name));
        Assert.Equal(
            Matched(generated.Schema.Nested.SelectMany(message => message.Fields)),
            Matched(schema.Nested.SelectMany(message => message.Fields)));
        Assert.Contains(new PayloadField(2, "Miles", "double"), Assert.Single(schema.Nested).Fields);
        Assert.Contains(new PayloadField(13, "Next", "message") { Message = 0 }, schema.Fields);
    }

    [Fact]
    public void ProtobufNets_own_attributes_tell_it_too()
    {
        var schema = new ProtobufNetCodec<Annotated>().Schema;
        Assert.Equal(
            [new PayloadField(3, "Name", "string"), new PayloadField(7, "leg", "message") { Message = 1 }],
            schema.Fields.ToArray());
        Assert.Equal("Stage", Assert.Single(schema.Nested).Name);
        PayloadField[] fields = [new(1, "From", "string"), new(2, "Miles", "double")];
        Assert.Equal(fields, schema.Nested[0].Fields.ToArray());
    }

    [Fact]
    public void A_schema_can_be_given()
    {
        var schema = new PayloadSchema("Known elsewhere", PayloadSchema.MessageKind, []);
        Assert.Same(schema, new ProtobufNetCodec<Leg>(schema).Schema);
    }

    // Without what is for display.
    private static PayloadField[] Matched(IEnumerable<PayloadField> fields) =>
    [
        .. fields.Select(field => field with { LogicalType = null, LogicalKeyType = null, Enum = null, IsNullable = null }),
    ];

    [ProtoContract]
    private sealed class Annotated
    {
        [ProtoMember(7, Name = "leg")]
        public Leg? Leg { get; set; }

        [ProtoMember(3)]
        public string? Name { get; set; }
    }
}
