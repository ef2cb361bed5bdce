using System.Text;
using System.Text.Json;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Serialization.Tests.Dynamic;

// F10, T9: whatever the schema and the bytes, the answer is a text or PayloadFormatException, at once.
public sealed class HostileDynamicTests
{
    private const int TextLimit = 1 << 20;

    private static readonly string[] Words =
    [
        "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "float", "double",
        "string", "bytes", "bcl.Decimal", "bcl.Guid", "bcl.DateTime", "bcl.DateTimeOffset", "bcl.TimeSpan", "int128", "uint128", "message",
        "Vector3", "", "repeated", "map<,>", "map<int32,", "map<double, int32>", "repeated repeated int32",
    ];

    private static readonly Gen<string> Types =
        from word in Gen.Elements(Words)
        from key in Gen.Elements("int32", "string", "bool", "uint64", "sfixed64", "message")
        from form in Gen.Elements("{0}", "repeated {0}", "map<{1}, {0}>")
        select string.Format(System.Globalization.CultureInfo.InvariantCulture, form, word, key);

    private static readonly Gen<PayloadField> Fields =
        from number in Gen.Frequency((20, Gen.Choose(1, 12)), (1, Gen.Choose(-2, 600_000_000)))
        from name in Gen.Elements("A", "B", "C", "", "Ж", "\"", "\ud800", new string('n', 1000))
        from type in Types
        from message in Gen.Frequency((10, Gen.Choose(0, 3)), (1, Gen.Choose(-1, 9)))
        from isDescribed in Gen.Elements(true, true, true, false)
        select new PayloadField(number, name, type) { Message = isDescribed ? message : null };

    // Mostly sound, so that what is behind the checks is reached.
    private static readonly Gen<PayloadSchema> Schemas =
        from kind in Gen.Frequency((20, Gen.Constant(PayloadSchema.MessageKind)), (1, Gen.Elements("bytes", "string", "any", "")))
        from fields in Fields.ListOf()
        from nested in Fields.ListOf().ListOf(3)
        from isSound in Gen.Elements(true, true, true, false)
        select new PayloadSchema("T", kind, [.. Sound(fields, isSound)])
        {
            Nested = [.. nested.Select((more, at) => new PayloadMessage($"N{at}", [.. Sound(more, isSound)]))],
        };

    // Tags of small numbers with all wire types, and lengths that mostly fit.
    private static readonly Gen<byte[]> Payloads =
        from parts in Gen.Frequency(
            (6, from number in Gen.Choose(1, 12)
                from wire in Gen.Choose(0, 7)
                from rest in ArbMap.Default.GeneratorFor<byte[]>()
                select (byte[])[(byte)((number << 3) | wire), (byte)rest.Length, .. rest]),
            (1, ArbMap.Default.GeneratorFor<byte[]>())).ListOf()
        select parts.SelectMany(static part => part).ToArray();

    [Fact]
    public void Random_payloads_of_random_schemas_are_json_or_malformed() => Prop.ForAll(
        (from schema in Schemas from payload in Payloads select (schema, payload)).ToArbitrary(),
        both =>
        {
            try
            {
                using var reader = new PayloadToJson(new DynamicSchema(both.schema), TextLimit);
                var text = reader.Convert(both.payload);
                using var document = JsonDocument.Parse(text, new JsonDocumentOptions { MaxDepth = 1000 });
            }
            catch (PayloadFormatException)
            {
            }
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(5000));

    [Fact]
    public void Random_json_for_random_schemas_is_a_payload_that_can_be_read_or_malformed() => Prop.ForAll(
        (from schema in Schemas from json in Json(3) select (schema, json)).ToArbitrary(),
        both =>
        {
            try
            {
                var schema = new DynamicSchema(both.schema);
                using var document = JsonDocument.Parse(both.json, JsonToPayload.DocumentOptions);
                byte[] payload = new JsonToPayload(schema).Convert(document.RootElement);
                using var reader = new PayloadToJson(schema, TextLimit);
                reader.Convert(payload);
            }
            catch (PayloadFormatException)
            {
            }
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(5000));

    [Fact]
    public void A_payload_of_millions_of_fields_is_read_in_one_pass()
    {
        var fields = Enumerable.Range(1, PayloadSchema.MaxFields).Select(one => new PayloadField(one, "F", "message") { Message = 0 });
        var schema = new PayloadSchema("T", PayloadSchema.MessageKind, [.. fields]);
        byte[] payload = new byte[4 << 20];
        for (int i = 0; i < payload.Length; i += 2)
        {
            payload[i] = 10;
        }

        using var reader = new PayloadToJson(new DynamicSchema(schema));
        Assert.Equal("{\"F\":{}}", Encoding.UTF8.GetString(reader.Convert(payload).Span));
    }

    private static IEnumerable<PayloadField> Sound(IEnumerable<PayloadField> fields, bool isSound) => isSound
        ? fields.DistinctBy(static field => field.Number)
            .Where(static field => field.Number is > 0 and < 536_870_912 && field.Message is null or (>= 0 and <= 3))
        : fields;

    private static Gen<string> Json(int depth) => depth == 0
        ? Gen.Elements(
            "1", "-1", "0", "1.5", "1e400", "99999999999999999999", "true", "null", "\"\"", "\"1\"", "\"x\"", "\"AQ==\"", "\"\\ud800\"",
            "\"00:00:01\"", "\"2024-01-01\"", "\"12345678-2345-3456-4567-56789a6789ab\"")
        : Gen.Frequency(
            (2, Json(0)),
            (2, from items in Json(depth - 1).ListOf() select $"[{string.Join(',', items)}]"),
            (4, from names in Gen.Elements("A", "B", "C", "", "1", "true").ListOf()
                from value in Json(depth - 1)
                select $"{{{string.Join(',', names.Select(name => $"\"{name}\":{value}"))}}}"));
}
