using System.Text.Json;
using System.Text.Unicode;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Tool.Catalog;

// Makes payloads of lines, by the contract that is registered for the topic: JSON for a typed topic, text or bytes unchanged.
internal sealed class PayloadLines
{
    private readonly string _kind;
    private readonly JsonToPayload? _writer;

    /// <exception cref="PayloadFormatException">The schema is malformed.</exception>
    public PayloadLines(PayloadSchema schema)
    {
        _kind = schema.Kind;
        _writer = _kind == PayloadSchema.MessageKind ? new JsonToPayload(new DynamicSchema(schema)) : null;
    }

    /// <summary>Null for a line that is skipped: an empty one in JSON.</summary>
    /// <exception cref="PayloadFormatException">The line is not a payload of the topic's type.</exception>
    public ReadOnlyMemory<byte>? Convert(ReadOnlyMemory<byte> line)
    {
        if (_writer is null)
        {
            return _kind != PayloadSchema.StringKind || Utf8.IsValid(line.Span)
                ? line
                : throw new PayloadFormatException("The topic carries text, and this is not valid UTF-8.");
        }

        if (line.Span.Trim(" \t\r"u8).IsEmpty)
        {
            return null;
        }

        try
        {
            using var document = JsonDocument.Parse(line, JsonToPayload.DocumentOptions);
            return _writer.Convert(document.RootElement);
        }
        catch (JsonException invalid)
        {
            throw new PayloadFormatException(
                $"This is not valid JSON, at byte {invalid.BytePositionInLine + 1}. The topic is typed: each line is a JSON object.",
                invalid);
        }
    }
}
