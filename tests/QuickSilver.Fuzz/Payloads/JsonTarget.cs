using System.Text.Json;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Fuzz.Payloads;

// JSON that becomes a payload. The first byte of the input chooses the contract; the rest is text. The payload is read as JSON, written and
// read again.
internal sealed class JsonTarget : FuzzTarget
{
    private const int TextLimit = 1 << 20;

    private static readonly DynamicSchema[] Schemas = [.. ContractCase.All.Select(static one => new DynamicSchema(one.Schema))];

    public override string Name => "json";

    public override IReadOnlyList<Type> Decoders { get; } = [typeof(JsonToPayload), typeof(PayloadToJson)];

    public override IEnumerable<Seed> Seeds() => ContractCase.All.Select(static (one, index) =>
    {
        using var reader = new PayloadToJson(Schemas[index]);
        return new Seed(one.Name, [(byte)index, .. reader.Convert(one.Seeds.First()).Span]);
    });

    public override long AllocationLimit(ReadOnlySpan<byte> input) => (8L * TextLimit) + (256L * input.Length);

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty || input[0] >= Schemas.Length)
        {
            return;
        }

        var schema = Schemas[input[0]];
        byte[] payload;
        try
        {
            payload = Convert(schema, input[1..].ToArray());
        }
        catch (Exception refused) when (refused is JsonException or PayloadFormatException)
        {
            return;
        }

        using var reader = new PayloadToJson(schema, TextLimit);
        byte[] once = Read(reader, payload);
        FindingException.ThrowUnless(
            once.AsSpan().SequenceEqual(Read(reader, Convert(schema, once))), "JSON is not what was written.");
    }

    private static byte[] Convert(DynamicSchema schema, ReadOnlyMemory<byte> text)
    {
        using var document = JsonDocument.Parse(text, JsonToPayload.DocumentOptions);
        return new JsonToPayload(schema).Convert(document.RootElement);
    }

    private static byte[] Read(PayloadToJson reader, byte[] payload)
    {
        try
        {
            return reader.Convert(payload).ToArray();
        }
        catch (PayloadFormatException refused)
        {
            throw new FindingException($"A payload that was made of JSON cannot be read as JSON: {refused.Message}");
        }
    }
}
