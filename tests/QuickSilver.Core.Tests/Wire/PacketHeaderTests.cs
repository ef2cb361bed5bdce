using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Wire;

// One test per field of docs/wire-format.md, and each reason for which a packet is refused (F10, F18, T9).
public sealed class PacketHeaderTests
{
    private const ulong Cluster = 0x1122334455667788;
    private static readonly PacketTemplate Template = new(Cluster, 0x0102030405060708, 0x0A0B0C0D, 0x1112131415161718, 0x2A2B2C2D);

    [Fact]
    public void Version_is_the_first_byte() => Assert.Equal(3, Packet()[0]);

    [Fact]
    public void Kind_is_the_second_byte() => Assert.Equal((byte)PacketKind.Data, Packet()[1]);

    [Fact]
    public void Flags_are_two_bytes_at_2() => Assert.Equal(2, BinaryPrimitives.ReadUInt16LittleEndian(Packet().AsSpan(2)));

    [Fact]
    public void Length_is_two_bytes_at_4_and_counts_the_header() =>
        Assert.Equal(100, BinaryPrimitives.ReadUInt16LittleEndian(Packet().AsSpan(4)));

    [Fact]
    public void Head_bytes_are_two_bytes_at_6() => Assert.Equal(7, BinaryPrimitives.ReadUInt16LittleEndian(Packet().AsSpan(6)));

    [Fact]
    public void Cluster_is_eight_bytes_at_8() => Assert.Equal(Cluster, BinaryPrimitives.ReadUInt64LittleEndian(Packet().AsSpan(8)));

    [Fact]
    public void Sender_is_eight_bytes_at_16() =>
        Assert.Equal(0x0102030405060708UL, BinaryPrimitives.ReadUInt64LittleEndian(Packet().AsSpan(16)));

    [Fact]
    public void Incarnation_is_four_bytes_at_24() =>
        Assert.Equal(0x0A0B0C0DU, BinaryPrimitives.ReadUInt32LittleEndian(Packet().AsSpan(24)));

    [Fact]
    public void View_is_four_bytes_at_28() => Assert.Equal(0x2A2B2C2DU, BinaryPrimitives.ReadUInt32LittleEndian(Packet().AsSpan(28)));

    [Fact]
    public void Region_is_eight_bytes_at_32() =>
        Assert.Equal(0x1112131415161718UL, BinaryPrimitives.ReadUInt64LittleEndian(Packet().AsSpan(32)));

    [Fact]
    public void Sequence_is_eight_bytes_at_40() => Assert.Equal(4242, BinaryPrimitives.ReadInt64LittleEndian(Packet().AsSpan(40)));

    [Fact]
    public void Key_epoch_is_four_bytes_at_48_and_zero() =>
        Assert.Equal(0U, BinaryPrimitives.ReadUInt32LittleEndian(Packet().AsSpan(48)));

    [Fact]
    public void Checksum_is_four_bytes_at_52() =>
        Assert.Equal(PacketChecksum.Compute(Packet()), BinaryPrimitives.ReadUInt32LittleEndian(Packet().AsSpan(52)));

    [Fact]
    public void Head_distance_is_four_bytes_at_56() => Assert.Equal(3U, BinaryPrimitives.ReadUInt32LittleEndian(Packet().AsSpan(56)));

    [Fact]
    public void Stream_class_is_a_byte_at_60()
    {
        var packet = new byte[PacketHeader.Bytes];
        Template.Of(streamClass: 7).Write(packet, PacketKind.Data, PacketFlags.None, 1, 0, 0);

        Assert.Equal(7, packet[60]);
        Assert.Equal(7, new PacketHeader(packet).StreamClass);
        Assert.Equal(0, Packet()[60]);
    }

    [Fact]
    public void Tag_bytes_are_a_byte_at_61_and_zero() => Assert.Equal(0, Packet()[61]);

    [Fact]
    public void Reserved_is_two_zero_bytes_at_62() => Assert.Equal(0, BinaryPrimitives.ReadUInt16LittleEndian(Packet().AsSpan(62)));

    [Fact]
    public void Reading_gives_back_what_was_written()
    {
        var header = new PacketHeader(Packet());

        Assert.Equal(PacketKind.Data, header.Kind);
        Assert.Equal(PacketFlags.Final, header.Flags);
        Assert.Equal(100, header.Length);
        Assert.Equal(7, header.HeadBytes);
        Assert.Equal(4242, header.Sequence);
        Assert.Equal(3, header.HeadDistance);
        Assert.Equal(100 - PacketHeader.Bytes, header.Body.Length);
        Assert.Equal(DropReason.None, PacketHeader.Validate(Packet(), Cluster));
    }

    [Fact]
    public void A_packet_followed_by_others_is_valid_by_its_own_length()
    {
        byte[] run = [.. Packet(), .. Packet()];

        Assert.Equal(DropReason.None, PacketHeader.Validate(run, Cluster));
    }

    [Fact]
    public void Every_flipped_bit_is_noticed()
    {
        var good = Packet();
        for (int bit = 0; bit < good.Length * 8; bit++)
        {
            var bad = (byte[])good.Clone();
            bad[bit / 8] ^= (byte)(1 << (bit % 8));

            Assert.NotEqual(DropReason.None, PacketHeader.Validate(bad, Cluster));
        }
    }

    [Fact]
    public void Every_truncation_is_noticed()
    {
        var good = Packet();
        for (int length = 0; length < good.Length; length++)
        {
            Assert.Equal(DropReason.Truncated, PacketHeader.Validate(good.AsSpan(0, length), Cluster));
        }
    }

    [Fact]
    public void Random_bytes_are_refused()
    {
        var random = new Random(1);
        var bytes = new byte[2000];
        for (int i = 0; i < 20_000; i++)
        {
            random.NextBytes(bytes);
            bytes[0] = PacketHeader.CurrentVersion;

            Assert.NotEqual(DropReason.None, PacketHeader.Validate(bytes.AsSpan(0, random.Next(bytes.Length)), Cluster));
        }
    }

    [Theory]
    [InlineData(0, 9, DropReason.UnknownVersion)]
    [InlineData(1, 0, DropReason.UnknownKind)]
    [InlineData(1, 200, DropReason.UnknownKind)]
    [InlineData(8, 0, DropReason.ForeignCluster)]
    [InlineData(6, 99, DropReason.Malformed)]
    [InlineData(4, 10, DropReason.Malformed)]
    [InlineData(4, 101, DropReason.Truncated)]
    [InlineData(47, 0x80, DropReason.Malformed)]
    [InlineData(48, 1, DropReason.UnknownKey)]
    [InlineData(61, 16, DropReason.UnknownKey)]
    public void A_wrong_field_is_refused_by_its_reason(int offset, byte value, object reason)
    {
        var packet = Packet();
        packet[offset] = value;
        BinaryPrimitives.WriteUInt32LittleEndian(packet.AsSpan(PacketHeader.ChecksumOffset), PacketChecksum.Compute(packet));

        Assert.Equal((DropReason)reason, PacketHeader.Validate(packet, Cluster));
    }

    [Theory]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(100)]
    [InlineData(1471)]
    [InlineData(1472)]
    public void The_checksum_ignores_its_own_field_and_nothing_else(int length)
    {
        var packet = new byte[length];
        new Random(length).NextBytes(packet);
        uint sum = PacketChecksum.Compute(packet);
        BinaryPrimitives.WriteUInt32LittleEndian(packet.AsSpan(PacketHeader.ChecksumOffset), 0xDEADBEEF);

        Assert.Equal(sum, PacketChecksum.Compute(packet));
        for (int i = 0; i < length; i++)
        {
            if (i is >= PacketHeader.ChecksumOffset and < PacketHeader.ChecksumOffset + 4)
            {
                continue;
            }

            packet[i] ^= 0x10;
            Assert.NotEqual(sum, PacketChecksum.Compute(packet));
            packet[i] ^= 0x10;
        }
    }

    private static byte[] Packet()
    {
        var packet = new byte[100];
        for (int i = PacketHeader.Bytes; i < packet.Length; i++)
        {
            packet[i] = (byte)i;
        }

        Template.Write(packet, PacketKind.Data, PacketFlags.Final, 4242, headBytes: 7, headDistance: 3);
        PacketTemplate.Seal(packet);
        return packet;
    }
}
