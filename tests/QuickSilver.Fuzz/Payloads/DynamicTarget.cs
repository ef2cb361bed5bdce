using System.Buffers.Binary;
using System.Text.Json;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Fuzz.Payloads;

// Payloads as JSON by a schema that comes with them. The input: u16 the length of a contract as control messages carry it, the contract,
// the payload.
internal sealed class DynamicTarget : FuzzTarget
{
    private const int TextLimit = 1 << 20;

    public override string Name => "dynamic";

    public override IReadOnlyList<Type> Decoders { get; } = [typeof(DynamicSchema), typeof(PayloadToJson), typeof(MapEntry)];

    public override IEnumerable<Seed> Seeds()
    {
        foreach (var one in ContractCase.All)
        {
            var buffer = new ControlBuffer();
            ContractFields.Write(buffer, 1, Describe(one.Schema));
            byte[] length = new byte[sizeof(ushort)];
            BinaryPrimitives.WriteUInt16LittleEndian(length, (ushort)buffer.Length);
            yield return new Seed(one.Name, [.. length, .. buffer.Written, .. one.Seeds.First()]);
        }
    }

    // Text is longer than its payload by the names of the fields, which the schema has once.
    public override long AllocationLimit(ReadOnlySpan<byte> input) => (8L * TextLimit) + (256L * input.Length);

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (input.Length < sizeof(ushort))
        {
            return;
        }

        int length = BinaryPrimitives.ReadUInt16LittleEndian(input);
        input = input[sizeof(ushort)..];
        if (length > input.Length)
        {
            return;
        }

        try
        {
            var schema = new DynamicSchema(ReadSchema(input[..length]));
            using var reader = new PayloadToJson(schema, TextLimit);
            using var document = JsonDocument.Parse(
                reader.Convert(input[length..]), new JsonDocumentOptions { MaxDepth = 4 * ProtobufLimits.MaxDepth });
            _ = document.RootElement.ValueKind;
        }
        catch (QuickSilverException)
        {
        }
    }

    private static PayloadSchema ReadSchema(ReadOnlySpan<byte> bytes)
    {
        var reader = new ProtobufReader(bytes);
        var contract = reader.TryReadField(out var field)
            ? ContractFields.Read(ref reader, field)
            : throw new ControlFormatException("There is no contract.");
        return SchemaContract.SchemaOf(contract);
    }

    private static ContractDescription Describe(PayloadSchema schema) => SchemaContract.Of(schema) with { Guarantee = "Reliable" };
}
