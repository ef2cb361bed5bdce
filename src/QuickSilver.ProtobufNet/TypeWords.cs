using ProtoBuf;

namespace QuickSilver.ProtobufNet;

// The word for one value of a type that is no message. Formats and levels change it for some types only.
internal static class TypeWords
{
    private const string Timestamp = "google.protobuf.Timestamp";
    private const string Duration = "google.protobuf.Duration";

    private static readonly Dictionary<Type, (string Word, string ZigZag, string Fixed)> Numbers = new()
    {
        [typeof(int)] = ("int32", "sint32", "sfixed32"),
        [typeof(long)] = ("int64", "sint64", "sfixed64"),
        [typeof(uint)] = ("uint32", "uint32", "fixed32"),
        [typeof(ulong)] = ("uint64", "uint64", "fixed64"),
        [typeof(short)] = ("int32", "sint32", "sfixed32"),
        [typeof(ushort)] = ("uint32", "uint32", "fixed32"),
        [typeof(byte)] = ("uint32", "uint32", "fixed32"),
        [typeof(sbyte)] = ("int32", "sint32", "sfixed32"),
    };

    private static readonly Dictionary<Type, string> Others = new()
    {
        [typeof(char)] = "uint32",
        [typeof(bool)] = "bool",
        [typeof(float)] = "float",
        [typeof(double)] = "double",
        [typeof(string)] = "string",
        [typeof(byte[])] = "bytes",
        [typeof(ReadOnlyMemory<byte>)] = "bytes",
        [typeof(Memory<byte>)] = "bytes",
        [typeof(ArraySegment<byte>)] = "bytes",
        [typeof(DateOnly)] = "int32",
        [typeof(TimeOnly)] = "int64",
        [typeof(Uri)] = "string",
    };

    public static string? Of(Type type, DataFormat format, CompatibilityLevel level)
    {
        if (type.IsEnum)
        {
            // protobuf-net writes enums as plain numbers in each format.
            return Numbers[Enum.GetUnderlyingType(type)].Word;
        }

        if (Numbers.TryGetValue(type, out var number))
        {
            return format switch
            {
                DataFormat.ZigZag => number.ZigZag,
                DataFormat.FixedSize => number.Fixed,
                _ => number.Word,
            };
        }

        return Others.GetValueOrDefault(type) ?? OfBcl(type, format, level);
    }

    private static string? OfBcl(Type type, DataFormat format, CompatibilityLevel level)
    {
#pragma warning disable CS0618 // Contracts still carry the format that the levels replace.
        bool isWellKnown = format == DataFormat.WellKnown || level >= CompatibilityLevel.Level240;
#pragma warning restore CS0618
        bool isFixed = format == DataFormat.FixedSize;
        if (type == typeof(DateTime))
        {
            return isFixed && !isWellKnown ? "sfixed64" : isWellKnown ? Timestamp : "bcl.DateTime";
        }

        if (type == typeof(TimeSpan))
        {
            return isFixed && !isWellKnown ? "sfixed64" : isWellKnown ? Duration : "bcl.TimeSpan";
        }

        if (type == typeof(decimal))
        {
            return level >= CompatibilityLevel.Level300 ? "string" : "bcl.Decimal";
        }

        if (type == typeof(Guid))
        {
            return level < CompatibilityLevel.Level300 ? "bcl.Guid" : isFixed ? "bytes" : "string";
        }

        return null;
    }
}
