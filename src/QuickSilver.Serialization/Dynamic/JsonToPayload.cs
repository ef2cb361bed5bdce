using System.Globalization;
using System.Text.Json;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Dynamic;

// Writes payloads of a schema that is known only at run time, from JSON as PayloadToJson makes it. A property that is null is left out.
// Whatever does not fit is refused with the path of the field and what is expected there.
internal sealed class JsonToPayload(DynamicSchema schema)
{
    private const int MostFieldsNamed = 16;

    /// <summary>For the document: a message within a list or a map takes two levels.</summary>
    public static readonly JsonDocumentOptions DocumentOptions = new() { MaxDepth = 2 * ProtobufLimits.MaxDepth };

    /// <exception cref="PayloadFormatException">The JSON does not fit the schema.</exception>
    public byte[] Convert(JsonElement json)
    {
        try
        {
            return ConvertValid(json);
        }
        catch (InvalidOperationException invalid)
        {
            // All kinds of values are checked, so this is a name or a string with an escaped surrogate that has no partner.
            throw new PayloadFormatException("The JSON contains a string that is not valid Unicode.", invalid);
        }
    }

    private byte[] ConvertValid(JsonElement json)
    {
        switch (schema.Kind)
        {
            case PayloadSchema.BytesKind:
                return BytesOf(json, "the payload");
            case PayloadSchema.StringKind:
                return System.Text.Encoding.UTF8.GetBytes(TextOf(json, "the payload"));
            default:
                if (json.ValueKind != JsonValueKind.Object)
                {
                    throw Unexpected("the payload", $"an object with the fields of {schema.TypeName}", json);
                }

                return Message(json, schema.Root, "", 0);
        }
    }

    private static byte[] Message(JsonElement json, DynamicMessage message, string path, int depth)
    {
        if (depth > ProtobufLimits.MaxDepth)
        {
            throw new PayloadFormatException($"Field {path} nests messages more than {ProtobufLimits.MaxDepth} deep, which is the limit.");
        }

        var buffer = new PayloadBuffer();
        foreach (var property in json.EnumerateObject())
        {
            var field = message.Find(property.Name) ?? throw UnknownField(property.Name, message, path);
            string at = path.Length == 0 ? field.Name : $"{path}.{field.Name}";
            if (property.Value.ValueKind != JsonValueKind.Null)
            {
                Field(buffer, field, property.Value, at, depth);
            }
        }

        return buffer.ToArray();
    }

    private static void Field(PayloadBuffer buffer, DynamicField field, JsonElement json, string path, int depth)
    {
        var form = field.Form;
        switch (form.Shape)
        {
            case FieldShape.Single:
                Value(buffer, field, field.Number, form.Value, json, path, depth);
                break;
            case FieldShape.Repeated:
                Repeated(buffer, field, json, path, depth);
                break;
            default:
                Map(buffer, field, json, path, depth);
                break;
        }
    }

    private static void Repeated(PayloadBuffer buffer, DynamicField field, JsonElement json, string path, int depth)
    {
        if (json.ValueKind != JsonValueKind.Array)
        {
            throw Unexpected($"field {path}", $"an array ({field.Type})", json);
        }

        bool isPacked = FieldForm.IsPackable(field.Form.Value) && field.Logical?.IsPackable != false;
        var into = isPacked ? new PayloadBuffer() : buffer;
        int index = 0;
        foreach (var element in json.EnumerateArray())
        {
            Value(into, field, isPacked ? 0 : field.Number, field.Form.Value, element, $"{path}[{index++}]", depth);
        }

        if (isPacked && index > 0)
        {
            buffer.Bytes(field.Number, into.ToArray());
        }
    }

    private static void Map(PayloadBuffer buffer, DynamicField field, JsonElement json, string path, int depth)
    {
        if (json.ValueKind != JsonValueKind.Object)
        {
            throw Unexpected($"field {path}", $"an object ({field.Type})", json);
        }

        foreach (var property in json.EnumerateObject())
        {
            string at = $"{path}[{property.Name}]";
            var entry = new PayloadBuffer();
            Key(entry, field, property.Name, at);
            Value(entry, field, 2, field.Form.Value, property.Value, at, depth);
            buffer.Bytes(field.Number, entry.ToArray());
        }
    }

    private static void Key(PayloadBuffer entry, DynamicField field, string key, string path)
    {
        var form = field.Form.Key;
        if (field.LogicalKey is { } logical)
        {
            if (!TryLogical(entry, 1, form, logical, key))
            {
                throw new PayloadFormatException($"Key {path}: expected {logical.Expected(key)}.");
            }
        }
        else if (form == ValueForm.String)
        {
            entry.String(1, key);
        }
        else if (form == ValueForm.Bool)
        {
            entry.Varint(1, bool.TryParse(key, out bool value)
                ? (value ? 1UL : 0UL)
                : throw new PayloadFormatException($"Key {path}: expected true or false."));
        }
        else if (!TryNumber(entry, 1, form, key))
        {
            throw new PayloadFormatException($"Key {path}: expected {Word(form)}.");
        }
    }

    // Of number 0: without a tag, among packed values.
    private static void Value(
        PayloadBuffer buffer, DynamicField field, int number, ValueForm form, JsonElement json, string path, int depth)
    {
        string at = $"field {path}";
        switch (form)
        {
            case ValueForm.Unknown:
                throw new PayloadFormatException($"Field {path} has the type {field.Type}, which cannot be written from JSON.");
            case ValueForm.Bool:
                buffer.Varint(number, json.ValueKind switch
                {
                    JsonValueKind.True => 1UL,
                    JsonValueKind.False => 0UL,
                    _ => throw Unexpected(at, "true or false (bool)", json),
                });
                break;
            case ValueForm.String:
                buffer.String(number, TextOf(json, at));
                break;
            case ValueForm.Bytes:
                buffer.Bytes(number, BytesOf(json, at));
                break;
            case ValueForm.Message when field.Message is { } message:
                if (json.ValueKind != JsonValueKind.Object)
                {
                    throw Unexpected(at, $"an object with the fields of {message.Name}", json);
                }

                buffer.Bytes(number, Message(json, message, path, depth + 1));
                break;
            case ValueForm.Message:
                buffer.Bytes(number, BytesOf(json, at));
                break;
            case <= ValueForm.Double when field.Logical is { } logical:
                Logical(buffer, number, form, logical, json, at);
                break;
            case <= ValueForm.Double:
                if (json.ValueKind is not (JsonValueKind.Number or JsonValueKind.String)
                    || !TryNumber(buffer, number, form, json.ValueKind == JsonValueKind.Number ? json.GetRawText() : json.GetString()!))
                {
                    throw Unexpected(at, Word(form), json);
                }

                break;
            default:
                DotNetValue(buffer, number, form, json, at);
                break;
        }
    }

    private static void DotNetValue(PayloadBuffer buffer, int number, ValueForm form, JsonElement json, string at)
    {
        string text = json.ValueKind switch
        {
            JsonValueKind.String => json.GetString()!,
            JsonValueKind.Number => json.GetRawText(),
            _ => throw Unexpected(at, Word(form), json),
        };
        var culture = CultureInfo.InvariantCulture;
        bool isRead = false;
        switch (form)
        {
            case ValueForm.Decimal:
                isRead = decimal.TryParse(text, NumberStyles.Float, culture, out decimal amount);
                buffer.Decimal(number, amount);
                break;
            case ValueForm.Guid:
                isRead = Guid.TryParse(text, culture, out var id);
                buffer.Guid(number, id);
                break;
            case ValueForm.DateTime:
                isRead = DateTime.TryParse(text, culture, DateTimeStyles.RoundtripKind, out var time);
                buffer.DateTime(number, time);
                break;
            case ValueForm.DateTimeOffset:
                isRead = DateTimeOffset.TryParse(text, culture, DateTimeStyles.AssumeUniversal, out var moment);
                buffer.DateTimeOffset(number, moment);
                break;
            case ValueForm.TimeSpan:
                isRead = TimeSpan.TryParseExact(text, "c", culture, out var length);
                buffer.TimeSpan(number, length);
                break;
            case ValueForm.Int128:
                isRead = Int128.TryParse(text, NumberStyles.AllowLeadingSign, culture, out var wide);
                buffer.UInt128(number, (UInt128)wide);
                break;
            case ValueForm.UInt128:
                isRead = UInt128.TryParse(text, NumberStyles.None, culture, out var natural);
                buffer.UInt128(number, natural);
                break;
        }

        if (!isRead)
        {
            throw Unexpected(at, Word(form), json);
        }
    }

    private static void Logical(PayloadBuffer buffer, int number, ValueForm form, LogicalValue logical, JsonElement json, string at)
    {
        string? text = json.ValueKind switch
        {
            JsonValueKind.Number => json.GetRawText(),
            JsonValueKind.String => json.GetString(),
            _ => null,
        };
        if (text is null || !TryLogical(buffer, number, form, logical, text, json.ValueKind == JsonValueKind.String))
        {
            throw Unexpected(at, logical.Expected(text ?? ""), json);
        }
    }

    private static bool TryLogical(
        PayloadBuffer buffer, int number, ValueForm form, LogicalValue logical, string text, bool isText = true)
    {
        if (isText && logical.TryParse(text, out long value))
        {
            buffer.Varint(number, (ulong)value);
            return true;
        }

        return logical.Accepts(text) && TryNumber(buffer, number, form, text);
    }

    private static bool TryNumber(PayloadBuffer buffer, int number, ValueForm form, string text)
    {
        var culture = CultureInfo.InvariantCulture;
        switch (form)
        {
            case ValueForm.Int32 or ValueForm.SInt32 or ValueForm.SFixed32:
                bool isInt = int.TryParse(text, NumberStyles.AllowLeadingSign, culture, out int small);
                Signed(buffer, number, form, small);
                return isInt;
            case ValueForm.Int64 or ValueForm.SInt64 or ValueForm.SFixed64:
                bool isLong = long.TryParse(text, NumberStyles.AllowLeadingSign, culture, out long large);
                Signed(buffer, number, form, large);
                return isLong;
            case ValueForm.UInt32 or ValueForm.Fixed32:
                bool isUInt = uint.TryParse(text, NumberStyles.None, culture, out uint natural);
                Unsigned(buffer, number, form, natural);
                return isUInt;
            case ValueForm.UInt64 or ValueForm.Fixed64:
                bool isULong = ulong.TryParse(text, NumberStyles.None, culture, out ulong largest);
                Unsigned(buffer, number, form, largest);
                return isULong;
            case ValueForm.Float:
                bool isFloat = float.TryParse(text, NumberStyles.Float, culture, out float single);
                buffer.Fixed32(number, BitConverter.SingleToUInt32Bits(single));
                return isFloat;
            default:
                bool isDouble = double.TryParse(text, NumberStyles.Float, culture, out double real);
                buffer.Fixed64(number, BitConverter.DoubleToUInt64Bits(real));
                return isDouble;
        }
    }

    private static void Signed(PayloadBuffer buffer, int number, ValueForm form, long value)
    {
        switch (form)
        {
            case ValueForm.SInt32 or ValueForm.SInt64:
                buffer.Varint(number, (ulong)((value << 1) ^ (value >> 63)));
                break;
            case ValueForm.SFixed32:
                buffer.Fixed32(number, (uint)value);
                break;
            case ValueForm.SFixed64:
                buffer.Fixed64(number, (ulong)value);
                break;
            default:
                buffer.Varint(number, (ulong)value);
                break;
        }
    }

    private static void Unsigned(PayloadBuffer buffer, int number, ValueForm form, ulong value)
    {
        switch (form)
        {
            case ValueForm.Fixed32:
                buffer.Fixed32(number, (uint)value);
                break;
            case ValueForm.Fixed64:
                buffer.Fixed64(number, value);
                break;
            default:
                buffer.Varint(number, value);
                break;
        }
    }

    private static string TextOf(JsonElement json, string at) =>
        json.ValueKind == JsonValueKind.String ? json.GetString()! : throw Unexpected(at, "a string", json);

    private static byte[] BytesOf(JsonElement json, string at) =>
        json.ValueKind == JsonValueKind.String && json.TryGetBytesFromBase64(out byte[]? bytes)
            ? bytes
            : throw Unexpected(at, "a string in base64 (bytes)", json);

    private static string Word(ValueForm form) => form switch
    {
        ValueForm.Int32 or ValueForm.SInt32 or ValueForm.SFixed32 => $"a whole number from {int.MinValue} to {int.MaxValue} (int32)",
        ValueForm.Int64 or ValueForm.SInt64 or ValueForm.SFixed64 => $"a whole number from {long.MinValue} to {long.MaxValue} (int64)",
        ValueForm.UInt32 or ValueForm.Fixed32 => $"a whole number from 0 to {uint.MaxValue} (uint32)",
        ValueForm.UInt64 or ValueForm.Fixed64 => $"a whole number from 0 to {ulong.MaxValue} (uint64)",
        ValueForm.Float => "a number (float)",
        ValueForm.Double => "a number (double)",
        ValueForm.Decimal => "a number (decimal)",
        ValueForm.Guid => "a string such as \"12345678-1234-1234-1234-123456789abc\" (Guid)",
        ValueForm.DateTime => "a string such as \"2026-01-31T12:30:15\" (DateTime)",
        ValueForm.DateTimeOffset => "a string such as \"2026-01-31T12:30:15+01:00\" (DateTimeOffset)",
        ValueForm.TimeSpan => "a string such as \"00:30:15.5\" (TimeSpan)",
        ValueForm.Int128 => "a whole number (int128)",
        _ => "a natural number (uint128)",
    };

    private static PayloadFormatException UnknownField(string name, DynamicMessage message, string path)
    {
        string where = path.Length == 0 ? message.Name : $"{message.Name} at {path}";
        string? near = NearestName.Of(name, message.Fields.Select(static field => field.Name));
        string hint = near is null ? "" : $" Did you mean '{near}'?";
        string fields = string.Join(", ", message.Fields.Take(MostFieldsNamed).Select(static field => field.Name));
        string more = message.Fields.Count > MostFieldsNamed ? ", …" : "";
        return new PayloadFormatException($"{where} has no field '{Clip(name)}'.{hint} Fields: {fields}{more}.");
    }

    private static PayloadFormatException Unexpected(string at, string expected, JsonElement json) =>
        new($"{Capital(at)}: expected {expected}, but it is {Found(json)}.");

    private static string Found(JsonElement json) => json.ValueKind switch
    {
        JsonValueKind.Object => "an object",
        JsonValueKind.Array => "an array",
        JsonValueKind.Null => "null",
        _ => Clip(json.GetRawText()),
    };

    private static string Capital(string text) => char.ToUpperInvariant(text[0]) + text[1..];

    private static string Clip(string text) => text.Length > 64 ? text[..64] + "…" : text;
}
