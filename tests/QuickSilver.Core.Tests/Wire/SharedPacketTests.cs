using System.Buffers.Binary;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Wire;

public sealed class SharedPacketTests
{
    private const ulong Upper = 0x0000_0007_0000_0000;
    private const int BodyBytes = 40;
    private const int ListAt = PacketHeader.Bytes + BodyBytes;
    private static readonly PacketTemplate Template = new(1, 2, 3, 0, 0, streamClass: 1);

    [Fact]
    public void Any_list_is_read_as_it_was_written()
    {
        Prop.ForAll(
            Lists(),
            entries =>
            {
                var packet = Write(entries, spare: entries.Length % 5);
                return PacketHeader.Validate(packet, 1) == DropReason.None
                    && SharedPacket.TryReadList(packet, out var list)
                    && (list.Offset, list.Used) == (ListAt, entries.Length)
                    && Enumerable.Range(0, list.Used).All(i => SharedPacket.EntryAt(packet, list, i) == entries[i]);
            }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void A_copy_without_the_list_becomes_the_data_packet_of_any_entry()
    {
        Prop.ForAll(
            Lists(),
            entries =>
            {
                var packet = Write(entries, spare: 1);
                return entries.All(entry =>
                {
                    var copy = packet[..ListAt];
                    SharedPacket.MakeData(copy, entry);
                    PacketTemplate.Seal(copy);
                    var header = new PacketHeader(copy);
                    return PacketHeader.Validate(copy, 1) == DropReason.None
                        && header.Kind == PacketKind.Data && header.Flags == (PacketFlags.Shared | PacketFlags.AckWanted)
                        && (header.Region, header.View, header.Sequence) == (entry.Region, entry.View, entry.Number)
                        && (header.Length, header.HeadBytes, header.HeadDistance, header.StreamClass) == (ListAt, 11, 5L, (byte)1)
                        && header.Body.SequenceEqual(packet.AsSpan(PacketHeader.Bytes, BodyBytes));
                });
            }).QuickCheckThrowOnFailure();
    }

    // Whatever an attacker writes: reading ends, and touches nothing outside of the packet.
    [Fact]
    public void Any_bytes_are_refused_or_give_a_list_within_the_packet()
    {
        Prop.ForAll(
            Gen.Choose(0, 255).Select(number => (byte)number).ArrayOf().ToArbitrary(),
            body =>
            {
                var packet = new byte[PacketHeader.Bytes + body.Length];
                Template.Write(packet, PacketKind.Shared, PacketFlags.None, 0, body.Length / 3, 0);
                body.CopyTo(packet, PacketHeader.Bytes);
                PacketTemplate.Seal(packet);
                if (!SharedPacket.TryReadList(packet, out var list))
                {
                    return true;
                }

                for (int i = 0; i < list.Used; i++)
                {
                    SharedPacket.EntryAt(packet, list, i);
                }

                return list.Used <= list.Entries
                    && list.Offset >= PacketHeader.Bytes + (body.Length / 3)
                    && list.Offset + SharedPacket.ListBytes(list.Entries) == packet.Length;
            }).QuickCheckThrowOnFailure();
    }

    [Theory]
    [InlineData(2, 1)]
    [InlineData(1, 200)]
    [InlineData(ushort.MaxValue, ushort.MaxValue)]
    public void A_list_that_is_longer_than_its_packet_or_uses_more_entries_than_it_has_is_refused(int used, int entries)
    {
        var packet = Write([new SharedEntry(Upper | 1, 1, 1)], spare: 0);
        BinaryPrimitives.WriteUInt16LittleEndian(packet.AsSpan(packet.Length - 4), (ushort)used);
        BinaryPrimitives.WriteUInt16LittleEndian(packet.AsSpan(packet.Length - 2), (ushort)entries);
        PacketTemplate.Seal(packet);

        Assert.False(SharedPacket.TryReadList(packet, out _));
    }

    [Fact]
    public void A_list_leaves_half_of_the_packet_to_messages()
    {
        Assert.Equal(58, SharedPacket.MostEntries(1472));
        Assert.Equal(21, SharedPacket.MostEntries(576));
        foreach (int packetBytes in new[] { 576, 1472, 8972, 65_507 })
        {
            int list = SharedPacket.ListBytes(SharedPacket.MostEntries(packetBytes));
            Assert.InRange(list, 1, (packetBytes - PacketHeader.Bytes) / 2);
        }
    }

    private static byte[] Write(SharedEntry[] entries, int spare)
    {
        var list = new SharedList(ListAt, entries.Length, entries.Length + spare);
        var packet = new byte[ListAt + SharedPacket.ListBytes(list.Entries)];
        Array.Fill(packet, (byte)0xAB);
        Template.Write(packet, PacketKind.Shared, PacketFlags.AckWanted, 0, headBytes: 11, headDistance: 5);
        for (int i = 0; i < entries.Length; i++)
        {
            SharedPacket.WriteEntry(packet, list, i, entries[i]);
        }

        SharedPacket.WriteTail(packet, list, Upper | 99);
        PacketTemplate.Seal(packet);
        return packet;
    }

    private static Arbitrary<SharedEntry[]> Lists()
    {
        var entry = from region in Gen.Choose(0, int.MaxValue)
                    from view in Gen.Choose(0, int.MaxValue)
                    from number in Gen.Choose(0, int.MaxValue)
                    select new SharedEntry(Upper | (uint)region, (uint)view, number * 2L);
        return entry.ArrayOf().ToArbitrary();
    }
}
