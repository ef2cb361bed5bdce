using System.Net.Sockets;

namespace QuickSilver.Core.Transport.Streams;

// Sockets of control streams, whose segments pass every path on which packets of 1,280 bytes do, the least of IPv6. Most systems learn that
// a path carries less than its interface from routers alone; where those say nothing (a tunnel, an overlay network), a stream stands still
// with its first large segment, and a node could not even join. Control messages are few, so small segments cost nothing that counts.
internal static class SmallSegments
{
    // Without the headers of IPv6 and TCP.
    private const int SegmentBytes = 1280 - 40 - 20;
    private const int TcpLevel = 6;
    private const int MaximumSegment = 2;

    /// <summary>Both ends send small segments if one of them limits its own: it notifies the other when they connect.</summary>
    public static Socket Open(AddressFamily family)
    {
        var socket = new Socket(family, SocketType.Stream, ProtocolType.Tcp);
        if (OperatingSystem.IsLinux())
        {
            try
            {
                socket.SetRawSocketOption(TcpLevel, MaximumSegment, BitConverter.GetBytes(SegmentBytes));
            }
            catch (SocketException)
            {
                // Refused, as in some sandboxes: the stream works where the path is as wide as the interface.
            }
        }

        return socket;
    }
}
