using System.Buffers.Binary;

namespace QuickSilver.Multicast.Channels;

// What a field between a message's header and its payload holds. The numbers are for ever.
internal enum ExtensionKind : byte
{
    None = 0,
    // When it was published: i64, ticks of UTC.
    PublishTime = 1,
    // Where it stands among messages of other senders: the order's own bytes.
    OrderStamp = 2,
    // The trace that it belongs to: 16 bytes of trace id, 8 of span id, u8 flags.
    TraceContext = 3,
    // What filters look at without reading the payload: the filter's own bytes.
    FilterAttributes = 4,
}

// The fields of one message, each u8 kind, u8 length and so many bytes, after a byte that states how many bytes they have together. Who
// does not know a kind skips it.
internal readonly ref struct MessageExtensions(ReadOnlySpan<byte> fields)
{
    /// <summary>Bytes of all fields together, at most: with the largest start table they fit into the smallest packet.</summary>
    public const int MostBytes = 128;

    /// <summary>Bytes of a field beside its value.</summary>
    public const int FieldBytes = 2;

    private readonly ReadOnlySpan<byte> _fields = fields;

    /// <summary>The size at the head of these bytes, of the size byte and the fields, or -1 when they do not hold whole fields.</summary>
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

    /// <summary>Adds a field behind so many bytes of others and gives how many there are then; -1: there is no room for it.</summary>
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

    /// <summary>When the message was published, in ticks of UTC; null when it does not say.</summary>
    public long? PublishTime => TryFind(ExtensionKind.PublishTime, out var value) && value.Length == sizeof(long)
        ? BinaryPrimitives.ReadInt64LittleEndian(value)
        : null;
}
