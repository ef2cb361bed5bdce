using QuickSilver.Multicast.Receiving.Ports;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Receiving;

// How many bytes of one sender may wait at a member: in the receive buffer of a socket, or in packet memory. All senders share both.
internal struct SenderRoom
{
    // Twice the window of a sender that knows no receive buffer size.
    private const long UnicastRoomPackets = 4096;

    // Null until there are several senders.
    private SenderShares? _shares;

    public long Of(ReceivingParts parts, RegionPort? port, List<InboundStream> streams)
    {
        long socket = port?.RoomBytes ?? UnicastRoomPackets * parts.Node.Options.PacketBytes;
        if (parts.Node.Options.SendersShareBuffers && streams.Count > 1)
        {
            _shares ??= new SenderShares();
            _shares.Look(streams, parts.Node.Environment.Now);
            socket = _shares.ShareOf(socket);
        }

        return Math.Min(socket, parts.Memory.BytesPerStream * 2 / SendWindow.RepairWindows);
    }
}
