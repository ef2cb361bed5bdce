using QuickSilver.Core.Wire;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Network;

// What the network must know of the protocol to break it where it hurts. What has no packet's length is a datagram of discovery,
// of which only the first bytes, which say what it is, are changed.
internal static class ForeignDatagram
{
    public static bool IsPull(ReadOnlySpan<byte> datagram) =>
        datagram.Length > PacketHeader.KindOffset
        && datagram[PacketHeader.VersionOffset] == PacketHeader.CurrentVersion
        && datagram[PacketHeader.KindOffset] == (byte)PacketKind.Pull;

    public static void Make(Span<byte> datagram, SeededRandom random)
    {
        if (datagram.Length <= PacketHeader.KindOffset)
        {
            return;
        }

        if (random.Chance(0.5))
        {
            datagram[PacketHeader.VersionOffset] = (byte)(PacketHeader.CurrentVersion + 1 + random.Below(3));
        }
        else
        {
            datagram[PacketHeader.KindOffset] = (byte)(PacketKinds.Count + random.Below(256 - PacketKinds.Count));
        }

        if (datagram.Length >= PacketHeader.Bytes)
        {
            PacketTemplate.Seal(datagram);
        }
    }
}
