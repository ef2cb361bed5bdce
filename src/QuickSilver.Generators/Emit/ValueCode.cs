using QuickSilver.Generators.Model;

namespace QuickSilver.Generators.Emit;

// The expressions that measure, write, read and compare one value.
internal static class ValueCode
{
    private const string SizeOf = Runtime.Protobuf + "ProtobufSize.";
    private const string DotNet = Runtime.Protobuf + "ProtobufDotNetTypes.";
    private const string Conversions = Runtime.Generated + "ProtobufConversions.";

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
        ValueKind.String => $"{SizeOf}String({ToWire(value, x)})",
        ValueKind.Bytes or ValueKind.Memory => $"{SizeOf}LengthDelimited({x}.Length)",
        ValueKind.Message => $"{SizeOf}LengthDelimited({names.Qualified(value)}.Measure({x}, depth + 1))",
        <= ValueKind.Bool => $"{SizeOf}{VarintName(value)}({ToWire(value, x)})",
        _ => $"{DotNet}SizeOf({x})",
    };

    // The most bytes of a value; of what has a length, the most of that.
    public static int MaxSize(this ValueModel value) => value.Kind switch
    {
        ValueKind.Bool or ValueKind.Single or ValueKind.Double => value.Width,
        ValueKind.Byte => 2,
        ValueKind.UInt16 or ValueKind.Char => 3,
        ValueKind.UInt32 => 5,
        < ValueKind.Bool => 10,
        ValueKind.Decimal => 21,
        ValueKind.Guid => 19,
        ValueKind.DateTime or ValueKind.TimeSpan => 14,
        ValueKind.DateTimeOffset or ValueKind.Int128 or ValueKind.UInt128 => 17,
        _ => 5,
    };

    // The most bytes for each of its own units, for those of a length of their own: UTF-16 makes up to three bytes a character.
    public static int BytesPerUnit(this ValueModel value) => value.Kind switch
    {
        ValueKind.String => 3,
        ValueKind.Bytes or ValueKind.Memory => 1,
        _ => 0,
    };

    // A field: its tag and its value.
    public static string WriteField(this ValueModel value, int number, string x, CodecNames names)
    {
        uint tag = Tag(number, value);
        return value.Kind switch
        {
            ValueKind.Memory => $"writer.WriteBytes({tag}, {x}.Span);",
            ValueKind.Message => $"writer.EndMessage(writer.BeginMessage({tag}), {names.Qualified(value)}.WriteTo(writer, {x}));",
            _ => $"writer.Write{WireName(value)}({tag}, {ToWire(value, x)});",
        };
    }

    // Without its tag, which only packed values do without.
    public static string WritePacked(this ValueModel value, string x) => $"writer.Write{WireName(value)}({ToWire(value, x)});";

    // Reads the field if it is the next one: the condition that it is, which declares "read", and the value made of that.
    public static (string If, string Value) ReadNext(this ValueModel value, string read, uint tag)
    {
        string made = value.Kind switch
        {
            ValueKind.Int32 => $"(int){read}",
            ValueKind.UInt32 => $"(uint){read}",
            ValueKind.Int64 => $"(long){read}",
            ValueKind.UInt64 or ValueKind.Single or ValueKind.Double or ValueKind.Guid => read,
            ValueKind.Bool => $"{read} != 0",
            < ValueKind.Bool => $"{Runtime.Generated}ProtobufNarrow.To{value.Kind}({read})",
            ValueKind.String => $"{Runtime.Protobuf}ProtobufReader.ToText({read})",
            ValueKind.Bytes or ValueKind.Memory => $"{read}.ToArray()",
            _ => $"{DotNet}Read{value.Kind}({read})",
        };
        string condition = value.Kind switch
        {
            ValueKind.Single => $"TryReadFloat({tag}, out float {read})",
            ValueKind.Double => $"TryReadDouble({tag}, out double {read})",
            ValueKind.Guid => $"TryReadGuid({tag}, out global::System.Guid {read})",
            <= ValueKind.Bool => $"TryReadVarint({tag}, out ulong {read})",
            _ => $"TryReadBytes({tag}, out global::System.ReadOnlySpan<byte> {read})",
        };
        return ("reader." + condition, value.IsEnum ? $"({value.TypeName})({made})" : Converted(value, made));
    }

    public static string Read(this ValueModel value, string reader, CodecNames names)
    {
        string read = value.Kind switch
        {
            ValueKind.Single => $"{reader}.ReadFloat()",
            ValueKind.Memory => $"{reader}.ReadBytes()",
            ValueKind.Message => $"{names.Qualified(value)}.ReadFrom({reader}.ReadMessage())",
            <= ValueKind.Bytes => $"{reader}.Read{value.Kind}()",
            _ => $"{DotNet}Read{value.Kind}({reader}.ReadLengthDelimited())",
        };
        return value.IsEnum ? $"({value.TypeName}){read}" : Converted(value, read);
    }

    // Whether a value that may be left out must be written. Null: always. protobuf-net leaves out the default of decimal,
    // Guid and TimeSpan members, but writes every DateTime, DateOnly and TimeOnly.
    public static string? IsNotDefault(this ValueModel value, string x) => value.Kind switch
    {
        ValueKind.Bool => x,
        ValueKind.String when value.IsConverted => $"{x} is not null && {ToWire(value, x)}.Length > 0",
        ValueKind.String => $"!string.IsNullOrEmpty({x})",
        ValueKind.Bytes => $"{x} is {{ Length: > 0 }}",
        ValueKind.Memory => $"!{x}.IsEmpty",
        ValueKind.Guid or ValueKind.TimeSpan => $"{x} != default({value.TypeName})",
        ValueKind.Message => value.IsReference ? $"{x} is not null" : null,
        ValueKind.DateTime or ValueKind.DateTimeOffset => null,
        ValueKind.Int32 or ValueKind.Int64 when value.IsConverted => null,
        _ => $"{(value.IsEnum ? x : ToWire(value, x))} != 0",
    };

    // The same in a map's entry, where protobuf-net writes all that protobuf has no word for, and Google.Protobuf distinguishes
    // -0.0 from 0.0, which it does not elsewhere.
    public static string? IsNotDefaultInEntry(this ValueModel value, string x) => value.Kind switch
    {
        >= ValueKind.Decimal => null,
        ValueKind.Single => $"global::System.BitConverter.SingleToInt32Bits({ToWire(value, x)}) != 0",
        ValueKind.Double => $"global::System.BitConverter.DoubleToInt64Bits({x}) != 0",
        _ => value.IsNotDefault(x),
    };

    // What stands for a value that did not come.
    public static string Default(this ValueModel value) => value.Kind switch
    {
        ValueKind.String when value.IsConverted => Conversions + "NoUri",
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

    private static string WireName(ValueModel value) => value.Kind == ValueKind.Single ? "Float" : VarintName(value);

    // Of the values that have units, how many.
    public static string Length(this ValueModel value, string x, bool mayBeNull)
    {
        string units = !value.IsConverted ? "Length" : "OriginalString.Length";
        return mayBeNull ? $"({x}?.{units} ?? 0)" : $"{x}.{units}";
    }

    private static string Converted(ValueModel value, string wire) =>
        value.IsConverted ? $"{Conversions}To{value.Conversion}({wire})" : wire;

    private static string ToWire(ValueModel value, string x) => !value.IsEnum ? ConvertedTo(value, x) : value.Kind switch
    {
        ValueKind.Int64 => $"(long){x}",
        ValueKind.UInt64 => $"(ulong){x}",
        ValueKind.Int32 or ValueKind.Int16 or ValueKind.SByte => $"(int){x}",
        _ => $"(uint){x}",
    };

    private static string ConvertedTo(ValueModel value, string x) => value.Conversion switch
    {
        Conversion.DateOnly => $"{x}.DayNumber",
        Conversion.TimeOnly => $"{x}.Ticks",
        Conversion.Half => $"(float){x}",
        Conversion.Uri => $"{x}.OriginalString",
        _ => x,
    };
}
