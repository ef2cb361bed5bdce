using System.Buffers.Binary;

namespace QuickSilver.Core.Wire;

// The header of every packet, little-endian (docs/wire-format.md). A flyweight: a view over the packet's bytes.
//
//   0  u8   version          24 u32 sender incarnation
//   1  u8   kind             28 u32 view number
//   2  u16  flags            32 u64 region id
//   4  u16  packet length    40 u64 sequence number
//   6  u16  head bytes       48 u32 key epoch (0: no security)
//   8  u64  cluster id       52 u32 checksum of all but these four bytes
//   16 u64  sender id        56 u32 head distance
//                            60 u8  stream class
//                            61 u8  tag bytes
//                            62 u16 reserved, 0
//
// The last so many bytes of a packet may be an authentication tag, made with the key of the epoch: there is none without a key.
//
// The packet states its own length so that a receiver splits a coalesced buffer without ancillary data. Head bytes: how
// many bytes of body continue a message that began in an earlier packet; head distance: how many packets earlier.
internal readonly ref struct PacketHeader(ReadOnlySpan<byte> packet)
{
    public const int Bytes = 64;
    public const byte CurrentVersion = 3;

    public const int VersionOffset = 0;
    public const int KindOffset = 1;
    public const int FlagsOffset = 2;
    public const int LengthOffset = 4;
    public const int HeadBytesOffset = 6;
    public const int ClusterOffset = 8;
    public const int SenderOffset = 16;
    public const int IncarnationOffset = 24;
    public const int ViewOffset = 28;
    public const int RegionOffset = 32;
    public const int SequenceOffset = 40;
    public const int KeyEpochOffset = 48;
    public const int ChecksumOffset = 52;
    public const int HeadDistanceOffset = 56;
    public const int StreamClassOffset = 60;
    public const int TagBytesOffset = 61;

    private readonly ReadOnlySpan<byte> _packet = packet;

    public byte Version => _packet[VersionOffset];
    public PacketKind Kind => (PacketKind)_packet[KindOffset];
    public PacketFlags Flags => (PacketFlags)BinaryPrimitives.ReadUInt16LittleEndian(_packet[FlagsOffset..]);
    public int Length => BinaryPrimitives.ReadUInt16LittleEndian(_packet[LengthOffset..]);
    public int HeadBytes => BinaryPrimitives.ReadUInt16LittleEndian(_packet[HeadBytesOffset..]);
    public ulong Cluster => BinaryPrimitives.ReadUInt64LittleEndian(_packet[ClusterOffset..]);
    public ulong Sender => BinaryPrimitives.ReadUInt64LittleEndian(_packet[SenderOffset..]);
    public uint Incarnation => BinaryPrimitives.ReadUInt32LittleEndian(_packet[IncarnationOffset..]);
    public uint View => BinaryPrimitives.ReadUInt32LittleEndian(_packet[ViewOffset..]);
    public ulong Region => BinaryPrimitives.ReadUInt64LittleEndian(_packet[RegionOffset..]);
    public long Sequence => BinaryPrimitives.ReadInt64LittleEndian(_packet[SequenceOffset..]);
    public uint KeyEpoch => BinaryPrimitives.ReadUInt32LittleEndian(_packet[KeyEpochOffset..]);
    public uint Checksum => BinaryPrimitives.ReadUInt32LittleEndian(_packet[ChecksumOffset..]);
    public long HeadDistance => BinaryPrimitives.ReadUInt32LittleEndian(_packet[HeadDistanceOffset..]);
    public byte StreamClass => _packet[StreamClassOffset];
    public int TagBytes => _packet[TagBytesOffset];
    public ReadOnlySpan<byte> Body => _packet[Bytes..Length];

    // Cheap checks first, the checksum last: what is refused costs little.
    public static DropReason Validate(ReadOnlySpan<byte> bytes, ulong cluster)
    {
        var refused = ValidateFields(bytes, cluster);
        if (refused != DropReason.None)
        {
            return refused;
        }

        var header = new PacketHeader(bytes);
        return header.Checksum == PacketChecksum.Compute(bytes[..header.Length]) ? DropReason.None : DropReason.Corrupt;
    }

    /// <summary>The same for a packet without a checksum, which came sealed.</summary>
    public static DropReason ValidateFields(ReadOnlySpan<byte> bytes, ulong cluster)
    {
        if (bytes.Length < Bytes)
        {
            return DropReason.Truncated;
        }

        var header = new PacketHeader(bytes);
        if (header.Version != CurrentVersion)
        {
            return DropReason.UnknownVersion;
        }

        if (header.Length < Bytes)
        {
            return DropReason.Malformed;
        }

        if (header.Length > bytes.Length)
        {
            return DropReason.Truncated;
        }

        if (header.Cluster != cluster)
        {
            return DropReason.ForeignCluster;
        }

        if (header.Kind is PacketKind.None or > PacketKinds.Last)
        {
            return DropReason.UnknownKind;
        }

        if (header.KeyEpoch != 0 || header.TagBytes != 0)
        {
            return DropReason.UnknownKey;
        }

        return header.Sequence < 0 || header.HeadBytes > header.Length - Bytes ? DropReason.Malformed : DropReason.None;
    }
}

// What a node writes into every header of one view; the rest is per packet.
internal readonly struct PacketTemplate(
    ulong cluster, ulong sender, uint incarnation, ulong region, uint view, byte streamClass = 0)
{
    public ulong Cluster { get; } = cluster;
    public ulong Sender { get; } = sender;
    public uint Incarnation { get; } = incarnation;
    public ulong Region { get; } = region;
    public uint View { get; } = view;
    public byte StreamClass { get; } = streamClass;

    /// <summary>The same for streams of another class.</summary>
    public PacketTemplate Of(byte streamClass) => new(Cluster, Sender, Incarnation, Region, View, streamClass);

    /// <summary>Writes the whole header but the checksum, which <see cref="Seal"/> adds when the body is complete.</summary>
    public void Write(Span<byte> packet, PacketKind kind, PacketFlags flags, long sequence, int headBytes, long headDistance)
    {
        packet[PacketHeader.VersionOffset] = PacketHeader.CurrentVersion;
        packet[PacketHeader.KindOffset] = (byte)kind;
        BinaryPrimitives.WriteUInt16LittleEndian(packet[PacketHeader.FlagsOffset..], (ushort)flags);
        BinaryPrimitives.WriteUInt16LittleEndian(packet[PacketHeader.HeadBytesOffset..], (ushort)headBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(packet[PacketHeader.ClusterOffset..], Cluster);
        BinaryPrimitives.WriteUInt64LittleEndian(packet[PacketHeader.SenderOffset..], Sender);
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.IncarnationOffset..], Incarnation);
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.ViewOffset..], View);
        BinaryPrimitives.WriteUInt64LittleEndian(packet[PacketHeader.RegionOffset..], Region);
        BinaryPrimitives.WriteInt64LittleEndian(packet[PacketHeader.SequenceOffset..], sequence);
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.KeyEpochOffset..], 0);
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.HeadDistanceOffset..], (uint)headDistance);
        // Little-endian: class, no tag, reserved.
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.StreamClassOffset..], StreamClass);
    }

    /// <summary>Adds flags to a header that is written and not yet sealed.</summary>
    public static void AddFlags(Span<byte> packet, PacketFlags flags)
    {
        var at = packet[PacketHeader.FlagsOffset..];
        BinaryPrimitives.WriteUInt16LittleEndian(at, (ushort)(BinaryPrimitives.ReadUInt16LittleEndian(at) | (ushort)flags));
    }

    /// <summary>
    /// Completes a packet that goes out sealed, and so needs no checksum. Its place does not show what was in this memory before: packets
    /// go out within others, too.
    /// </summary>
    public static void CompleteWithoutChecksum(Span<byte> packet)
    {
        WriteLength(packet);
        packet.Slice(PacketHeader.ChecksumOffset, sizeof(uint)).Clear();
    }

    public static void Seal(Span<byte> packet)
    {
        WriteLength(packet);
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.ChecksumOffset..], PacketChecksum.Compute(packet));
    }

    private static void WriteLength(Span<byte> packet) =>
        BinaryPrimitives.WriteUInt16LittleEndian(packet[PacketHeader.LengthOffset..], (ushort)packet.Length);
}
