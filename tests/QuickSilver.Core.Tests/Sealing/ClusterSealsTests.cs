using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Sealing;

public sealed class ClusterSealsTests
{
    private static readonly ClusterKey[] Keys = [.. Enumerable.Range(1, 4).Select(i => new ClusterKey(i, SealedPackets.KeyOf((byte)i)))];

    private readonly SealedPackets.Budget _budget = new();

    [Fact]
    public void The_key_of_another_service_is_the_newest_whatever_its_number()
    {
        using var seals = new ClusterSeals(SealedPackets.Self, _budget);
        seals.Add(Keys[2]);
        seals.Add(Keys[0], isOfAnother: true);
        Assert.Equal(Keys[0].Label, seals.Newest!.Value.Label);
        Assert.NotNull(seals.Find(Keys[2].Label));
        // Of this service now.
        seals.Add(Keys[1]);
        Assert.Equal(Keys[1].Label, seals.Newest!.Value.Label);
        seals.Add(Keys[0]);
        Assert.Equal(Keys[1].Label, seals.Newest!.Value.Label);
    }

    [Fact]
    public void A_node_that_returns_to_a_service_seals_under_its_key_again()
    {
        using var seals = new ClusterSeals(SealedPackets.Self, _budget);
        seals.Add(Keys[2]);
        seals.Add(Keys[0], isOfAnother: true);
        seals.Add(Keys[2], isOfAnother: true);
        Assert.Equal(Keys[2].Label, seals.Newest!.Value.Label);
        Assert.NotNull(seals.Find(Keys[0].Label));
    }

    [Fact]
    public void No_epoch_begins_twice_under_a_key_that_was_given_up_and_came_back()
    {
        using var seals = new ClusterSeals(SealedPackets.Self, _budget);
        seals.Add(Keys[0]);
        uint first = EpochOfNext(seals);
        seals.Add(Keys[1], isOfAnother: true);
        seals.Add(Keys[2], isOfAnother: true);
        Assert.Null(seals.Find(Keys[0].Label));
        seals.Add(Keys[0], isOfAnother: true);
        Assert.True(EpochOfNext(seals) > first);
    }

    // Every node has the key. One uses it in the name of another, with the last possible epochs and a counter that is far ahead.
    [Fact]
    public void A_packet_sealed_in_the_name_of_another_node_does_not_keep_out_that_nodes_packets()
    {
        using var seals = new ClusterSeals(new Sealer(1, 1), new SealedPackets.Budget(old: 2));
        seals.Add(Keys[0]);
        using var genuine = new PacketSealer(Keys[0].Key, SealedPackets.Self, PacketSealer.DefaultPacketsPerEpoch);
        using var forger = new PacketSealer(Keys[0].Key, SealedPackets.Self, packetsPerEpoch: 1, begun: int.MaxValue - 2U);
        byte[] captured = Seal(genuine, Echo(1));
        Assert.Equal(DropReason.None, seals.Open((byte[])captured.Clone()));
        Assert.Equal(DropReason.None, seals.Open(Seal(forger, Echo(2))));
        Assert.Equal(DropReason.None, seals.Open(Seal(forger, Echo(3))));
        Assert.Equal((uint)int.MaxValue, forger.Steps);

        for (int i = 0; i < 10; i++)
        {
            Assert.Equal(DropReason.None, seals.Open(Seal(genuine, Reply(i))));
        }

        // They look like some that come again, so a few are taken, without their content.
        for (int i = 0; i < 3; i++)
        {
            byte[] late = Seal(genuine, Echo(4));
            byte[] again = (byte[])late.Clone();
            Assert.Equal(i < 2 ? DropReason.None : DropReason.Replayed, seals.Open(late));
            Assert.Equal(0, EchoPacket.ReadFound(late.AsSpan(PacketHeader.Bytes)));
            Assert.Equal(DropReason.Replayed, seals.Open(again));
            Assert.Equal(DropReason.Replayed, seals.Open((byte[])captured.Clone()));
        }
    }

    [Fact]
    public void An_echo_contains_what_its_sender_has_found_and_counts_once()
    {
        using var seals = new ClusterSeals(new Sealer(1, 1), new SealedPackets.Budget(old: 2));
        seals.Add(Keys[0]);
        using var sealer = new PacketSealer(Keys[0].Key, SealedPackets.Self, PacketSealer.DefaultPacketsPerEpoch);
        byte[] packet = Seal(sealer, Echo(1));
        byte[] again = (byte[])packet.Clone();
        Assert.Equal(DropReason.None, seals.Open(packet));
        Assert.Equal(0U, new PacketHeader(packet).View);
        Assert.Equal(1_000, EchoPacket.ReadFound(packet.AsSpan(PacketHeader.Bytes)));
        Assert.Equal(DropReason.Replayed, seals.Open(again));
    }

    [Theory]
    [InlineData((byte)PacketKind.Data)]
    [InlineData((byte)PacketKind.Credit)]
    [InlineData((byte)PacketKind.Pause)]
    [InlineData((byte)PacketKind.Shared)]
    [InlineData((byte)PacketKind.Piece)]
    [InlineData((byte)PacketKind.Token)]
    public void Packets_for_members_of_a_view_are_not_taken_under_the_key_that_all_nodes_have(byte kind)
    {
        using var seals = new ClusterSeals(new Sealer(1, 1), _budget);
        seals.Add(Keys[0]);
        using var sealer = new PacketSealer(Keys[0].Key, SealedPackets.Self, PacketSealer.DefaultPacketsPerEpoch);
        Assert.Equal(DropReason.NotMember, seals.Open(Seal(sealer, SealedPackets.Plain([1, 2, 3], (PacketKind)kind))));
    }

    private static byte[] Echo(long number)
    {
        byte[] packet = new byte[EchoPacket.Bytes];
        var template = new PacketTemplate(SealedPackets.Cluster, SealedPackets.Self.Id, SealedPackets.Self.Incarnation, 0, 0);
        EchoPacket.Write(packet, template, number, new IPEndPoint(IPAddress.Loopback, 5), found: 1_000);
        return packet;
    }

    private static byte[] Reply(long number)
    {
        byte[] packet = new byte[EchoPacket.ReplyBytes];
        var template = new PacketTemplate(SealedPackets.Cluster, SealedPackets.Self.Id, SealedPackets.Self.Incarnation, 0, 0);
        EchoPacket.WriteReply(packet, template, number);
        return packet;
    }

    private static byte[] Seal(PacketSealer sealer, byte[] plain)
    {
        byte[] packet = new byte[plain.Length + SealedPacket.TrailerBytes];
        sealer.Seal(plain, plain.Length, packet, Keys[0].Label);
        return packet;
    }

    private static uint EpochOfNext(ClusterSeals seals)
    {
        var sealer = seals.Newest!.Value.Seal.Sealer;
        SealedPackets.Seal(sealer, SealedPackets.Plain([1]));
        return sealer.Steps;
    }
}
