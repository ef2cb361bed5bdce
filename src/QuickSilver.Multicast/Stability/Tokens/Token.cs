using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Stability.Tokens;

// The token of one ring of one view. Body: i64 round, u64 and u32 leader, i64 sum of kernel drops so far, i64 smallest receive buffer so
// far, u16 count of records, u64 and u32 receiver, u8 level of the ring, u8 count of members that are skipped and the rank of each as u32,
// u64 mark of the members that have been removed, u8 flags (1: a member disputes the mark; 2: a member under the ring is not heard; 4: a
// member of the view was not heard), the records. Behind the records: i64 smallest configuration that the seats so far have applied, i64
// configuration through which the members agree on what departed nodes have sent, u8 1 if the ring rests. A member of a version that does
// not know these passes the token on without them, and they count as 0.
//
// The token names its receiver because another incarnation of a member may have its address: it would pass the token on and be mistaken
// for the earlier one. The token is at most one datagram: records that do not fit wait for the next round, and those that waited come
// before those that did not. Those of departed nodes are first. If one of them does not fit, the round shows nothing of what these have
// sent, so the smallest configuration is written as 0.
internal sealed class Token
{
    public const int MaxSkipped = 8;
    private const int HeadBytes = 52;
    private const int MarkBytes = 9;
    private const int AgreementBytes = 16;
    private const int TailBytes = AgreementBytes + 1;
    private const int Disputed = 1;
    private const int AnyUnheard = 2;
    private const int UnheardInView = 4;

    private readonly List<RecoveryRecord> _pool = [];

    public long Round { get; set; }
    public NodeKey Leader { get; set; }
    public NodeKey To { get; set; }
    public long KernelDrops { get; set; }
    public long ReceiveBufferBytes { get; set; }
    public int Level { get; set; }
    // Members that do not answer: the ring skips them until the membership service has decided about them. They have not reported what they
    // hold, so such a round settles nothing; but it shows gaps and fills them.
    public List<int> Skipped { get; } = new(MaxSkipped);
    // The members that have been removed, as far as the leader knows (GoneMark).
    public ulong Gone { get; set; }
    // Whether a member knows of other removals: the leader may have left out a member that others, such as a sender, consider live. Such a
    // round settles nothing either.
    public bool IsDisputed { get; set; }
    // Whether a member under the seats visited so far was not heard in the last round of its ring. Moves up from ring to ring.
    public bool IsAnyUnheard { get; set; }
    // Whether the root has found that some member of the view was not heard. Moves down from ring to ring, so that the members of all rings
    // know that another member may hold what they do not.
    public bool IsUnheardInView { get; set; }
    // The smallest configuration that the seats visited so far have applied. Moves up from ring to ring.
    public long Applied { get; set; }
    // The configuration through which the members agree on what departed nodes have sent (RingAgreement). Moves down from ring to ring.
    public long Agreed { get; set; }
    // Whether the next token may come only after the longest interval.
    public bool IsResting { get; set; }
    // Whether each member sends it twice: a flag of the packet, not of the body.
    public bool IsSentTwice { get; set; }
    public int Count { get; private set; }

    public RecoveryRecord this[int index] => _pool[index];

    /// <summary>What the seat that has the token adds to one record. Not a part of the token: it is used within one call.</summary>
    public UnheldPackets Seat { get; } = new();

    public void Clear()
    {
        Count = 0;
        Applied = Agreed = 0;
        IsDisputed = IsAnyUnheard = IsUnheardInView = IsResting = IsSentTwice = false;
        Skipped.Clear();
    }

    public RecoveryRecord Add(StreamKey stream)
    {
        if (Count == _pool.Count)
        {
            _pool.Add(new RecoveryRecord());
        }

        var record = _pool[Count++];
        record.Reset(stream);
        return record;
    }

    public RecoveryRecord? Find(StreamKey stream)
    {
        for (int i = 0; i < Count; i++)
        {
            if (_pool[i].Stream == stream)
            {
                return _pool[i];
            }
        }

        return null;
    }

    /// <summary>Writes the packet, with as many records as fit.</summary>
    public int Write(Span<byte> packet, in PacketTemplate template)
    {
        template.Write(packet, PacketKind.Token, IsSentTwice ? PacketFlags.Twice : PacketFlags.None, 0, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteInt64LittleEndian(body, Round);
        BinaryPrimitives.WriteUInt64LittleEndian(body[8..], Leader.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[16..], Leader.Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(body[20..], KernelDrops);
        BinaryPrimitives.WriteInt64LittleEndian(body[28..], ReceiveBufferBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(body[38..], To.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[46..], To.Incarnation);
        body[50] = (byte)Level;
        body[51] = (byte)Skipped.Count;
        int at = HeadBytes;
        foreach (int rank in Skipped)
        {
            BinaryPrimitives.WriteInt32LittleEndian(body[at..], rank);
            at += 4;
        }

        BinaryPrimitives.WriteUInt64LittleEndian(body[at..], Gone);
        body[at + 8] = (byte)((IsDisputed ? Disputed : 0) | (IsAnyUnheard ? AnyUnheard : 0) | (IsUnheardInView ? UnheardInView : 0));
        at += MarkBytes;
        var room = body[..^TailBytes];
        int written = 0;
        bool hasDeparted = TryWrite(room, isOfDeparted: true, ref at, ref written);
        if (hasDeparted)
        {
            TryWrite(room, isOfDeparted: false, ref at, ref written);
        }

        BinaryPrimitives.WriteInt64LittleEndian(body[at..], hasDeparted ? Applied : 0);
        BinaryPrimitives.WriteInt64LittleEndian(body[(at + 8)..], Agreed);
        body[at + AgreementBytes] = (byte)(IsResting ? 1 : 0);
        at += TailBytes;
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
        Level = body[50];
        int skipped = body[51];
        int at = HeadBytes;
        if (Round < 0 || skipped > MaxSkipped || body.Length < at + (skipped * 4) + MarkBytes)
        {
            return false;
        }

        for (int i = 0; i < skipped; i++)
        {
            Skipped.Add(BinaryPrimitives.ReadInt32LittleEndian(body[at..]));
            at += 4;
        }

        Gone = BinaryPrimitives.ReadUInt64LittleEndian(body[at..]);
        int flags = body[at + 8];
        if ((flags & ~(Disputed | AnyUnheard | UnheardInView)) != 0)
        {
            return false;
        }

        IsDisputed = (flags & Disputed) != 0;
        IsAnyUnheard = (flags & AnyUnheard) != 0;
        IsUnheardInView = (flags & UnheardInView) != 0;
        at += MarkBytes;
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

        if (body.Length >= at + AgreementBytes)
        {
            Applied = BinaryPrimitives.ReadInt64LittleEndian(body[at..]);
            Agreed = BinaryPrimitives.ReadInt64LittleEndian(body[(at + 8)..]);
            IsResting = body.Length >= at + TailBytes && body[at + AgreementBytes] == 1;
        }

        return Applied >= 0 && Agreed >= 0;
    }

    // False: there is no room for all of them.
    private bool TryWrite(Span<byte> body, bool isOfDeparted, ref int at, ref int written) =>
        TryWrite(body, isOfDeparted, isDone: false, ref at, ref written) && TryWrite(body, isOfDeparted, isDone: true, ref at, ref written);

    private bool TryWrite(Span<byte> body, bool isOfDeparted, bool isDone, ref int at, ref int written)
    {
        for (int i = 0; i < Count; i++)
        {
            var record = _pool[i];
            if (record.IsOfDeparted != isOfDeparted || record.IsDone != isDone)
            {
                continue;
            }

            int used = record.Write(body[at..]);
            if (used == 0)
            {
                return false;
            }

            at += used;
            written++;
        }

        return true;
    }
}
