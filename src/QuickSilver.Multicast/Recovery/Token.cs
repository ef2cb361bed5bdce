using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Recovery;

// The token that goes round one view's live members. Body: i64 round, u64 and u32 leader, i64 kernel drops summed so far,
// i64 smallest receive buffer so far, u16 count of records, u64 and u32 whom it is passed to, the records. The receiver is
// named because a member's next life may have its address: it would pass the token on and be taken for the one before. One
// datagram at most: records that do not fit wait for the next round.
internal sealed class Token
{
    private const int HeadBytes = 50;

    private readonly List<RecoveryRecord> _pool = [];

    public long Round { get; set; }
    public NodeKey Leader { get; set; }
    public NodeKey To { get; set; }
    public long KernelDrops { get; set; }
    public long ReceiveBufferBytes { get; set; }
    public int Count { get; private set; }

    public RecoveryRecord this[int index] => _pool[index];

    public void Clear() => Count = 0;

    public RecoveryRecord Add(NodeKey sender)
    {
        if (Count == _pool.Count)
        {
            _pool.Add(new RecoveryRecord());
        }

        var record = _pool[Count++];
        record.Reset(sender);
        return record;
    }

    public RecoveryRecord? Find(NodeKey sender)
    {
        for (int i = 0; i < Count; i++)
        {
            if (_pool[i].Sender == sender)
            {
                return _pool[i];
            }
        }

        return null;
    }

    /// <summary>Writes the packet; <paramref name="from"/> rotates which records go first, so that none starves.</summary>
    public int Write(Span<byte> packet, in PacketTemplate template, int from)
    {
        template.Write(packet, PacketKind.Token, PacketFlags.None, 0, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteInt64LittleEndian(body, Round);
        BinaryPrimitives.WriteUInt64LittleEndian(body[8..], Leader.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[16..], Leader.Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(body[20..], KernelDrops);
        BinaryPrimitives.WriteInt64LittleEndian(body[28..], ReceiveBufferBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(body[38..], To.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[46..], To.Incarnation);
        int at = HeadBytes;
        int written = 0;
        for (int i = 0; i < Count; i++)
        {
            int used = _pool[(i + from) % Count].Write(body[at..]);
            if (used == 0)
            {
                break;
            }

            at += used;
            written++;
        }

        BinaryPrimitives.WriteUInt16LittleEndian(body[36..], (ushort)written);
        PacketTemplate.Seal(packet[..(PacketHeader.Bytes + at)]);
        return PacketHeader.Bytes + at;
    }

    public bool TryRead(ReadOnlySpan<byte> body)
    {
        Clear();
        if (body.Length < HeadBytes)
        {
            return false;
        }

        Round = BinaryPrimitives.ReadInt64LittleEndian(body);
        Leader = new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(body[8..]), BinaryPrimitives.ReadUInt32LittleEndian(body[16..]));
        KernelDrops = BinaryPrimitives.ReadInt64LittleEndian(body[20..]);
        ReceiveBufferBytes = BinaryPrimitives.ReadInt64LittleEndian(body[28..]);
        int count = BinaryPrimitives.ReadUInt16LittleEndian(body[36..]);
        To = new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(body[38..]), BinaryPrimitives.ReadUInt32LittleEndian(body[46..]));
        int at = HeadBytes;
        for (int i = 0; i < count; i++)
        {
            var record = Add(default);
            int used = record.TryRead(body[at..]);
            if (used == 0)
            {
                return false;
            }

            at += used;
        }

        return true;
    }
}
