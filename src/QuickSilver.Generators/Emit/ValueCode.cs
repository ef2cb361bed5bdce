using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The expressions that measure, write, read and compare one value.
internal static class ValueCode
{
    public const string Runtime = "global::QuickSilver.Core.Serialization.";
    private const string SizeOf = Runtime + "ProtobufSize.";
    private const string DotNet = Runtime + "ProtobufDotNetTypes.";

    public static uint Tag(int number, ValueModel value) => ((uint)number << 3) | (uint)value.WireType;

    public static uint LengthTag(int number) => ((uint)number << 3) | 2;

    public static int TagSize(int number) => number switch
    {
        < 1 << 4 => 1,
        < 1 << 11 => 2,
        < 1 << 18 => 3,
        < 1 << 25 => 4,
        _ => 5,
    };

    public static string Size(this ValueModel value, string x, CodecNames names) => value.Kind switch
    {
        ValueKind.Bool or ValueKind.Single or ValueKind.Double => value.Width.ToString(),
        ValueKind.String => $"{SizeOf}String({x})",
        ValueKind.Bytes or ValueKind.Memory => $"{SizeOf}LengthDelimited({x}.Length)",
        ValueKind.Message => $"{SizeOf}LengthDelimited({names.Qualified(value)}.Measure({x}, depth + 1))",
        <= ValueKind.Bool => $"{SizeOf}{VarintName(value)}({Cast(value, x)})",
        _ => $"{DotNet}SizeOf({x})",
    };

    public static string Write(this ValueModel value, string x, CodecNames names) => value.Kind switch
    {
        ValueKind.Bool => $"writer.WriteBool({x});",
        ValueKind.Single => $"writer.WriteFloat({x});",
        ValueKind.Double => $"writer.WriteDouble({x});",
        ValueKind.String => $"writer.WriteString({x});",
        ValueKind.Bytes => $"writer.WriteBytes({x});",
        ValueKind.Memory => $"writer.WriteBytes({x}.Span);",
        ValueKind.Message => $"{names.Qualified(value)}.WriteNested(ref writer, {x});",
        <= ValueKind.Bool => $"writer.Write{VarintName(value)}({Cast(value, x)});",
        _ => $"{DotNet}Write(ref writer, {x});",
    };

    public static string Read(this ValueModel value, string reader, CodecNames names)
    {
        string read = value.Kind switch
        {
            ValueKind.Single => $"{reader}.ReadFloat()",
            ValueKind.Memory => $"{reader}.ReadBytes()",
            ValueKind.Message => $"{names.Qualified(value)}.ReadFrom({reader}.ReadMessage())",
            <= ValueKind.Bytes => $"{reader}.Read{value.Kind}()",
            _ => $"{DotNet}Read{value.Kind}(ref {reader})",
        };
        return value.IsEnum ? $"({value.TypeName}){read}" : read;
    }

    // Whether a value that may be left out must be written. Null: always. protobuf-net leaves out the default of decimal,
    // Guid and TimeSpan members, but writes every DateTime.
    public static string? IsNotDefault(this ValueModel value, string x) => value.Kind switch
    {
        ValueKind.Bool => x,
        ValueKind.String => $"!string.IsNullOrEmpty({x})",
        ValueKind.Bytes => $"{x} is {{ Length: > 0 }}",
        ValueKind.Memory => $"!{x}.IsEmpty",
        ValueKind.Guid or ValueKind.TimeSpan => $"{x} != default({value.TypeName})",
        ValueKind.Message => value.IsReference ? $"{x} is not null" : null,
        ValueKind.DateTime or ValueKind.DateTimeOffset => null,
        _ => $"{x} != 0",
    };

    // The same in a map's entry, where protobuf-net writes all that protobuf has no word for, and Google.Protobuf tells
    // -0.0 from 0.0, which it does not elsewhere.
    public static string? IsNotDefaultInEntry(this ValueModel value, string x) => value.Kind switch
    {
        >= ValueKind.Decimal => null,
        ValueKind.Single => $"global::System.BitConverter.SingleToInt32Bits({x}) != 0",
        ValueKind.Double => $"global::System.BitConverter.DoubleToInt64Bits({x}) != 0",
        _ => value.IsNotDefault(x),
    };

    // What stands for a value that did not come.
    public static string Default(this ValueModel value) => value.Kind switch
    {
        ValueKind.String => "\"\"",
        ValueKind.Bytes => "global::System.Array.Empty<byte>()",
        _ => "default",
    };

    private static string VarintName(ValueModel value) => value.Kind switch
    {
        ValueKind.Int16 or ValueKind.SByte => "Int32",
        ValueKind.UInt16 or ValueKind.Byte or ValueKind.Char => "UInt32",
        _ => value.Kind.ToString(),
    };

    private static string Cast(ValueModel value, string x) => !value.IsEnum ? x : value.Kind switch
    {
        ValueKind.Int64 => $"(long){x}",
        ValueKind.UInt64 => $"(ulong){x}",
        ValueKind.Int32 or ValueKind.Int16 or ValueKind.SByte => $"(int){x}",
        _ => $"(uint){x}",
    };
}
