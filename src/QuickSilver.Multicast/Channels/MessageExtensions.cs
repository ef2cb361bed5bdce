using System.Buffers.Binary;

namespace QuickSilver.Multicast.Channels;

// The kinds of fields between a message's header and its payload. The numbers must never change.
internal enum ExtensionKind : byte
{
    None = 0,
    // The time of publication: i64, UTC ticks.
    PublishTime = 1,
    // The position among messages of other senders: bytes that the delivery order defines.
    OrderStamp = 2,
    // The trace of the message: 16 bytes of trace id, 8 of span id, u8 flags.
    TraceContext = 3,
    // Attributes for filters, which do not read the payload: bytes that the filter defines.
    FilterAttributes = 4,
    // The application's correlation id: UTF-8.
    Correlation = 5,
    // A header of the application: u8 length of its name, the name and the value, both UTF-8. A message may have several.
    Header = 6,
}

// The fields of one message. Each consists of u8 kind, u8 length and the value. Before them is a byte with their total length. A receiver
// skips fields of unknown kinds.
internal readonly ref struct MessageExtensions(ReadOnlySpan<byte> fields)
{
    /// <summary>The maximum length of all fields together: with the largest start table they fit into the smallest packet.</summary>
    public const int MostBytes = 128;

    /// <summary>The bytes of a field in addition to its value.</summary>
    public const int FieldBytes = 2;

    private readonly ReadOnlySpan<byte> _fields = fields;

    /// <summary>All fields.</summary>
    public ReadOnlySpan<byte> Fields => _fields;

    /// <summary>
    /// The length of the fields and their length byte at the beginning of these bytes; -1 if the bytes do not contain whole fields.
    /// </summary>
    public static int Measure(ReadOnlySpan<byte> at)
    {
        if (at.IsEmpty || at[0] > MostBytes || at[0] >= at.Length)
        {
            return -1;
        }

        int bytes = at[0];
        int used = 0;
        while (used < bytes)
        {
            int left = bytes - used;
            if (left < FieldBytes || at[1 + used] == (byte)ExtensionKind.None || at[2 + used] > left - FieldBytes)
            {
                return -1;
            }

            used += FieldBytes + at[2 + used];
        }

        return 1 + bytes;
    }

    /// <summary>Writes all fields of a message, after a byte with their length.</summary>
    /// <returns>The bytes written; 0 if there are no fields.</returns>
    public static int Write(Span<byte> at, ReadOnlySpan<byte> fields)
    {
        if (fields.IsEmpty)
        {
            return 0;
        }

        at[0] = (byte)fields.Length;
        fields.CopyTo(at[1..]);
        return 1 + fields.Length;
    }

    /// <summary>Adds a field after the <paramref name="used"/> bytes of other fields.</summary>
    /// <returns>The new length of all fields; -1 if there is no room.</returns>
    public static int Add(Span<byte> fields, int used, ExtensionKind kind, ReadOnlySpan<byte> value)
    {
        int end = used + FieldBytes + value.Length;
        if (end > Math.Min(fields.Length, MostBytes))
        {
            return -1;
        }

        fields[used] = (byte)kind;
        fields[used + 1] = (byte)value.Length;
        value.CopyTo(fields[(used + FieldBytes)..]);
        return end;
    }

    /// <summary>The value of the first field of a kind; false when there is none.</summary>
    public bool TryFind(ExtensionKind kind, out ReadOnlySpan<byte> value)
    {
        var rest = _fields;
        while (rest.Length >= FieldBytes)
        {
            value = rest.Slice(FieldBytes, rest[1]);
            if (rest[0] == (byte)kind)
            {
                return true;
            }

            rest = rest[(FieldBytes + value.Length)..];
        }

        value = default;
        return false;
    }

    /// <summary>Whether there is a field of one of these kinds.</summary>
    public bool HasAny(params ReadOnlySpan<ExtensionKind> kinds)
    {
        foreach (var kind in kinds)
        {
            if (TryFind(kind, out _))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The time of publication in UTC ticks; null if the message does not contain it.</summary>
    public long? PublishTime => TryFind(ExtensionKind.PublishTime, out var value) && value.Length == sizeof(long)
        ? BinaryPrimitives.ReadInt64LittleEndian(value)
        : null;
}
