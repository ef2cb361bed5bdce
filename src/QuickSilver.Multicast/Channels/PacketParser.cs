using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Channels;

// Walks over the messages that begin in a packet. Before them, the body may continue a message that began in an earlier packet; the last
// one may continue in the next packet.
//
// It reads no byte outside the packet, whatever the packet contains. Lengths and numbers are as they came: the caller refuses those that
// cannot be true. No message is read behind one that is damaged, because its end is not known.
internal ref struct PacketParser
{
    // An offset that no message has.
    private const int Damaged = -1;

    private readonly ReadOnlySpan<byte> _packet;
    private int _next;

    public PacketParser(ReadOnlySpan<byte> packet)
        : this(packet, PacketHeader.Bytes + new PacketHeader(packet).HeadBytes)
    {
    }

    /// <param name="packet">The packet.</param>
    /// <param name="first">Where the first message begins.</param>
    public PacketParser(ReadOnlySpan<byte> packet, int first)
    {
        _packet = packet;
        _next = first;
    }

    public ulong Topic { get; private set; }

    public long Number { get; private set; }

    public MessageMarks Marks { get; private set; }

    /// <summary>The length of the whole payload.</summary>
    public int PayloadBytes { get; private set; }

    /// <summary>Where the payload begins.</summary>
    public int PayloadAt { get; private set; }

    /// <summary>Where the start table and the extensions begin, behind the header.</summary>
    public int PreambleAt { get; private set; }

    /// <summary>The length of the start table; 0: there is none.</summary>
    public int TableBytes { get; private set; }

    /// <summary>The length of the extension fields, which end where the payload begins.</summary>
    public int FieldBytes { get; private set; }

    /// <summary>Whether what precedes the payload is damaged.</summary>
    public readonly bool IsDamaged => PayloadAt == Damaged;

    /// <summary>Whether the message continues in the next packet.</summary>
    public readonly bool Continues => PayloadAt + PayloadBytes > _packet.Length;

    /// <summary>The start table of the message; empty if it has none.</summary>
    public readonly ReadOnlySpan<byte> Table => _packet.Slice(PreambleAt, TableBytes);

    /// <summary>What follows the header of the message in the packet.</summary>
    public readonly ReadOnlySpan<byte> Rest => _packet[PreambleAt..];

    /// <summary>Whether a message that begins in the packet has a start table.</summary>
    public static bool HasStart(ReadOnlySpan<byte> packet)
    {
        for (var messages = new PacketParser(packet); messages.MoveNext();)
        {
            if ((messages.Marks & MessageMarks.Start) != 0)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Reads up to the payload of the next message. False at padding, and at the end of the packet.</summary>
    public bool MoveNext()
    {
        if ((uint)_next > (uint)_packet.Length
            || !MessageHeader.TryRead(_packet[_next..], out int bytes, out var marks, out ulong topic, out long number))
        {
            return false;
        }

        (Topic, Number, Marks, PayloadBytes) = (topic, number, marks, bytes);
        PreambleAt = _next + MessageHeader.Bytes;
        bool isWhole = MessagePreamble.TryMeasure(_packet[PreambleAt..], marks, out var preamble);
        (TableBytes, FieldBytes) = isWhole ? (preamble.TableBytes, preamble.FieldBytes) : (0, 0);
        PayloadAt = isWhole ? PreambleAt + preamble.Bytes : Damaged;
        _next = isWhole ? PayloadAt + bytes : _packet.Length;
        return true;
    }
}
