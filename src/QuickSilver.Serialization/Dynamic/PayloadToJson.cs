using System.Buffers;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Encodings.Web;
using System.Text.Json;
using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Serialization.Dynamic;

// Reads payloads of a schema that is known only at run time, as JSON with the names of the fields. Neither the schema nor the payload is
// trusted. It follows the generated codecs: of a field that is not repeated the last value counts, or all parts of a message, packed and
// unpacked values are read alike, and what has another wire type than its field is skipped. A field that did not come has the default of
// its type, as a reader takes it, if the schema says that it is never null. Otherwise it is left out, as a message that did not come is.
//
// Bounds: each byte is read once for each message around it, of which there are at most ProtobufLimits.MaxDepth. The places of a message's
// fields are kept while it is written, 16 bytes for two bytes of the payload at most. The text may be much longer than the payload, as
// names may be long, so it has a limit of its own.
internal sealed class PayloadToJson : IDisposable
{
    /// <summary>The longest text that is made of one payload.</summary>
    public const int MaxJsonBytes = 64 << 20;

    // What a large payload needed is given back.
    private const int MostIdleBytes = 1 << 20;

    private readonly DynamicSchema _schema;
    private readonly List<Place> _places = [];
    private readonly int _limit;
    private ArrayBufferWriter<byte> _buffer = new();
    private readonly Utf8JsonWriter _json;

    // A field in a message: where its value begins, behind its tag, and how long it is.
    private readonly record struct Place(int Index, int At, int Length, uint Tag);

    public PayloadToJson(DynamicSchema schema, int limit = MaxJsonBytes)
    {
        _schema = schema;
        _limit = limit;
        _json = new Utf8JsonWriter(_buffer, new JsonWriterOptions
        {
            Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
            // A message within a list takes two levels.
            MaxDepth = 4 * ProtobufLimits.MaxDepth,
        });
    }

    /// <summary>One value of JSON on one line: an object, or a string for text and for bytes (in base64).</summary>
    /// <returns>UTF-8, which is valid until the next call.</returns>
    /// <exception cref="PayloadFormatException">The payload is not of the schema, or its text would be too long.</exception>
    public ReadOnlyMemory<byte> Convert(ReadOnlySpan<byte> payload)
    {
        if (_buffer.Capacity > MostIdleBytes)
        {
            _buffer = new ArrayBufferWriter<byte>();
        }

        _buffer.ResetWrittenCount();
        _json.Reset(_buffer);
        _places.Clear();
        switch (_schema.Kind)
        {
            case PayloadSchema.BytesKind:
                _json.WriteBase64StringValue(payload);
                break;
            case PayloadSchema.StringKind:
                _json.WriteStringValue(ProtobufReader.ToText(payload));
                break;
            default:
                WriteMessage(payload, new ProtobufReader(payload), _schema.Root);
                break;
        }

        _json.Flush();
        return _buffer.WrittenMemory;
    }

    public void Dispose() => _json.Dispose();

    private void WriteMessage(ReadOnlySpan<byte> bytes, ProtobufReader reader, DynamicMessage message)
    {
        var outer = reader;
        int first = _places.Count;
        while (reader.TryReadTag(out uint tag))
        {
            int at = bytes.Length - reader.Left;
            reader.Skip(tag);
            if (message.Find((int)(tag >> 3)) is { } field && field.Form.Accepts(tag & 7))
            {
                _places.Add(new Place(field.Index, at, bytes.Length - reader.Left - at, tag));
            }
        }

        // In the order of the fields, and of their coming.
        CollectionsMarshal.AsSpan(_places)[first..].Sort(static (a, b) =>
            a.Index != b.Index ? a.Index.CompareTo(b.Index) : a.At.CompareTo(b.At));
        _json.WriteStartObject();
        int end = _places.Count;
        int absent = 0;
        for (int from = first, to; from < end; from = to)
        {
            to = from + 1;
            while (to < end && _places[to].Index == _places[from].Index)
            {
                to++;
            }

            WriteAbsent(message.WithImplicitDefault, ref absent, _places[from].Index);
            WriteField(bytes, outer, message.Fields[_places[from].Index], from, to);
        }

        WriteAbsent(message.WithImplicitDefault, ref absent, message.Fields.Count);
        _json.WriteEndObject();
        CheckLength();
        CollectionsMarshal.SetCount(_places, first);
    }

    private void WriteField(ReadOnlySpan<byte> bytes, ProtobufReader outer, DynamicField field, int from, int to)
    {
        _json.WritePropertyName(field.Name);
        CheckLength();
        switch (field.Form.Shape)
        {
            case FieldShape.Map:
                WriteMap(bytes, outer, field, from, to);
                break;
            case FieldShape.Repeated:
                WriteRepeated(bytes, outer, field, from, to);
                break;
            case FieldShape.Single when field is { Form.Value: ValueForm.Message, Message: { } nested }:
                WriteParts(bytes, outer, nested, from, to);
                break;
            default:
                WriteValue(ValueAt(bytes, _places[to - 1]), outer, field, field.Form.Value, _places[to - 1].Tag & 7);
                break;
        }
    }

    // The defaults of what did not come before the field at this index, which has come: then it has none.
    private void WriteAbsent(IReadOnlyList<DynamicField> fields, ref int next, int index)
    {
        for (; next < fields.Count && fields[next].Index < index; next++)
        {
            var field = fields[next];
            _json.WritePropertyName(field.Name);
            switch (field.Form.Shape)
            {
                case FieldShape.Map:
                    _json.WriteStartObject();
                    _json.WriteEndObject();
                    break;
                case FieldShape.Repeated:
                    _json.WriteStartArray();
                    _json.WriteEndArray();
                    break;
                default:
                    WriteDefault(field);
                    break;
            }

            CheckLength();
        }

        if (next < fields.Count && fields[next].Index == index)
        {
            next++;
        }
    }

    private void WriteParts(ReadOnlySpan<byte> bytes, ProtobufReader outer, DynamicMessage message, int from, int to)
    {
        MessageParts parts = default;
        for (int i = from; i < to; i++)
        {
            parts.Add(Entry(bytes, _places[i]));
        }

        WriteMessage(parts.Bytes, outer.Enter(parts), message);
    }

    private void WriteRepeated(ReadOnlySpan<byte> bytes, ProtobufReader outer, DynamicField field, int from, int to)
    {
        _json.WriteStartArray();
        for (int i = from; i < to; i++)
        {
            var place = _places[i];
            var value = ValueAt(bytes, place);
            if ((place.Tag & 7) != ProtobufWireType.LengthDelimited || !FieldForm.IsPackable(field.Form.Value))
            {
                WriteValue(value, outer, field, field.Form.Value, place.Tag & 7);
                continue;
            }

            var packed = new ProtobufReader(value).ReadPacked();
            while (!packed.IsAtEnd)
            {
                WriteNumber(ref packed, field, field.Form.Value);
            }
        }

        _json.WriteEndArray();
    }

    // Of two entries with one key, the last counts.
    private void WriteMap(ReadOnlySpan<byte> bytes, ProtobufReader outer, DynamicField field, int from, int to)
    {
        var last = new Dictionary<string, int>(StringComparer.Ordinal);
        for (int i = from; i < to; i++)
        {
            last[MapEntry.KeyOf(Entry(bytes, _places[i]), field)] = i;
        }

        _json.WriteStartObject();
        foreach (var (key, at) in last.OrderBy(static entry => entry.Value))
        {
            _json.WritePropertyName(key);
            var entry = Entry(bytes, _places[at]);
            if (field is { Form.Value: ValueForm.Message, Message: { } nested })
            {
                var parts = MapEntry.PartsOf(entry);
                WriteMessage(parts.Bytes, outer.Enter(parts), nested);
            }
            else if (MapEntry.TryFindValue(entry, field.Form.Value, out var value, out uint wireType))
            {
                WriteValue(value, outer, field, field.Form.Value, wireType);
            }
            else
            {
                WriteDefault(field);
            }
        }

        _json.WriteEndObject();
    }

    private static ReadOnlySpan<byte> Entry(ReadOnlySpan<byte> bytes, Place place) =>
        new ProtobufReader(ValueAt(bytes, place)).ReadLengthDelimited();

    private static ReadOnlySpan<byte> ValueAt(ReadOnlySpan<byte> bytes, Place place) => bytes.Slice(place.At, place.Length);

    // The value begins behind the tag, with its length if it has one.
    private void WriteValue(ReadOnlySpan<byte> bytes, ProtobufReader outer, DynamicField field, ValueForm form, uint wireType)
    {
        var reader = new ProtobufReader(bytes);
        if (form == ValueForm.Unknown)
        {
            form = wireType switch
            {
                ProtobufWireType.Varint => ValueForm.Int64,
                ProtobufWireType.Fixed32 => ValueForm.Fixed32,
                ProtobufWireType.Fixed64 => ValueForm.Fixed64,
                _ => ValueForm.Bytes,
            };
        }

        if (FieldForm.IsPackable(form))
        {
            WriteNumber(ref reader, field, form);
            return;
        }

        var value = reader.ReadLengthDelimited();
        switch (form)
        {
            case ValueForm.Message when field.Message is { } message:
                WriteMessage(value, outer.Enter(value), message);
                break;
            case ValueForm.String:
                _json.WriteStringValue(ProtobufReader.ToText(value));
                break;
            case ValueForm.Decimal:
                _json.WriteNumberValue(ProtobufDotNetTypes.ReadDecimal(value));
                break;
            case ValueForm.Guid:
                _json.WriteStringValue(ProtobufDotNetTypes.ReadGuid(value));
                break;
            case ValueForm.DateTime:
                _json.WriteStringValue(ProtobufDotNetTypes.ReadDateTime(value));
                break;
            case ValueForm.DateTimeOffset:
                _json.WriteStringValue(ProtobufDotNetTypes.ReadDateTimeOffset(value));
                break;
            case ValueForm.TimeSpan:
                _json.WriteStringValue(ProtobufDotNetTypes.ReadTimeSpan(value).ToString("c", CultureInfo.InvariantCulture));
                break;
            case ValueForm.Int128:
                _json.WriteStringValue(ProtobufDotNetTypes.ReadInt128(value).ToString(CultureInfo.InvariantCulture));
                break;
            case ValueForm.UInt128:
                _json.WriteStringValue(ProtobufDotNetTypes.ReadUInt128(value).ToString(CultureInfo.InvariantCulture));
                break;
            default:
                _json.WriteBase64StringValue(value);
                break;
        }

        CheckLength();
    }

    private void WriteNumber(ref ProtobufReader reader, DynamicField field, ValueForm form)
    {
        var logical = form == field.Form.Value ? field.Logical : null;
        switch (form)
        {
            case ValueForm.Bool:
                _json.WriteBooleanValue(reader.ReadBool());
                break;
            case ValueForm.Int32:
                WriteWhole(logical, reader.ReadInt32());
                break;
            case ValueForm.Int64:
                WriteWhole(logical, reader.ReadInt64());
                break;
            case ValueForm.UInt32:
                WriteWhole(logical, reader.ReadUInt32());
                break;
            case ValueForm.SInt32:
                _json.WriteNumberValue((int)reader.ReadSInt64());
                break;
            case ValueForm.SInt64:
                _json.WriteNumberValue(reader.ReadSInt64());
                break;
            case ValueForm.Fixed32:
                _json.WriteNumberValue(reader.ReadFixed32());
                break;
            case ValueForm.SFixed32:
                _json.WriteNumberValue((int)reader.ReadFixed32());
                break;
            case ValueForm.Fixed64:
                _json.WriteNumberValue(reader.ReadFixed64());
                break;
            case ValueForm.SFixed64:
                _json.WriteNumberValue((long)reader.ReadFixed64());
                break;
            case ValueForm.Float:
                WriteFloat(reader.ReadFloat());
                break;
            case ValueForm.Double:
                WriteDouble(reader.ReadDouble());
                break;
            default:
                ulong whole = reader.ReadUInt64();
                if (logical?.ToText((long)whole) is { } text)
                {
                    _json.WriteStringValue(text);
                }
                else
                {
                    _json.WriteNumberValue(whole);
                }

                break;
        }

        CheckLength();
    }

    private void WriteWhole(LogicalValue? logical, long value)
    {
        if (logical?.ToText(value) is { } text)
        {
            _json.WriteStringValue(text);
        }
        else
        {
            _json.WriteNumberValue(value);
        }
    }

    // JSON has no number for what is none or infinite.
    private void WriteFloat(float value)
    {
        if (float.IsFinite(value))
        {
            _json.WriteNumberValue(value);
        }
        else
        {
            _json.WriteStringValue(value.ToString(CultureInfo.InvariantCulture));
        }
    }

    private void WriteDouble(double value)
    {
        if (double.IsFinite(value))
        {
            _json.WriteNumberValue(value);
        }
        else
        {
            _json.WriteStringValue(value.ToString(CultureInfo.InvariantCulture));
        }
    }

    // Of an entry without a value, and of a member that did not come.
    private void WriteDefault(DynamicField field)
    {
        switch (field.Form.Value)
        {
            case <= ValueForm.UInt64 when field.Logical is { } logical:
                WriteWhole(logical, 0);
                break;
            case ValueForm.Bool:
                _json.WriteBooleanValue(false);
                break;
            case ValueForm.String or ValueForm.Bytes:
                _json.WriteStringValue("");
                break;
            case ValueForm.Message:
                _json.WriteStartObject();
                _json.WriteEndObject();
                break;
            case <= ValueForm.Double and > ValueForm.Unknown or ValueForm.Decimal:
                _json.WriteNumberValue(0);
                break;
            case ValueForm.Guid:
                _json.WriteStringValue(Guid.Empty);
                break;
            case ValueForm.DateTime:
                _json.WriteStringValue(default(DateTime));
                break;
            case ValueForm.DateTimeOffset:
                _json.WriteStringValue(default(DateTimeOffset));
                break;
            case ValueForm.TimeSpan:
                _json.WriteStringValue(TimeSpan.Zero.ToString("c", CultureInfo.InvariantCulture));
                break;
            case ValueForm.Int128 or ValueForm.UInt128:
                _json.WriteStringValue("0");
                break;
            default:
                _json.WriteNullValue();
                break;
        }

        CheckLength();
    }

    private void CheckLength()
    {
        if (_json.BytesCommitted + _json.BytesPending > _limit)
        {
            throw new PayloadFormatException($"The payload is too long as text. The limit is {_limit} bytes of JSON.");
        }
    }
}
