using System.Buffers.Binary;

namespace QuickSilver.Multicast.Channels;

// The header before each message in a packet, little-endian:
//
//   0  u32  bits 0-24 payload length, bit 29 extensions, bit 30 start mark, bit 31 always set (a zero word is padding: the rest is
//           empty)
//   4  u64  topic id
//   12 u64  the message's number in its topic, per sender, from 1
//
// If the start mark is set, the sender's recent history of the topic follows (StartTable). If the extensions bit is set, the message's
// extensions follow (MessageExtensions). Then comes the payload. A header, table or extension never spans packets; a payload may.
internal static class MessageHeader
{
    public const int Bytes = 20;
    // The topic of a sender's own messages (TopicMark). No topic of an application has this id.
    public const ulong MarkTopic = 0;
    // No message or packet number comes near this value. Larger numbers are refused, so that sums of two cannot overflow.
    public const long MaxNumber = long.MaxValue / 2;
    private const uint Present = 1u << 31;
    private const int MarksShift = 29;
    private const uint MarksMask = 3u << MarksShift;
    private const uint LengthMask = (1u << 25) - 1;

    public static void Write(Span<byte> at, int payloadBytes, MessageMarks marks, ulong topicId, long sequence)
    {
        uint word = Present | ((uint)marks << MarksShift) | (uint)payloadBytes;
        BinaryPrimitives.WriteUInt32LittleEndian(at, word);
        BinaryPrimitives.WriteUInt64LittleEndian(at[4..], topicId);
        BinaryPrimitives.WriteInt64LittleEndian(at[12..], sequence);
    }

    /// <summary>Reads a header. False at padding or at the end of the packet.</summary>
    public static bool TryRead(
        ReadOnlySpan<byte> at, out int payloadBytes, out MessageMarks marks, out ulong topicId, out long sequence)
    {
        if (at.Length < Bytes)
        {
            payloadBytes = 0;
            marks = MessageMarks.None;
            topicId = 0;
            sequence = 0;
            return false;
        }

        uint word = BinaryPrimitives.ReadUInt32LittleEndian(at);
        payloadBytes = (int)(word & LengthMask);
        marks = (MessageMarks)((word & MarksMask) >> MarksShift);
        topicId = BinaryPrimitives.ReadUInt64LittleEndian(at.Slice(4, 8));
        sequence = BinaryPrimitives.ReadInt64LittleEndian(at.Slice(12, 8));
        return (word & Present) != 0;
    }
}

// The parts between a message's header and its payload.
[Flags]
internal enum MessageMarks : byte
{
    None = 0,
    Extended = 1,
    Start = 2,
}

// The lengths of these parts: the start table, and the extension fields with their length byte.
internal readonly record struct MessagePreamble(int TableBytes, int FieldBytes, int Bytes)
{
    /// <summary>Measures the parts that the marks announce after a header. False if they are damaged.</summary>
    public static bool TryMeasure(ReadOnlySpan<byte> at, MessageMarks marks, out MessagePreamble preamble)
    {
        int table = (marks & MessageMarks.Start) == 0 ? 0 : StartTable.Measure(at);
        int extensions = (marks & MessageMarks.Extended) == 0 || table < 0 ? 0 : MessageExtensions.Measure(at[table..]);
        preamble = new MessagePreamble(table, Math.Max(0, extensions - 1), table + extensions);
        return table >= 0 && extensions >= 0;
    }
}

// The first number of a sender's messages in a topic under each configuration. The first message of a topic in each view carries the table.
// It shows a new subscriber exactly where its run begins: at the first entry whose configuration is not older than the subscription.
// Without the table, a subscriber whose region changed again before the first message arrived could not know what was sent in the view in
// between.
//
// Configurations between which nothing was sent share an entry. Entries that a subscriber may still need are never removed: a sender whose
// table is full waits until all members of its old views have begun.
internal class StartTable
{
    // The number of entries that fit into the smallest packet together with its header, the message header and the largest extensions.
    public const int MaxEntries = 22;
    public const int MaxBytes = 1 + (EntryBytes * MaxEntries);
    private const int EntryBytes = 16;

    // In almost all cases there is one entry.
    private (long Configuration, long First) _oldest;
    private (long Configuration, long First)[]? _others;
    private int _count;

    public int EncodedBytes => 1 + (EntryBytes * _count);

    /// <summary>Whether there is more than one entry.</summary>
    public bool IsLong => _count > 1;

    /// <summary>Whether the table is full. No message may then be sent, because the next configuration could not be added.</summary>
    public bool IsFull => _count == MaxEntries;

    /// <summary>Whether no subscriber needs more than the last entry.</summary>
    public bool IsSettled(long settled) => _count == 0 || Entry(_count - 1).Configuration <= settled;

    public void Add(long configuration, long first)
    {
        if (_count > 0 && Entry(_count - 1).Configuration >= configuration)
        {
            return;
        }

        if (_count > 0 && Entry(_count - 1).First == first)
        {
            Entry(_count - 1) = (configuration, first);
            return;
        }

        if (IsFull)
        {
            throw new InvalidOperationException("A message was sent although the start table was full.");
        }

        if (_count > 0 && _count > (_others?.Length ?? 0))
        {
            Array.Resize(ref _others, Math.Min(2 * _count, MaxEntries - 1));
        }

        Entry(_count++) = (configuration, first);
    }

    /// <summary>Removes all entries except the newest, because no subscriber needs them any more.</summary>
    public void ForgetOlder()
    {
        if (_count > 1)
        {
            _oldest = Entry(_count - 1);
            _others = null;
            _count = 1;
        }
    }

    public void Write(Span<byte> at)
    {
        at[0] = (byte)_count;
        for (int i = 0; i < _count; i++)
        {
            var (configuration, first) = Entry(i);
            BinaryPrimitives.WriteInt64LittleEndian(at[(1 + (i * EntryBytes))..], configuration);
            BinaryPrimitives.WriteInt64LittleEndian(at[(9 + (i * EntryBytes))..], first);
        }
    }

    /// <summary>The table's size at the beginning of these bytes; -1 if the bytes do not contain a whole table.</summary>
    public static int Measure(ReadOnlySpan<byte> at)
    {
        if (at.IsEmpty || at[0] > MaxEntries)
        {
            return -1;
        }

        int bytes = 1 + (EntryBytes * at[0]);
        return bytes <= at.Length ? bytes : -1;
    }

    /// <summary>
    /// The number with which a subscription that is active from <paramref name="configuration"/> on begins, and the configuration of that
    /// entry; 0 if the table does not contain it.
    /// </summary>
    public static long FirstFor(ReadOnlySpan<byte> table, long configuration, out long from)
    {
        for (int i = 0; i < table[0]; i++)
        {
            from = BinaryPrimitives.ReadInt64LittleEndian(table[(1 + (i * EntryBytes))..]);
            if (from >= configuration)
            {
                return BinaryPrimitives.ReadInt64LittleEndian(table[(9 + (i * EntryBytes))..]);
            }
        }

        from = 0;
        return 0;
    }

    private ref (long Configuration, long First) Entry(int index)
    {
        if (index == 0)
        {
            return ref _oldest;
        }

        return ref _others![index - 1];
    }
}
