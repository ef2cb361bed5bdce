using System.Buffers.Binary;
using System.Collections;
using System.Diagnostics;
using System.Text;
using QuickSilver.Multicast.Channels;

namespace QuickSilver;

/// <summary>
/// What a message carries besides its payload: a correlation id, headers of the application, and, if the publisher adds them, the time of
/// publication and the trace. A message without headers carries nothing for them and allocates nothing.
/// </summary>
/// <remarks>
/// <para>
/// Headers are for a few short values that readers of any payload type need. <see cref="CorrelationId"/> and the application's headers of
/// one message together have at most <see cref="MaxBytes"/> bytes: a header takes 3 bytes and the UTF-8 bytes of its name and value, the
/// correlation id 2 bytes and its UTF-8 bytes. Put larger data into the payload.
/// </para>
/// <para>
/// The headers of a received message are read-only. They can be published again, with another message; <see cref="PublishTime"/> and
/// <see cref="TraceContext"/> are then those of the new message. An object may be published any number of times and from several threads,
/// but must not be changed at the same time.
/// </para>
/// </remarks>
/// <example>
/// <code>
/// var headers = new MessageHeaders { CorrelationId = "order-17", ["tenant"] = "blue" };
/// await topic.PublishAsync(order, headers);
/// </code>
/// </example>
public sealed class MessageHeaders : IEnumerable<KeyValuePair<string, string>>, IEquatable<MessageHeaders>
{
    /// <summary>The maximum size of the correlation id and the application's headers of one message: 91 bytes.</summary>
    // What is left of the extensions when each has a time and a trace.
    public const int MaxBytes = MessageExtensions.MostBytes - TimeField - TraceField;

    internal const int TraceBytes = 25;
    private const int TimeField = MessageExtensions.FieldBytes + sizeof(long);
    private const int TraceField = MessageExtensions.FieldBytes + TraceBytes;

    private readonly bool _isReceived;
    // The fields of MessageExtensions, as they are sent.
    private byte[] _fields = [];

    /// <summary>Initializes headers for a message to publish.</summary>
    public MessageHeaders()
    {
    }

    private MessageHeaders(byte[] fields, bool isReceived, string topic) => (_fields, _isReceived, Topic) = (fields, isReceived, topic);

    /// <summary>
    /// Identifies what the message belongs to, such as a request, an order or a session, in words of the application. Null if there is
    /// none.
    /// </summary>
    /// <exception cref="ArgumentException">The headers would have more than <see cref="MaxBytes"/> bytes.</exception>
    /// <exception cref="InvalidOperationException">The headers were received.</exception>
    public string? CorrelationId
    {
        get => Extensions.TryFind(ExtensionKind.Correlation, out var value) ? Encoding.UTF8.GetString(value) : null;
        set => Replace(ExtensionKind.Correlation, null, value is null ? null : Encoding.UTF8.GetBytes(value));
    }

    /// <summary>
    /// When the message was published, by the clock of its publisher's machine. Null unless the publisher's endpoint was opened with
    /// <see cref="TopicOptions.StampPublishTime"/>, or the headers were not received.
    /// </summary>
    public DateTimeOffset? PublishTime =>
        Extensions.PublishTime is { } ticks && ticks >= 0 && ticks <= DateTimeOffset.MaxValue.Ticks
            ? new DateTimeOffset(ticks, TimeSpan.Zero)
            : null;

    /// <summary>
    /// The trace to which the message belongs, with which an <see cref="Activity"/> can be started or linked. Null if the publisher was
    /// not traced, or the headers were not received.
    /// </summary>
    public ActivityContext? TraceContext => Extensions.TryFind(ExtensionKind.TraceContext, out var value) && value.Length == TraceBytes
        ? new ActivityContext(
            ActivityTraceId.CreateFromBytes(value[..16]),
            ActivitySpanId.CreateFromBytes(value[16..24]),
            (ActivityTraceFlags)value[24],
            traceState: null,
            isRemote: true)
        : null;

    /// <summary>The number of the application's headers.</summary>
    public int Count
    {
        get
        {
            int count = 0;
            foreach (var _ in this)
            {
                count++;
            }

            return count;
        }
    }

    /// <summary>A header of the application. Names are case-sensitive.</summary>
    /// <param name="name">The name: not empty.</param>
    /// <returns>The value; null if there is no header of this name. Set null to remove a header.</returns>
    /// <exception cref="ArgumentException">
    /// The name is empty, or the headers would have more than <see cref="MaxBytes"/> bytes.
    /// </exception>
    /// <exception cref="InvalidOperationException">The headers were received, and the header is set.</exception>
    public string? this[string name]
    {
        get
        {
            ArgumentException.ThrowIfNullOrEmpty(name);
            int at = Find(ExtensionKind.Header, Encoding.UTF8.GetBytes(name), out int bytes);
            return at < 0 ? null : Read(_fields.AsSpan(at, bytes)).Value;
        }

        set
        {
            ArgumentException.ThrowIfNullOrEmpty(name);
            byte[] written = Encoding.UTF8.GetBytes(name);
            if (value is null)
            {
                Replace(ExtensionKind.Header, written, null);
                return;
            }

            byte[] text = Encoding.UTF8.GetBytes(value);
            if (written.Length > byte.MaxValue)
            {
                throw TooLarge(written.Length + text.Length + 3);
            }

            Replace(ExtensionKind.Header, written, [(byte)written.Length, .. written, .. text]);
        }
    }

    /// <summary>The topic of the message that has these headers; null if they are in none.</summary>
    internal string? Topic { get; }

    private MessageExtensions Extensions => new(_fields);

    /// <summary>The headers of a message received in a topic; null if it has none that are known.</summary>
    internal static MessageHeaders? Of(MessageExtensions extensions, string topic) =>
        extensions.HasAny(
            ExtensionKind.PublishTime, ExtensionKind.TraceContext, ExtensionKind.Correlation, ExtensionKind.Header)
            ? new MessageHeaders(extensions.Fields.ToArray(), isReceived: true, topic)
            : null;

    /// <summary>These headers in a message of this topic.</summary>
    internal MessageHeaders In(string topic) => topic == Topic ? this : new MessageHeaders(_fields, _isReceived, topic);

    /// <summary>Writes the fields of a message with these headers. Returns their length.</summary>
    internal static int Write(Span<byte> at, MessageHeaders? headers, DateTimeOffset? time, ActivityContext trace)
    {
        int used = 0;
        if (time is { } moment)
        {
            Span<byte> ticks = stackalloc byte[sizeof(long)];
            BinaryPrimitives.WriteInt64LittleEndian(ticks, moment.UtcTicks);
            used = MessageExtensions.Add(at, used, ExtensionKind.PublishTime, ticks);
        }

        if (trace.TraceId != default)
        {
            Span<byte> value = stackalloc byte[TraceBytes];
            trace.TraceId.CopyTo(value[..16]);
            trace.SpanId.CopyTo(value[16..24]);
            value[24] = (byte)trace.TraceFlags;
            used = MessageExtensions.Add(at, used, ExtensionKind.TraceContext, value);
        }

        return headers is null ? used : headers.CopyTo(at, used);
    }

    /// <summary>Enumerates the application's headers.</summary>
    /// <returns>The names and values, in the order in which they were set.</returns>
    public IEnumerator<KeyValuePair<string, string>> GetEnumerator()
    {
        byte[] fields = _fields;
        for (int at = 0; at < fields.Length; at += MessageExtensions.FieldBytes + fields[at + 1])
        {
            if (fields[at] == (byte)ExtensionKind.Header && IsWhole(ValueAt(fields, at)))
            {
                yield return Read(fields.AsSpan(at, MessageExtensions.FieldBytes + fields[at + 1]));
            }
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    /// <summary>Compares all that the headers contain, in the order in which it was set.</summary>
    /// <param name="other">The other headers.</param>
    public bool Equals(MessageHeaders? other) => other is not null && _fields.AsSpan().SequenceEqual(other._fields);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as MessageHeaders);

    /// <inheritdoc/>
    public override int GetHashCode()
    {
        var hash = default(HashCode);
        hash.AddBytes(_fields);
        return hash.ToHashCode();
    }

    /// <summary>The correlation id and the application's headers, for logs.</summary>
    public override string ToString() =>
        string.Join(", ", this.Select(static header => $"{header.Key}={header.Value}").Prepend($"CorrelationId={CorrelationId}"));

    private static ReadOnlySpan<byte> ValueAt(byte[] fields, int at) =>
        fields.AsSpan(at + MessageExtensions.FieldBytes, fields[at + 1]);

    // A field from the network may be shorter than its name claims to be.
    private static bool IsWhole(ReadOnlySpan<byte> value) => value.Length > 0 && value[0] > 0 && value[0] < value.Length;

    private static KeyValuePair<string, string> Read(ReadOnlySpan<byte> field)
    {
        var value = field[MessageExtensions.FieldBytes..];
        int name = value[0];
        return new(Encoding.UTF8.GetString(value.Slice(1, name)), Encoding.UTF8.GetString(value[(1 + name)..]));
    }

    private static ArgumentException TooLarge(int bytes) => new(
        $"The headers would have {bytes} bytes. The limit is {MaxBytes} bytes for the correlation id and all headers together. Shorten "
        + "names or values, or put them into the payload.");

    // The position of the field with this name, and its length; -1 if there is none.
    private int Find(ExtensionKind kind, byte[]? name, out int bytes)
    {
        for (int at = 0; at < _fields.Length; at += bytes)
        {
            var value = ValueAt(_fields, at);
            bytes = MessageExtensions.FieldBytes + value.Length;
            if (_fields[at] == (byte)kind
                && (name is null || (IsWhole(value) && value.Slice(1, value[0]).SequenceEqual(name))))
            {
                return at;
            }
        }

        bytes = 0;
        return -1;
    }

    // Replaces the field, or removes it if there is no value.
    private void Replace(ExtensionKind kind, byte[]? name, byte[]? value)
    {
        if (_isReceived)
        {
            throw new InvalidOperationException(
                $"The headers of a received message cannot be changed. Create a new {nameof(MessageHeaders)} and copy what it needs.");
        }

        int at = Find(kind, name, out int bytes);
        int length = _fields.Length - bytes + (value is null ? 0 : MessageExtensions.FieldBytes + value.Length);
        if (length > MaxBytes)
        {
            throw TooLarge(length);
        }

        byte[] fields = value is null ? [] : [(byte)kind, (byte)value.Length, .. value];
        _fields = at < 0
            ? [.. _fields, .. fields]
            : [.. _fields.AsSpan(0, at), .. fields, .. _fields.AsSpan(at + bytes)];
    }

    // Of received headers, only those of the application are sent on.
    private int CopyTo(Span<byte> at, int used)
    {
        if (!_isReceived)
        {
            _fields.CopyTo(at[used..]);
            return used + _fields.Length;
        }

        int left = MaxBytes;
        for (int from = 0; from < _fields.Length; from += MessageExtensions.FieldBytes + _fields[from + 1])
        {
            var kind = (ExtensionKind)_fields[from];
            var value = ValueAt(_fields, from);
            int bytes = MessageExtensions.FieldBytes + value.Length;
            if (kind is ExtensionKind.Correlation or ExtensionKind.Header && bytes <= left)
            {
                used = MessageExtensions.Add(at, used, kind, value);
                left -= bytes;
            }
        }

        return used;
    }
}
