using System.Globalization;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Dynamic;

// Reads one entry of a map, which is a message of a key (field 1) and a value (field 2). Either may be missing or come several times.
internal static class MapEntry
{
    /// <summary>The key as the name of a property; the default of its type if the entry has none.</summary>
    public static string KeyOf(ReadOnlySpan<byte> entry, DynamicField field)
    {
        var form = field.Form.Key;
        string? key = null;
        var reader = new ProtobufReader(entry);
        while (reader.TryReadTag(out uint tag))
        {
            if (tag >> 3 == 1 && (tag & 7) == FieldForm.WireType(form))
            {
                key = ReadKey(ref reader, form, field.LogicalKey);
            }
            else
            {
                reader.Skip(tag);
            }
        }

        return key ?? form switch
        {
            ValueForm.String => "",
            ValueForm.Bool => "false",
            _ => field.LogicalKey?.ToText(0) ?? "0",
        };
    }

    private static string ReadKey(ref ProtobufReader reader, ValueForm form, LogicalValue? logical) => form switch
    {
        ValueForm.String => reader.ReadString(),
        ValueForm.Bool => reader.ReadBool() ? "true" : "false",
        ValueForm.Int32 => KeyText(logical, reader.ReadInt32()),
        ValueForm.Int64 => KeyText(logical, reader.ReadInt64()),
        ValueForm.UInt32 => KeyText(logical, reader.ReadUInt32()),
        ValueForm.SInt32 => ((int)reader.ReadSInt64()).ToString(CultureInfo.InvariantCulture),
        ValueForm.SInt64 => reader.ReadSInt64().ToString(CultureInfo.InvariantCulture),
        ValueForm.Fixed32 => reader.ReadFixed32().ToString(CultureInfo.InvariantCulture),
        ValueForm.SFixed32 => ((int)reader.ReadFixed32()).ToString(CultureInfo.InvariantCulture),
        ValueForm.Fixed64 => reader.ReadFixed64().ToString(CultureInfo.InvariantCulture),
        ValueForm.SFixed64 => ((long)reader.ReadFixed64()).ToString(CultureInfo.InvariantCulture),
        _ => reader.ReadUInt64().ToString(CultureInfo.InvariantCulture),
    };

    private static string KeyText(LogicalValue? logical, long key) =>
        logical?.ToText(key) ?? key.ToString(CultureInfo.InvariantCulture);

    /// <summary>The message that is the value of an entry, of all its parts.</summary>
    public static MessageParts PartsOf(ReadOnlySpan<byte> entry)
    {
        MessageParts parts = default;
        var reader = new ProtobufReader(entry);
        while (reader.TryReadTag(out uint tag))
        {
            if (tag == ((2 << 3) | ProtobufWireType.LengthDelimited))
            {
                parts.Add(reader.ReadLengthDelimited());
            }
            else
            {
                reader.Skip(tag);
            }
        }

        return parts;
    }

    /// <summary>The last value of an entry, behind its tag.</summary>
    public static bool TryFindValue(ReadOnlySpan<byte> entry, ValueForm form, out ReadOnlySpan<byte> value, out uint wireType)
    {
        value = default;
        wireType = uint.MaxValue;
        var reader = new ProtobufReader(entry);
        while (reader.TryReadTag(out uint tag))
        {
            int at = entry.Length - reader.Left;
            reader.Skip(tag);
            if (tag >> 3 == 2 && new FieldForm(FieldShape.Single, form).Accepts(tag & 7))
            {
                value = entry[at..(entry.Length - reader.Left)];
                wireType = tag & 7;
            }
        }

        return wireType != uint.MaxValue;
    }
}
