using System.Buffers.Binary;

namespace QuickSilver.Core.Wire;

// A data packet that is sent once for several streams of its sender, each into a view of another region (docs/wire-format.md). Its body is
// that of a data packet. After it comes a list that says which packet it is in which stream:
//
//   for each entry: u32 lower half of the region id, u32 view number, u32 sequence number
//   u16 entries in use; the others are 0
//   u16 entries
//
// The header has the upper half of the region ids; its view and sequence are 0. A member finds the entry of its region, and after that
// the packet counts as the data packet that the entry names. Senders and members keep it unchanged, and make that data packet of it when
// they send it to one region or member.
//
// What goes wrong: a list is read before anything is known of its sender. Its length is checked against that of the packet, and an entry is
// used only if it names an open view.
internal static class SharedPacket
{
    public const int EntryBytes = 12;

    private const int TailBytes = 4;
    private const ulong UpperHalf = 0xFFFF_FFFF_0000_0000;

    /// <summary>The bytes of a list with so many entries.</summary>
    public static int ListBytes(int entries) => (entries * EntryBytes) + TailBytes;

    /// <summary>How many entries a packet may have. Half of it remains for messages.</summary>
    public static int MostEntries(int packetBytes) => ((packetBytes - PacketHeader.Bytes) / 2 - TailBytes) / EntryBytes;

    /// <summary>What the ids of all regions in a list have in common.</summary>
    public static ulong UpperHalfOf(ulong region) => region & UpperHalf;

    /// <summary>Whether an entry can name a packet with this number.</summary>
    public static bool HasRoomFor(long number) => number <= uint.MaxValue;

    /// <summary>Reads the size of the list of a packet whose header is valid. False: it does not fit into the packet.</summary>
    public static bool TryReadList(ReadOnlySpan<byte> packet, out SharedList list)
    {
        list = default;
        var header = new PacketHeader(packet);
        int room = header.Length - PacketHeader.Bytes - header.HeadBytes;
        if (room < TailBytes)
        {
            return false;
        }

        int entries = BinaryPrimitives.ReadUInt16LittleEndian(packet[(header.Length - 2)..]);
        int used = BinaryPrimitives.ReadUInt16LittleEndian(packet[(header.Length - TailBytes)..]);
        if (used > entries || ListBytes(entries) > room || header.View != 0 || header.Sequence != 0)
        {
            return false;
        }

        list = new SharedList(header.Length - ListBytes(entries), used, entries);
        return true;
    }

    public static SharedEntry EntryAt(ReadOnlySpan<byte> packet, in SharedList list, int index)
    {
        var at = packet[(list.Offset + (index * EntryBytes))..];
        ulong region = new PacketHeader(packet).Region & UpperHalf;
        return new SharedEntry(
            region | BinaryPrimitives.ReadUInt32LittleEndian(at),
            BinaryPrimitives.ReadUInt32LittleEndian(at[4..]),
            BinaryPrimitives.ReadUInt32LittleEndian(at[8..]));
    }

    /// <summary>Writes an entry, after the header. All regions of a list have the same upper half of their ids.</summary>
    public static void WriteEntry(Span<byte> packet, in SharedList list, int index, in SharedEntry entry)
    {
        var at = packet[(list.Offset + (index * EntryBytes))..];
        BinaryPrimitives.WriteUInt32LittleEndian(at, (uint)entry.Region);
        BinaryPrimitives.WriteUInt32LittleEndian(at[4..], entry.View);
        BinaryPrimitives.WriteUInt32LittleEndian(at[8..], (uint)entry.Number);
    }

    /// <summary>
    /// Writes the size of the list and the upper half of its region ids, and clears the entries that are not used. The packet is sealed
    /// after that.
    /// </summary>
    public static void WriteTail(Span<byte> packet, in SharedList list, ulong region)
    {
        int used = list.Offset + (list.Used * EntryBytes);
        int tail = list.Offset + (list.Entries * EntryBytes);
        packet[used..tail].Clear();
        BinaryPrimitives.WriteUInt16LittleEndian(packet[tail..], (ushort)list.Used);
        BinaryPrimitives.WriteUInt16LittleEndian(packet[(tail + 2)..], (ushort)list.Entries);
        BinaryPrimitives.WriteUInt64LittleEndian(packet[PacketHeader.RegionOffset..], region & UpperHalf);
    }

    /// <summary>
    /// Makes the data packet of one stream of a copy that ends where the list begins. The packet is sealed after that.
    /// </summary>
    public static void MakeData(Span<byte> packet, in SharedEntry entry)
    {
        packet[PacketHeader.KindOffset] = (byte)PacketKind.Data;
        BinaryPrimitives.WriteUInt16LittleEndian(packet[PacketHeader.LengthOffset..], (ushort)packet.Length);
        BinaryPrimitives.WriteUInt64LittleEndian(packet[PacketHeader.RegionOffset..], entry.Region);
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.ViewOffset..], entry.View);
        BinaryPrimitives.WriteInt64LittleEndian(packet[PacketHeader.SequenceOffset..], entry.Number);
        PacketTemplate.AddFlags(packet, PacketFlags.Shared);
    }
}

// Which packet a shared packet is in one stream.
internal readonly record struct SharedEntry(ulong Region, uint View, long Number);

// Where the list of a shared packet begins, and how many of its entries are used.
internal readonly record struct SharedList(int Offset, int Used, int Entries);
