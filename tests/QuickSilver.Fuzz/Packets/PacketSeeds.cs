using System.Net;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Reachability;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Fuzz.Packets;

// A packet of each kind, as nodes write them.
internal static class PacketSeeds
{
    private static readonly NodeKey Sender = new(7, 1);

    public static IEnumerable<Seed> All(PacketTemplate template)
    {
        yield return new Seed("data", Data(template, MessageSeeds.Body()));
        foreach (var kind in new[] { PacketKind.Announce, PacketKind.Probe, PacketKind.ProbeReply })
        {
            byte[] header = new byte[PacketHeader.Bytes];
            template.Write(header, kind, PacketFlags.None, 5, 0, 0);
            PacketTemplate.Seal(header);
            yield return new Seed(kind.ToString().ToLowerInvariant(), header);
        }

        yield return new Seed("token", Token(template));
        byte[] packet = new byte[1400];
        var ranges = Ranges((3, 4), (9, 20));
        yield return new Seed("pull", packet[..PullRequest.Write(packet, template, Sender, 30, ranges, 0, 25)]);
        var ack = new AggregateAck(Sender, 10, 9, 8, 1, 1 << 20, 3) { Age = TimeSpan.FromMilliseconds(2) };
        yield return new Seed("ack", packet[..ack.Write(packet, template, ranges, Ranges((30, 31)))]);
        (ulong, long)[] credits = [(5, 100), (6, CreditPacket.Unlimited)];
        yield return new Seed("credit", packet[..CreditPacket.Write(packet, template, 4, credits)]);
        packet = new byte[1400];
        EchoPacket.Write(packet.AsSpan(0, EchoPacket.Bytes), template, 77, new IPEndPoint(new IPAddress([10, 0, 0, 1]), 5000));
        yield return new Seed("echo", packet[..EchoPacket.Bytes]);
        EchoPacket.WriteReply(packet.AsSpan(0, EchoPacket.ReplyBytes), template, 77);
        yield return new Seed("echoreply", packet[..EchoPacket.ReplyBytes]);
        new HearingNotice(Sender, HearingWord.Deaf).Write(packet, template, 3);
        yield return new Seed("hearing", packet[..HearingNotice.Bytes]);
        new HearingNotice(Sender, HearingWord.MissesTopic, 99).WriteWithTopic(packet, template);
        yield return new Seed("hearing-topic", packet[..HearingNotice.MostBytes]);
        new PauseNotice(TimeSpan.FromSeconds(1), TimeSpan.FromMilliseconds(20), PauseCause.Handler).Write(packet, template, 2);
        yield return new Seed("pause", packet[..PauseNotice.Bytes]);
        yield return new Seed("shared", Shared(template));
        byte[] piece = new byte[512];
        int length = PiecePacket.Write(piece, template, 1, Data(template, new byte[600]), stride: 400, index: 1);
        yield return new Seed("piece", piece[..length]);
    }

    public static byte[] Data(PacketTemplate template, ReadOnlySpan<byte> body, long sequence = 1)
    {
        byte[] packet = new byte[PacketHeader.Bytes + body.Length];
        template.Write(packet, PacketKind.Data, PacketFlags.AckWanted, sequence, 0, 0);
        body.CopyTo(packet.AsSpan(PacketHeader.Bytes));
        PacketTemplate.Seal(packet);
        return packet;
    }

    private static byte[] Token(PacketTemplate template)
    {
        var token = new Token { Round = 4, Leader = Sender, To = new NodeKey(8, 1), ReceiveBufferBytes = 1 << 20, Gone = 5 };
        token.Skipped.Add(1);
        var record = token.Add(new StreamKey(Sender, StreamClass.Reliable));
        record.Stable = 10;
        record.HeldByAll = record.HeldByAny = 12;
        record.NeighbourThrough = record.Through = 20;
        record.NeighbourGaps.Add(13, 14);
        record.LackedByAll.Add(15);
        record.HeldRanges = Ranges((16, 17));
        token.Add(new StreamKey(new NodeKey(9, 2), StreamClass.ReliableOf(1))).IsGathering = true;
        byte[] packet = new byte[1400];
        return packet[..token.Write(packet, template)];
    }

    private static byte[] Shared(PacketTemplate template)
    {
        byte[] body = MessageSeeds.Body();
        int offset = PacketHeader.Bytes + body.Length;
        var list = new SharedList(offset, 1, 2);
        byte[] packet = new byte[offset + SharedPacket.ListBytes(2)];
        template.Write(packet, PacketKind.Shared, PacketFlags.None, 0, 0, 0);
        body.CopyTo(packet.AsSpan(PacketHeader.Bytes));
        packet.AsSpan(PacketHeader.ViewOffset, sizeof(uint)).Clear();
        SharedPacket.WriteEntry(packet, list, 0, new SharedEntry(template.Region, template.View, 1));
        SharedPacket.WriteTail(packet, list, template.Region);
        PacketTemplate.Seal(packet);
        return packet;
    }

    private static SequenceRanges Ranges(params (long First, long Last)[] ranges)
    {
        var all = new SequenceRanges(100);
        foreach (var (first, last) in ranges)
        {
            all.Add(first, last);
        }

        return all;
    }
}
