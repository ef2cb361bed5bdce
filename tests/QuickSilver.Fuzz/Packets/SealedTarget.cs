using System.Buffers.Binary;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Reachability;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Sealing;

namespace QuickSilver.Fuzz.Packets;

// Sealed packets, as a node with the keys and the service receive them. The first byte says what the others are: a datagram as it comes off
// the wire, or the content of a packet that is sealed here and then changed on its way. Nothing may be accepted that was not sealed with
// the keys, and what was changed anywhere is not what was sealed. An unchanged packet opens to what it was, also after a forged
// one.
internal sealed class SealedTarget : FuzzTarget
{
    private const int EditBytes = 4;

    [Flags]
    private enum Way : byte
    {
        // Otherwise a datagram.
        Content = 1,
        // Two bits: where the packet belongs.
        Place = 6,
        // The receiver learns of the views only after the packet has come.
        Late = 8,
    }

    public override string Name => "sealed";

    public override IReadOnlyList<Type> Decoders { get; } =
    [
        typeof(SealedPacket), typeof(PacketOpener), typeof(Subkey), typeof(PacketCipher), typeof(OpenSslCipher), typeof(PlatformCipher),
        typeof(KeyRing), typeof(ClusterSeals), typeof(RunSplitter), typeof(EchoPort),
    ];

    // A machine and a node's part that receives, from their start.
    public override long AllocationLimit(ReadOnlySpan<byte> input) => (1 << 20) + (16L * input.Length);

    public override IEnumerable<Seed> Seeds()
    {
        var genuine = SealedPlaces.Genuine;
        yield return new Seed("wire", [0, .. genuine[0]]);
        yield return new Seed("wire-run", [(byte)Way.Late, .. genuine[0], .. genuine[^1], .. genuine[genuine.Count / 2], .. genuine[0]]);
        foreach (var seed in PacketSeeds.All(SealedPlaces.Template))
        {
            yield return Content(seed.Name, Place.View, Edit.None, 0, 0, seed.Bytes);
        }

        var (data, echo) = (Of("data"), Of("echo"));
        yield return Content("of-rest", Place.Rest, Edit.None, 0, 0, data);
        yield return Content("of-cluster", Place.Cluster, Edit.None, 0, 0, echo);
        yield return Content("of-service", Place.Service, Edit.None, 0, 0, echo);
        yield return Content("of-service-changed", Place.Service, Edit.Flip, PacketHeader.SequenceOffset, 1, echo);
        yield return Content("header", Place.View, Edit.Flip, PacketHeader.ViewOffset, 1, data);
        yield return Content("body", Place.Rest, Edit.Write, PacketHeader.Bytes, 7, data);
        yield return Content("trailer", Place.View, Edit.Flip, (ushort)(data.Length + SealedPacket.TrailerBytes - 1), 7, data);
        yield return Content("cut", Place.View, Edit.Cut, 90, 0, data);
        yield return Content("length", Place.View, Edit.Length, 120, 0, data);
        yield return Content("extended", Place.Cluster, Edit.Extend, 0, 40, echo);
        yield return new Seed("late", [(byte)((byte)(Way.Content | Way.Late) | ((byte)Place.View << 1)), 0, 0, 0, 0, .. Of("token")]);

        static byte[] Of(string name) => PacketSeeds.All(SealedPlaces.Template).First(seed => seed.Name == name).Bytes;
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty)
        {
            return;
        }

        var way = (Way)input[0];
        if ((way & Way.Content) == 0)
        {
            RunDatagram(input[1..], (way & Way.Late) != 0);
        }
        else if (input.Length > EditBytes)
        {
            var place = (Place)((byte)(way & Way.Place) >> 1);
            byte[] plain = SealedPlaces.MakeWhole(input[(1 + EditBytes)..], place);
            RunContent(plain, place, input.Slice(1, EditBytes), (way & Way.Late) != 0);
        }
    }

    private static Seed Content(string name, Place place, Edit edit, ushort at, byte value, byte[] packet) => new(
        $"content-{name}", [(byte)((byte)Way.Content | ((byte)place << 1)), (byte)edit, (byte)at, (byte)(at >> 8), value, .. packet]);

    private static void RunDatagram(ReadOnlySpan<byte> datagram, bool isLate)
    {
        using var receiver = new SealedReceiver(knowsViews: !isLate);
        int most = SealedPlaces.GenuineIn(datagram);
        int accepted = receiver.Receive(datagram);
        FindingException.ThrowUnless(accepted <= most, $"Of a datagram with {most} packets that were sealed, {accepted} were accepted.");
        receiver.LearnViews();
        foreach (var (kind, body) in receiver.Handled)
        {
            FindingException.ThrowUnless(SealedPlaces.IsGenuine(kind, body), $"A packet of kind {kind} was accepted but never sealed.");
        }
    }

    private static void RunContent(byte[] plain, Place place, ReadOnlySpan<byte> edit, bool isLate)
    {
        using var machine = new SealedReceiver(knowsViews: !isLate);
        byte[] whole = machine.Seal(plain, place);
        byte[] sent = Edited(whole, edit);
        bool isWhole = sent.AsSpan().StartsWith(whole);
        if (place == Place.Service)
        {
            CheckService(machine, plain, whole, sent, isWhole);
            return;
        }

        int accepted = machine.Receive(sent);
        var kind = new PacketHeader(plain).Kind;
        bool isTaken = IsTaken(kind, place);
        bool isKept = isLate && place != Place.Cluster;
        FindingException.ThrowUnless(
            accepted == (isWhole && isTaken && !isKept ? 1 : 0), $"{Describe(sent, isWhole)} was accepted {accepted} times.");
        if (accepted == 1)
        {
            FindingException.ThrowUnless(
                machine.Received[..plain.Length].SequenceEqual(plain), "A packet was opened to something else than it was.");
        }

        machine.LearnViews();
        bool isHandled = isTaken && kind is not (PacketKind.Data or PacketKind.Shared);
        CheckHandled(machine, plain, times: isWhole && isHandled ? 1 : 0);

        // What was forged does not keep the genuine packet out, and that comes through once. The numbers of echoes see to it that a reply
        // counts once, streams to it for data, and protocols to it for what they repair.
        bool isOnce = isHandled && PacketKinds.ClassOf(kind) == PacketClass.Control
            && (place != Place.Cluster || kind != PacketKind.EchoReply);
        accepted = machine.Receive(whole);
        FindingException.ThrowUnless(
            accepted == (!isTaken || (isWhole && isOnce) ? 0 : 1), $"After that, the packet itself was accepted {accepted} times.");
        CheckHandled(machine, plain, times: !isHandled ? 0 : isWhole && !isOnce ? 2 : 1);
    }

    // Shared data would be for several views. All nodes have the key of the cluster, under which nothing goes but echoes and replies.
    private static bool IsTaken(PacketKind kind, Place place) =>
        kind != PacketKind.Shared && (place != Place.Cluster || kind is PacketKind.Echo or PacketKind.EchoReply);

    // An echo is answered once, if it is unchanged.
    private static void CheckService(SealedReceiver machine, byte[] plain, byte[] whole, byte[] sent, bool isWhole)
    {
        var header = new PacketHeader(plain);
        int answers = header.Kind == PacketKind.Echo && EchoPacket.ReadAnswerTo(header.Body) is not null ? 1 : 0;
        long[] answered = machine.AskService(sent, whole);
        FindingException.ThrowUnless(
            answered[0] == (isWhole ? answers : 0), $"{Describe(sent, isWhole)} was answered {answered[0]} times by the service.");
        FindingException.ThrowUnless(
            answered[1] == answers, $"After that, the service had answered the packet itself {answered[1]} times.");
    }

    private static string Describe(byte[] sent, bool isWhole) =>
        $"A packet of {sent.Length} bytes that was {(isWhole ? "not " : "")}changed";

    private static void CheckHandled(SealedReceiver machine, byte[] plain, int times)
    {
        FindingException.ThrowUnless(
            machine.Handled.Count == times, $"{machine.Handled.Count} packets came to their handler. It should be {times}.");
        foreach (var (kind, body) in machine.Handled)
        {
            var header = new PacketHeader(plain);
            FindingException.ThrowUnless(
                kind == header.Kind && header.Body.SequenceEqual(body), "A packet came to its handler as something else than it was.");
        }
    }

    private static byte[] Edited(byte[] whole, ReadOnlySpan<byte> edit)
    {
        byte[] sent = [.. whole];
        int number = BinaryPrimitives.ReadUInt16LittleEndian(edit[1..]);
        int at = number % sent.Length;
        byte value = edit[3];
        switch ((Edit)edit[0])
        {
            case Edit.Flip:
                sent[at] ^= (byte)(1 << (value % 8));
                return sent;
            case Edit.Write:
                sent[at] = value;
                return sent;
            case Edit.Cut:
                return sent[..at];
            case Edit.Length:
                BinaryPrimitives.WriteUInt16LittleEndian(sent.AsSpan(PacketHeader.LengthOffset), (ushort)number);
                return sent;
            case Edit.Extend:
                return [.. sent, .. Enumerable.Repeat(value, value)];
            default:
                return sent;
        }
    }

    private enum Edit : byte
    {
        None,
        Flip,
        Write,
        Cut,
        Length,
        Extend,
    }
}
