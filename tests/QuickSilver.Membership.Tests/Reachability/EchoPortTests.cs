using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Reachability;

// What the service's own port answers.
public sealed class EchoPortTests : IDisposable
{
    // More than are answered in a second.
    private const int Flood = 3_000;

    private static readonly Sealer Member = new(5, 6);

    private readonly FakeWorld _world = new();
    private readonly FakeEnvironment _service;
    private readonly ServiceCounters _counters = new();
    private readonly RegionKeys _keys;
    private readonly Replies _replies = new();
    private readonly IDatagramPort _asker;
    private EchoPort? _echo;

    public EchoPortTests()
    {
        _service = _world.AddNode(1);
        _keys = RegionKeys.Draw(_service);
        _keys.RenewCluster(1);
        _asker = _world.AddNode(2).OpenPort(new DatagramPortOptions(), _replies);
    }

    public void Dispose() => _echo?.Dispose();

    [Fact]
    public void The_service_answers_echoes_of_its_own_cluster_at_the_address_that_they_name_and_nothing_else()
    {
        Open(keys: null);
        Ask(Echo(4711));
        Ask(Echo(4712, "another"));
        Ask(Echo(4713)[..30]);
        Run();
        Assert.Equal([4711], _replies.Nonces);
        Assert.Equal(1, _counters.EchoesAnswered);
        Assert.Equal(1, _counters.EchoesDropped(DropReason.ForeignCluster));
        Assert.Equal(1, _counters.EchoesDropped(DropReason.Truncated));
    }

    [Fact]
    public void A_sealed_echo_is_answered_sealed_and_one_that_was_changed_is_not_answered()
    {
        Open(_keys);
        using var sealer = SealerOf(Member, _keys.Cluster!.Key);
        byte[] changed = Seal(sealer, Echo(1));
        changed[PacketHeader.Bytes] ^= 1;
        Ask(changed);
        Ask(Seal(sealer, Echo(2)));
        Run();
        Assert.Equal([2], _replies.Nonces);
        Assert.True(_replies.AreSealed);
        Assert.Equal(1, _counters.EchoesDropped(DropReason.NotAuthentic));
    }

    [Fact]
    public void Echoes_that_any_sender_can_make_do_not_keep_those_of_members_from_an_answer()
    {
        Open(_keys);
        for (int i = 0; i < Flood; i++)
        {
            Ask(Echo(i));
        }

        using var sealer = SealerOf(Member, _keys.Cluster!.Key);
        Ask(Seal(sealer, Echo(Flood)));
        Run();
        Assert.Contains(Flood, _replies.Nonces);
        long dropped = _counters.EchoesDropped(DropReason.RateLimited);
        Assert.InRange(dropped, 1, Flood - 1);
        Assert.Equal(Flood + 1 - dropped, _counters.EchoesAnswered);
    }

    [Fact]
    public void Sealers_that_are_made_up_do_not_keep_one_that_is_known_from_an_answer()
    {
        Open(_keys);
        using var sealer = SealerOf(Member, _keys.Cluster!.Key);
        Ask(Seal(sealer, Echo(1)));
        var guessed = new SecretKey(new byte[SecretKey.Bytes]);
        for (int i = 0; i < Flood; i++)
        {
            using var stranger = SealerOf(new Sealer((ulong)i + 100, 1), guessed);
            Ask(Seal(stranger, Echo(i + 10)));
        }

        Ask(Seal(sealer, Echo(2)));
        Run();
        Assert.Equal([1, 2], _replies.Nonces);
        Assert.InRange(_counters.EchoesDropped(DropReason.RateLimited), 1, Flood - 1);
        Assert.Equal(
            Flood, _counters.EchoesDropped(DropReason.RateLimited) + _counters.EchoesDropped(DropReason.NotAuthentic));
    }

    [Fact]
    public void A_packet_that_another_member_seals_in_the_name_of_one_does_not_keep_it_from_an_answer()
    {
        Open(_keys);
        using var forger = new PacketSealer(_keys.Cluster!.Key, Member, packetsPerEpoch: 1, begun: int.MaxValue - 2U);
        Ask(Seal(forger, Echo(1)));
        Ask(Seal(forger, Echo(2)));
        using var sealer = SealerOf(Member, _keys.Cluster!.Key);
        Ask(Seal(sealer, Echo(3)));
        Run();
        Assert.Equal([1, 2, 3], _replies.Nonces);
    }

    [Fact]
    public void An_echo_that_comes_again_is_not_answered_again()
    {
        Open(_keys);
        using var sealer = SealerOf(Member, _keys.Cluster!.Key);
        byte[] captured = Seal(sealer, Echo(1));
        for (int i = 0; i < Flood; i++)
        {
            Ask((byte[])captured.Clone());
        }

        Ask(Seal(sealer, Echo(2)));
        Run();
        Assert.Equal([1, 2], _replies.Nonces);
        Assert.Equal(Flood - 1, _counters.EchoesDropped(DropReason.Replayed));
    }

    // One member is not to make the service flood an address, either.
    [Fact]
    public void The_answers_to_sealed_echoes_have_a_limit_too()
    {
        Open(_keys);
        using var sealer = SealerOf(Member, _keys.Cluster!.Key);
        for (int i = 0; i < Flood; i++)
        {
            Ask(Seal(sealer, Echo(i)));
        }

        Run();
        Assert.InRange(_replies.Nonces.Count, 1, Flood - 1);
        Assert.Equal(Flood - _replies.Nonces.Count, _counters.EchoesDropped(DropReason.RateLimited));
    }

    [Fact]
    public void An_echo_that_names_no_address_of_one_node_is_not_answered()
    {
        byte[] packet = new byte[EchoPacket.Bytes];
        foreach (string address in (ReadOnlySpan<string>)["224.0.0.1", "255.255.255.255", "0.0.0.0", "::", "ff02::1", "::ffff:10.1.2.3"])
        {
            EchoPacket.Write(packet, new PacketTemplate(1, 5, 6, 0, 0), 1, new IPEndPoint(IPAddress.Parse(address), 5));
            Assert.Null(EchoPacket.ReadAnswerTo(packet.AsSpan(PacketHeader.Bytes)));
        }

        EchoPacket.Write(packet, new PacketTemplate(1, 5, 6, 0, 0), 1, new IPEndPoint(IPAddress.Loopback, 0));
        Assert.Null(EchoPacket.ReadAnswerTo(packet.AsSpan(PacketHeader.Bytes)));
        Assert.Null(EchoPacket.ReadAnswerTo([]));
        foreach (string address in (ReadOnlySpan<string>)["10.1.2.3", "::1", "fd00::1:2", "fe80::1"])
        {
            var answerTo = new IPEndPoint(IPAddress.Parse(address), 65_000);
            EchoPacket.Write(packet, new PacketTemplate(1, 5, 6, 0, 0), 1, answerTo);
            Assert.Equal(answerTo, EchoPacket.ReadAnswerTo(packet.AsSpan(PacketHeader.Bytes)));
        }

        // The address is cut off, or of a length that no address has.
        Assert.Null(EchoPacket.ReadAnswerTo(packet.AsSpan(PacketHeader.Bytes, 23)));
        packet[PacketHeader.Bytes + 6] = 15;
        Assert.Null(EchoPacket.ReadAnswerTo(packet.AsSpan(PacketHeader.Bytes)));
    }

    private static PacketSealer SealerOf(Sealer sealer, SecretKey key) => new(key, sealer, PacketSealer.DefaultPacketsPerEpoch);

    private byte[] Echo(long nonce, string cluster = "default")
    {
        byte[] packet = new byte[EchoPacket.Bytes];
        EchoPacket.Write(packet, new PacketTemplate(TopicId.Of(cluster), Member.Id, Member.Incarnation, 0, 0), nonce, _asker.LocalEndPoint);
        return packet;
    }

    private byte[] Seal(PacketSealer sealer, byte[] packet)
    {
        byte[] sealedPacket = new byte[packet.Length + SealedPacket.TrailerBytes];
        sealer.Seal(packet, packet.Length, sealedPacket, _keys.Cluster!.Label);
        return sealedPacket;
    }

    private void Open(RegionKeys? keys)
    {
        _echo = new EchoPort(_service, "default", _counters, keys);
        Assert.Equal(7401, _echo.Open(7401));
        Assert.Equal(7401, _echo.Open(7401));
    }

    private void Ask(byte[] packet) =>
        _asker.Send(packet, packet.Length, new DatagramAddress(new IPEndPoint(_service.LocalAddress, 7401)));

    private void Run() => _world.Run(TimeSpan.FromSeconds(1));

    private sealed class Replies : IDatagramReceiver
    {
        public List<long> Nonces { get; } = [];

        public bool AreSealed { get; private set; } = true;

        public bool IsControl(ReadOnlySpan<byte> firstBytes) => true;

        public void OnRun(in ReceivedRun run)
        {
            ulong cluster = TopicId.Of("default");
            bool isSealed = SealedPacket.Validate(run.Span, cluster) == DropReason.None;
            Assert.True(isSealed || PacketHeader.Validate(run.Span, cluster) == DropReason.None);
            AreSealed &= isSealed;
            var header = new PacketHeader(run.Span);
            Assert.Equal(PacketKind.EchoReply, header.Kind);
            Nonces.Add(header.Sequence);
        }

        public void OnBatchEnd()
        {
        }
    }
}
