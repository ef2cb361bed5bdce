using System.Buffers.Binary;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Fuzz.Packets;

// Where a sealed packet belongs, which says under which key it is sealed.
internal enum Place
{
    Cluster,
    View,
    // A view in which a node was removed.
    Rest,
    // The service's own port.
    Service,
}

// The keys that the target knows, and what it seals with them.
internal static class SealedPlaces
{
    private const ulong Region = 0x10;
    private const uint View = 3;
    // What is added to its sealed form fits into a block, too.
    private const int MostPlainBytes = SealedReceiver.MostBytes - SealedPacket.TrailerBytes - byte.MaxValue;

    public const string ClusterName = "sealed";

    public static readonly ulong Cluster = TopicId.Of(ClusterName);
    public static readonly NodeKey Sender = new(7, 1);
    public static readonly PacketTemplate Template = new(Cluster, Sender.Id, Sender.Incarnation, Region, View);
    public static readonly ClusterKey ClusterKey = new(3, KeyOf(1));

    private static readonly SecretKey ViewKey = KeyOf(2);
    private static readonly SecretKey RestKey = ViewKey.OfRest(ClusterKey.Key);

    /// <summary>The view that the receiver gets.</summary>
    public static RegionView Told { get; } =
        new() { RegionId = Region, Number = View, Configuration = 1, Group = null, Members = [Sender, new NodeKey(8, 1)], Key = ViewKey };

    /// <summary>A sealed packet of each kind, of each place. Always the same bytes.</summary>
    public static IReadOnlyList<byte[]> Genuine => field ??= [.. All().Select(static all => all.Sealed)];

    private static HashSet<(PacketKind Kind, string Body)> GenuineBodies => field ??=
        [.. All().Select(static all => (new PacketHeader(all.Plain).Kind, Convert.ToHexString(new PacketHeader(all.Plain).Body)))];

    /// <summary>How many packets at most a datagram has that were sealed here.</summary>
    public static int GenuineIn(ReadOnlySpan<byte> datagram)
    {
        int found = 0;
        for (int at = 0; at + SealedPacket.LeastBytes <= datagram.Length; at++)
        {
            foreach (byte[] packet in datagram[at] == PacketHeader.CurrentVersion ? Genuine : [])
            {
                found += datagram[at..].StartsWith(packet) ? 1 : 0;
            }
        }

        return found;
    }

    public static bool IsGenuine(PacketKind kind, byte[] body) => GenuineBodies.Contains((kind, Convert.ToHexString(body)));

    /// <summary>Makes a valid packet of any bytes: those of a header and a body, as far as they can stay.</summary>
    public static byte[] MakeWhole(ReadOnlySpan<byte> content, Place place)
    {
        byte[] packet = new byte[Math.Clamp(content.Length, PacketHeader.Bytes, MostPlainBytes)];
        content[..Math.Min(content.Length, packet.Length)].CopyTo(packet);
        packet[PacketHeader.VersionOffset] = PacketHeader.CurrentVersion;
        packet[PacketHeader.KindOffset] = KindOf(packet[PacketHeader.KindOffset]);
        bool isData = PacketKinds.ClassOf(new PacketHeader(packet).Kind) == PacketClass.Data;
        BinaryPrimitives.WriteUInt64LittleEndian(packet.AsSpan(PacketHeader.ClusterOffset), Cluster);
        BinaryPrimitives.WriteUInt64LittleEndian(packet.AsSpan(PacketHeader.RegionOffset), IsOfView(place) ? Region : 0);
        BinaryPrimitives.WriteUInt32LittleEndian(packet.AsSpan(PacketHeader.ViewOffset), IsOfView(place) ? View : 0);
        BinaryPrimitives.WriteUInt32LittleEndian(packet.AsSpan(PacketHeader.KeyEpochOffset), 0);
        packet[PacketHeader.TagBytesOffset] = 0;
        // No number is negative.
        packet[PacketHeader.SequenceOffset + sizeof(long) - 1] &= 0x7F;
        int headBytes = Math.Min(new PacketHeader(packet).HeadBytes, packet.Length - PacketHeader.Bytes);
        BinaryPrimitives.WriteUInt16LittleEndian(packet.AsSpan(PacketHeader.HeadBytesOffset), (ushort)headBytes);
        if (!isData)
        {
            BinaryPrimitives.WriteUInt64LittleEndian(packet.AsSpan(PacketHeader.SenderOffset), Sender.Id);
            BinaryPrimitives.WriteUInt32LittleEndian(packet.AsSpan(PacketHeader.IncarnationOffset), Sender.Incarnation);
            packet[PacketHeader.StreamClassOffset] = 0;
        }

        PacketTemplate.CompleteWithoutChecksum(packet);
        return packet;
    }

    /// <summary>Seals the first packet of a sender.</summary>
    public static byte[] Seal(byte[] plain, Place place, ClusterKey cluster)
    {
        using var sealer = SealerOf(place, cluster);
        return Seal(sealer, plain, place, cluster);
    }

    private static byte[] Seal(PacketSealer sealer, byte[] plain, Place place, ClusterKey cluster)
    {
        byte[] sealedPacket = new byte[plain.Length + SealedPacket.TrailerBytes];
        sealer.Seal(plain, plain.Length, sealedPacket, IsOfView(place) ? null : cluster.Label);
        return sealedPacket;
    }

    private static PacketSealer SealerOf(Place place, ClusterKey cluster) => new(
        place == Place.View ? ViewKey : place == Place.Rest ? RestKey : cluster.Key,
        new Sealer(Sender.Id, Sender.Incarnation),
        PacketSealer.DefaultPacketsPerEpoch,
        place == Place.Rest ? KeyEpochs.OfRest(cluster.Label) : default);

    private static IEnumerable<(byte[] Plain, byte[] Sealed)> All()
    {
        foreach (var place in new[] { Place.Cluster, Place.View, Place.Rest })
        {
            using var sealer = SealerOf(place, ClusterKey);
            foreach (var seed in PacketSeeds.All(Template))
            {
                byte[] plain = MakeWhole(seed.Bytes, place);
                yield return (plain, Seal(sealer, plain, place, ClusterKey));
            }
        }
    }

    private static bool IsOfView(Place place) => place is Place.View or Place.Rest;

    private static SecretKey KeyOf(byte number) => new(Enumerable.Repeat(number, SecretKey.Bytes).ToArray());

    // One of those that have handlers.
    private static byte KindOf(byte drawn)
    {
        const int Protocols = PacketKinds.Count - (int)PacketKinds.FirstOfProtocols;
        int kind = (drawn + 255) % ((int)PacketKind.Piece + Protocols);
        return (byte)(kind < (int)PacketKind.Piece ? 1 + kind : (int)PacketKinds.FirstOfProtocols + kind - (int)PacketKind.Piece);
    }
}
