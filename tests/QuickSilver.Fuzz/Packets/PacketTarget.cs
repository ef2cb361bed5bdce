using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Fuzz.Packets;

// Packets of all kinds. A fuzzer does not find a checksum, so the input is checked unchanged, and then once more with its version, cluster,
// length and checksum set. A body is read as its handler reads it; what was read is written and read again.
internal sealed class PacketTarget : FuzzTarget
{
    public const ulong Cluster = 0x1122_3344_5566_7788;

    private static readonly byte[] Scratch = new byte[ushort.MaxValue];
    private static readonly PacketTemplate Template = new(Cluster, 7, 1, 0x10, 3);

    // A kind without a body of its own has only a header. The bodies of other protocols' kinds are theirs: this layer reads none.
    private static readonly Dictionary<PacketKind, PacketRead> Bodies = new()
    {
        [PacketKind.Data] = static packet => MessageTarget.ReadPacket(packet),
        [PacketKind.Announce] = static _ => { },
        [PacketKind.Token] = ReadToken,
        [PacketKind.Pull] = ReadPull,
        [PacketKind.Ack] = ReadAck,
        [PacketKind.Probe] = static _ => { },
        [PacketKind.ProbeReply] = static _ => { },
        [PacketKind.Credit] = ReadCredit,
        [PacketKind.Echo] = ReadEcho,
        [PacketKind.EchoReply] = static _ => { },
        [PacketKind.Hearing] = ReadHearing,
        [PacketKind.Pause] = ReadPause,
        [PacketKind.Shared] = ReadShared,
        [PacketKind.Piece] = ReadPiece,
    };

    private delegate void PacketRead(ReadOnlySpan<byte> packet);

    public override string Name => "packets";

    /// <summary>The kinds whose bodies are read.</summary>
    public static IEnumerable<PacketKind> Kinds => Bodies.Keys;

    public override IReadOnlyList<Type> Decoders { get; } =
    [
        typeof(PacketHeader), typeof(Token), typeof(RecoveryRecord), typeof(AggregateAck), typeof(PullRequest), typeof(CreditPacket),
        typeof(HearingNotice), typeof(PauseNotice), typeof(EchoPacket), typeof(SharedPacket),
        typeof(PiecePacket), typeof(SealedPacket),
    ];

    public override IEnumerable<Seed> Seeds() => PacketSeeds.All(Template);

    public override void Run(ReadOnlySpan<byte> input)
    {
        _ = PacketHeader.Validate(input, Cluster);
        if (input.Length is < PacketHeader.Bytes or > ushort.MaxValue)
        {
            return;
        }

        byte[] packet = input.ToArray();
        Sealed.AsOf(packet, Cluster);
        if (PacketHeader.Validate(packet, Cluster) == DropReason.None && Bodies.TryGetValue(new PacketHeader(packet).Kind, out var read))
        {
            read(packet);
        }
    }

    private static ReadOnlySpan<byte> Body(ReadOnlySpan<byte> packet) => new PacketHeader(packet).Body;

    private static void ReadToken(ReadOnlySpan<byte> packet)
    {
        var token = new Token();
        if (token.TryRead(Body(packet)))
        {
            byte[] once = Write(token);
            FindingException.ThrowUnless(token.TryRead(Body(once)), "A token cannot be read that was written.");
            Same(once, Write(token));
        }

        static byte[] Write(Token token)
        {
            return Scratch[..token.Write(Scratch, Template)];
        }
    }

    private static void ReadPull(ReadOnlySpan<byte> packet)
    {
        var body = Body(packet);
        if (!PullRequest.TryRead(body, out _, out int count))
        {
            return;
        }

        for (int i = 0; i < count; i++)
        {
            var (first, last) = PullRequest.Range(body, i);
            FindingException.ThrowUnless(first >= 0 && last >= first - 1, $"The range {first} to {last} is none.");
        }
    }

    private static void ReadAck(ReadOnlySpan<byte> packet)
    {
        var body = Body(packet);
        if (!AggregateAck.TryRead(body, out var ack))
        {
            return;
        }

        for (int i = 0; i < AggregateAck.LackedRanges(body); i++)
        {
            var (first, last) = AggregateAck.LackedRange(body, i);
            FindingException.ThrowUnless(first >= 0 && last >= first - 1, $"The range {first} to {last} is none.");
        }

        for (int i = 0; i < AggregateAck.HeldRanges(body); i++)
        {
            _ = AggregateAck.HeldRange(body, i);
        }

        byte[] again = new byte[AggregateAck.MostBytes];
        ack.Write(again, Template);
        FindingException.ThrowUnless(
            AggregateAck.TryRead(Body(again), out var same) && same == ack, "An acknowledgement is not what was written.");
    }

    private static void ReadCredit(ReadOnlySpan<byte> packet)
    {
        var body = Body(packet);
        if (CreditPacket.TryRead(body, out int count))
        {
            for (int i = 0; i < count; i++)
            {
                _ = CreditPacket.Entry(body, i);
            }
        }
    }

    private static void ReadEcho(ReadOnlySpan<byte> packet)
    {
        if (EchoPacket.ReadAnswerTo(Body(packet)) is { } answerTo)
        {
            byte[] again = new byte[EchoPacket.Bytes];
            EchoPacket.Write(again, Template, 5, answerTo);
            FindingException.ThrowUnless(answerTo.Equals(EchoPacket.ReadAnswerTo(Body(again))), "An address is not what was written.");
        }
    }

    private static void ReadHearing(ReadOnlySpan<byte> packet)
    {
        if (HearingNotice.TryRead(Body(packet), out var notice))
        {
            byte[] again = new byte[HearingNotice.MostBytes];
            notice.WriteWithTopic(again, Template);
            FindingException.ThrowUnless(
                HearingNotice.TryRead(Body(again), out var same) && same == notice, "A notice is not what was written.");
        }
    }

    private static void ReadPause(ReadOnlySpan<byte> packet)
    {
        if (PauseNotice.TryRead(Body(packet), out var notice))
        {
            byte[] again = new byte[PauseNotice.Bytes];
            notice.Write(again, Template, 5);
            FindingException.ThrowUnless(
                PauseNotice.TryRead(Body(again), out var same) && same == notice, "A notice is not what was written.");
        }
    }

    private static void ReadPiece(ReadOnlySpan<byte> packet)
    {
        if (PiecePacket.TryRead(new PacketHeader(packet).Body, out var piece))
        {
            FindingException.ThrowUnless(
                (piece.Index * piece.Stride) + piece.Content.Length <= piece.WholeBytes, "A piece is not in its packet.");
        }

        _ = SealedPacket.Validate(packet, Cluster);
    }

    private static void ReadShared(ReadOnlySpan<byte> packet)
    {
        if (!SharedPacket.TryReadList(packet, out var list))
        {
            return;
        }

        for (int i = 0; i < list.Used; i++)
        {
            var entry = SharedPacket.EntryAt(packet, list, i);
            byte[] data = packet[..list.Offset].ToArray();
            SharedPacket.MakeData(data, entry);
            PacketTemplate.Seal(data);
            FindingException.ThrowUnless(
                PacketHeader.Validate(data, Cluster) == DropReason.None, "A shared packet made a data packet that is not valid.");
            if (i == 0)
            {
                MessageTarget.ReadPacket(data);
            }
        }
    }

    private static void Same(byte[] once, byte[] twice) =>
        FindingException.ThrowUnless(once.AsSpan().SequenceEqual(twice), "What was read is not what was written.");
}
