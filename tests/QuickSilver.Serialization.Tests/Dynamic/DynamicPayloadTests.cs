using System.Text;
using System.Text.Json;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Serialization.Tests.Dynamic;

public sealed class DynamicPayloadTests
{
    private static readonly PayloadSchema Trip = Schema(
        new PayloadField(1, "Name", "string"),
        new PayloadField(2, "Gate", "int32"),
        new PayloadField(3, "Legs", "repeated message") { Message = 1 },
        new PayloadField(4, "Seats", "map<string, uint32>"),
        new PayloadField(5, "Numbers", "repeated int32"),
        new PayloadField(6, "Fare", "double"),
        new PayloadField(7, "Id", "bcl.Guid"),
        new PayloadField(8, "At", "bcl.DateTime"),
        new PayloadField(9, "Blob", "bytes"),
        new PayloadField(10, "Open", "bool"));

    [Theory]
    [InlineData("{}")]
    [InlineData("""{"Name":"Zürich ✈","Gate":-7,"Legs":[{"From":"ORD"},{}],"Seats":{"a":1,"b":0},"Numbers":[1,0,-1]}""")]
    [InlineData("""{"Fare":0.1,"Id":"12345678-2345-3456-4567-56789a6789ab","At":"2024-02-29T12:30:15.123","Blob":"AQI=","Open":true}""")]
    [InlineData("""{"Fare":"NaN"}""")]
    [InlineData("""{"Fare":"-Infinity"}""")]
    public void Json_that_is_written_reads_as_the_same_json(string json) => Assert.Equal(json, Read(Trip, Write(Trip, json)));

    [Fact]
    public void A_property_that_is_null_is_left_out() => Assert.Equal("{}", Read(Trip, Write(Trip, """{"Name":null,"Legs":null}""")));

    [Theory]
    [InlineData("""{"Gate":"C16"}""", "Field Gate: expected a whole number from -2147483648 to 2147483647 (int32), but it is \"C16\".")]
    [InlineData("""{"Gate":1.5}""", "Field Gate: expected a whole number from -2147483648 to 2147483647 (int32), but it is 1.5.")]
    [InlineData("""{"Legs":[{"From":"a"},{"From":3}]}""", "Field Legs[1].From: expected a string, but it is 3.")]
    [InlineData("""{"Legs":{}}""", "Field Legs: expected an array (repeated message), but it is an object.")]
    [InlineData("""{"Legs":[null]}""", "Field Legs[0]: expected an object with the fields of Leg, but it is null.")]
    [InlineData("""{"Seats":{"a":-1}}""", "Field Seats[a]: expected a whole number from 0 to 4294967295 (uint32), but it is -1.")]
    [InlineData("""{"Open":1}""", "Field Open: expected true or false (bool), but it is 1.")]
    [InlineData("""{"Blob":"?"}""", "Field Blob: expected a string in base64 (bytes), but it is \"?\".")]
    [InlineData("""{"Gaet":1}""", "Trip has no field 'Gaet'. Did you mean 'Gate'? Fields: Name, Gate, ")]
    [InlineData("""{"Legs":[{"x":1}]}""", "Leg at Legs[0] has no field 'x'. Fields: From.")]
    [InlineData("[]", "The payload: expected an object with the fields of Trip, but it is an array.")]
    public void A_value_that_does_not_fit_is_named_with_its_path_and_what_is_expected(string json, string said) =>
        Assert.StartsWith(said, Assert.Throws<PayloadFormatException>(() => Write(Trip, json)).Message);

    [Fact]
    public void Of_a_field_that_came_twice_the_last_counts()
    {
        byte[] payload = [.. Write(Trip, """{"Gate":1}"""), .. Write(Trip, """{"Gate":2}""")];
        Assert.Equal("""{"Gate":2}""", Read(Trip, payload));
    }

    [Fact]
    public void Values_of_one_field_are_together_wherever_they_stood()
    {
        byte[] payload = [.. Write(Trip, """{"Numbers":[1]}"""), .. Write(Trip, """{"Gate":2}"""), .. Write(Trip, """{"Numbers":[3]}""")];
        Assert.Equal("""{"Gate":2,"Numbers":[1,3]}""", Read(Trip, payload));
    }

    [Fact]
    public void A_field_that_the_schema_lacks_and_one_of_another_wire_type_are_skipped()
    {
        var other = Schema(new PayloadField(2, "Gate", "string"), new PayloadField(77, "New", "int32"));
        Assert.Equal("{}", Read(Trip, Write(other, """{"Gate":"x","New":1}""")));
    }

    [Fact]
    public void Text_and_bytes_are_strings()
    {
        var text = new PayloadSchema("string", PayloadSchema.StringKind, []);
        Assert.Equal("\"a\\nb\"", Read(text, "a\nb"u8.ToArray()));
        Assert.Equal("a\nb"u8.ToArray(), Write(text, "\"a\\nb\""));
        var bytes = new PayloadSchema("bytes", PayloadSchema.BytesKind, []);
        Assert.Equal("\"AP8=\"", Read(bytes, [0, 255]));
    }

    [Fact]
    public void A_field_of_an_unknown_type_is_shown_by_its_wire_type_and_cannot_be_written()
    {
        var unknown = Schema(new PayloadField(1, "Odd", "Vector3"));
        Assert.Equal("""{"Odd":7}""", Read(unknown, [8, 7]));
        Assert.Equal("""{"Odd":"AQ=="}""", Read(unknown, [10, 1, 1]));
        var refused = Assert.Throws<PayloadFormatException>(() => Write(unknown, """{"Odd":1}"""));
        Assert.Equal("Field Odd has the type Vector3, which cannot be written from JSON.", refused.Message);
    }

    [Fact]
    public void A_member_that_is_never_null_and_did_not_come_is_shown_with_the_default_of_its_type()
    {
        var schema = Schema(
            Never(1, "Number", "sint32"),
            Never(2, "Priority", "int32") with { Enum = 0 },
            Never(3, "Id", "bcl.Guid"),
            Never(4, "Name", "string"),
            new PayloadField(5, "Note", "string") { IsNullable = true },
            Never(6, "Total", "bcl.Decimal"),
            Never(7, "IsOpen", "bool"),
            Never(8, "Legs", "repeated message") with { Message = 1 },
            Never(9, "ByName", "map<string, int32>"),
            Never(10, "Day", "int32") with { LogicalType = LogicalType.DateOnly },
            Never(11, "Took", "bcl.TimeSpan"),
            Never(12, "Share", "double"),
            Never(13, "Code", "int32") with { Enum = 1 }) with
        {
            Enums = [new("Priority", [new("Normal", 0)]), new("Code", [new("First", 1)])],
        };
        const string Rest = """
            "Id":"00000000-0000-0000-0000-000000000000","Name":"","Total":0,"IsOpen":false,"Legs":[],"ByName":{},"Day":"0001-01-01",
            "Took":"00:00:00","Share":0,"Code":0}
            """;
        string rest = Rest.Replace("\n", "", StringComparison.Ordinal);
        Assert.Equal("""{"Number":0,"Priority":"Normal",""" + rest, Read(schema, []));
        Assert.Equal("""{"Number":-4,"Priority":"Normal",""" + rest, Read(schema, Write(schema, """{"Number":-4}""")));
        Assert.Equal("""{"Number":0,"Priority":"Normal",""" + rest, Read(schema, Write(schema, Read(schema, []))));
        Assert.Contains("\"Name\":\"\",\"Note\":\"\",\"Total\"", Read(schema, Write(schema, """{"Note":""}""")), StringComparison.Ordinal);
    }

    // A message that did not come is null, and what stands in a message is as complete as the payload.
    [Fact]
    public void A_message_that_did_not_come_is_left_out_and_one_that_came_is_whole()
    {
        var schema = Schema(Never(1, "Leg", "message") with { Message = 1 }, Never(2, "Gate", "int32")) with
        {
            Nested = [new PayloadMessage("Leg", [Never(1, "From", "string")])],
        };
        Assert.Equal("""{"Gate":0}""", Read(schema, []));
        Assert.Equal("""{"Leg":{"From":""},"Gate":0}""", Read(schema, [10, 0]));
    }

    [Fact]
    public void A_member_with_a_default_of_its_own_or_of_an_unknown_type_is_left_out_if_it_did_not_come() => Assert.Equal(
        "{}",
        Read(
            Schema(
                Never(1, "Five", "int32 [default = 5]"),
                Never(2, "Asked", "int32 [if ShouldSerializeAsked]"),
                Never(3, "Wrapped", "repeated int32 [null wrapped]"),
                Never(4, "Odd", "Vector3"),
                new PayloadField(5, "Unknown", "int32")),
            []));

    [Fact]
    public void A_small_payload_does_not_become_a_text_without_limit()
    {
        var schema = Schema(new PayloadField(1, "Legs", "repeated message") { Message = 1 }) with
        {
            Nested = [new PayloadMessage("Leg", [new PayloadField(1, new string('n', 1024), "bool")])],
        };
        byte[] payload = [.. Enumerable.Repeat<byte[]>([10, 2, 8, 1], 1000).SelectMany(static leg => leg)];
        using var reader = new PayloadToJson(new DynamicSchema(schema), limit: 100_000);
        var refused = Assert.Throws<PayloadFormatException>(() => reader.Convert(payload));
        Assert.Equal("The payload is too long as text. The limit is 100000 bytes of JSON.", refused.Message);
        Assert.StartsWith("{\"Legs\":[{", Encoding.UTF8.GetString(reader.Convert(payload[..8]).Span));
    }

    [Fact]
    public void A_message_that_nests_without_end_is_malformed()
    {
        var schema = Schema(new PayloadField(1, "Next", "message") { Message = 0 });
        byte[] payload = [];
        for (int i = 0; i < 120; i++)
        {
            payload = payload.Length < 128
                ? [10, (byte)payload.Length, .. payload]
                : [10, (byte)(0x80 | (payload.Length & 0x7F)), (byte)(payload.Length >> 7), .. payload];
        }

        Assert.Throws<PayloadFormatException>(() => Read(schema, payload));
        string json = string.Concat(Enumerable.Repeat("{\"Next\":", 120)) + "{}" + new string('}', 120);
        Assert.Throws<PayloadFormatException>(() => Write(schema, json));
    }

    [Theory]
    [InlineData("Gaet", "Gate")]
    [InlineData("gate", "Gate")]
    [InlineData("Destination", null)]
    public void The_nearest_name_is_one_that_could_be_meant(string wrong, string? near) =>
        Assert.Equal(near, NearestName.Of(wrong, ["Name", "Gate", "Legs"]));

    private static PayloadField Never(int number, string name, string type) => new(number, name, type) { IsNullable = false };

    private static PayloadSchema Schema(params PayloadField[] fields) => new("Trip", PayloadSchema.MessageKind, [.. fields])
    {
        Nested = [new PayloadMessage("Leg", [new PayloadField(1, "From", "string")])],
    };

    private static byte[] Write(PayloadSchema schema, string json)
    {
        using var document = JsonDocument.Parse(json, JsonToPayload.DocumentOptions);
        return new JsonToPayload(new DynamicSchema(schema)).Convert(document.RootElement);
    }

    private static string Read(PayloadSchema schema, byte[] payload)
    {
        using var reader = new PayloadToJson(new DynamicSchema(schema));
        return Encoding.UTF8.GetString(reader.Convert(payload).Span);
    }
}
