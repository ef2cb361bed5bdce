using System.Buffers;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Unicode;
using QuickSilver.Serialization;
using QuickSilver.Tool.Catalog;

namespace QuickSilver.Tool.Lines;

// What stands before a payload, or whether all of it is JSON.
internal sealed record LineFormat(bool Json, bool Time, bool SinceStart, bool Topic, bool Sender)
{
    public long StartedAt { get; } = Stopwatch.GetTimestamp();

    public bool HasPrefix => Time || SinceStart || Topic || Sender;
}

// One message as a line. One for each topic; not thread-safe.
internal sealed class MessageLine(LineFormat format, string topic, PayloadView view) : IDisposable
{
    private readonly ArrayBufferWriter<byte> _line = new();
    private readonly ArrayBufferWriter<byte> _text = new();
    private readonly byte[] _topic = Encoding.UTF8.GetBytes(SafeText.Of(topic));
    private readonly Utf8JsonWriter _json = new(Stream.Null, new JsonWriterOptions
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    });

    /// <summary>The name of a node; its id as text if it has none.</summary>
    public required Func<NodeId, string> NameOf { get; init; }

    /// <summary>Writes the line to <paramref name="output"/>.</summary>
    /// <exception cref="PayloadFormatException">The payload is malformed. Nothing was written.</exception>
    public void Write(LineWriter output, in Message<ReadOnlyMemory<byte>> message)
    {
        _line.ResetWrittenCount();
        if (format.Json)
        {
            WriteJson(message);
            output.Write([], _line.WrittenSpan);
            return;
        }

        var payload = message.Value.Span;
        if (view.Kind == PayloadSchema.MessageKind)
        {
            _text.ResetWrittenCount();
            JsonText.Write(view.Convert(payload), _text);
            payload = _text.WrittenSpan;
        }

        if (format.HasPrefix)
        {
            WritePrefix(message.Sender);
        }

        output.Write(_line.WrittenSpan, payload);
    }

    public void Dispose() => _json.Dispose();

    private void WritePrefix(NodeId sender)
    {
        if (format.Time)
        {
            Add(Encoding.UTF8.GetBytes(DateTimeOffset.Now.ToString("O", CultureInfo.InvariantCulture)));
        }

        if (format.SinceStart)
        {
            Add(Encoding.UTF8.GetBytes(SinceStart().ToString("0.000000", CultureInfo.InvariantCulture)));
        }

        if (format.Topic)
        {
            Add(_topic);
        }

        if (format.Sender)
        {
            string name = SafeText.Of(NameOf(sender));
            string id = sender.ToString();
            Add(Encoding.UTF8.GetBytes(name == id ? id : $"{name} ({id})"));
        }

        void Add(byte[] text)
        {
            _line.Write(text);
            _line.Write("\t"u8);
        }
    }

    private double SinceStart() => Stopwatch.GetElapsedTime(format.StartedAt).TotalSeconds;

    // Its names are what scripts read: they are never renamed.
    private void WriteJson(in Message<ReadOnlyMemory<byte>> message)
    {
        _json.Reset(_line);
        _json.WriteStartObject();
        _json.WriteString("topic", topic);
        _json.WriteString("time", DateTimeOffset.Now);
        _json.WriteNumber("sinceStart", Math.Round(SinceStart(), 6));
        _json.WriteString("sender", message.Sender.ToString());
        _json.WriteString("senderName", NameOf(message.Sender));
        _json.WriteNumber("sequence", message.Sequence);
        if (message.Headers is { } headers)
        {
            WriteHeaders(headers);
        }

        var payload = message.Value.Span;
        if (view.Kind == PayloadSchema.MessageKind)
        {
            _json.WritePropertyName("value");
            _json.WriteRawValue(view.Convert(payload), skipInputValidation: true);
        }
        else if (Utf8.IsValid(payload))
        {
            _json.WriteString("value", payload);
        }
        else
        {
            _json.WriteBase64String("base64", payload);
        }

        _json.WriteEndObject();
        _json.Flush();
    }

    private void WriteHeaders(MessageHeaders headers)
    {
        if (headers.PublishTime is { } published)
        {
            _json.WriteString("published", published);
        }

        if (headers.CorrelationId is { } correlation)
        {
            _json.WriteString("correlationId", correlation);
        }

        if (headers.TraceContext is { } trace)
        {
            _json.WriteString("traceId", trace.TraceId.ToString());
        }

        if (headers.Count > 0)
        {
            _json.WriteStartObject("headers");
            foreach (var (name, value) in headers)
            {
                _json.WriteString(name, value);
            }

            _json.WriteEndObject();
        }
    }
}
