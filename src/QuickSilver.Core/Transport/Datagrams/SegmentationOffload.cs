using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Transport.Datagrams;

// Segmentation offload sends many datagrams with one call: the kernel, or the card, cuts a buffer into equal segments
// (UDP_SEGMENT), and the receiving side may hand over a run it could join again (UDP_GRO). It divides the cost of a
// datagram by some forty, which is why packets are made equal and sent in runs.
//
// What goes wrong: the segment size is a state of the socket, so it is set only when it changes. A device without
// checksum offload refuses a run with EIO, and one too large for the path with EINVAL; both come with the send, not with
// the probe, so the probe only says that the kernel knows the option. A run of a few bytes too many is not refused: see MaxRunBytes.
internal static class SegmentationOffload
{
    /// <summary>The bytes of the largest datagram over IPv4: 65,535 less the headers of IP and UDP.</summary>
    public const int MaxDatagramBytes = 65_507;

    /// <summary>The segments that every kernel with the option takes in one call.</summary>
    public const int LeastSegments = 64;

    // Linux takes twice as many from 6.9 on. They matter for packets of less than 1,023 bytes: larger ones end a run by their bytes.
    private const int MoreSegments = 128;

    // Linux passes on a run whole only if it has less than 65,536 bytes with all its headers, that of Ethernet included. It cuts a longer
    // one in software before any receiver sees it, and each of its segments costs a receive.
    private const int MaxWholeBytes = 65_535;
    private const int EthernetBytes = 14;
    private const int IPv4Bytes = 20;
    private const int IPv6Bytes = 40;
    private const int UdpBytes = 8;

    private const int UdpLevel = 17;
    private static readonly int SegmentOption = OperatingSystem.IsWindows() ? 2 : 103;
    private static readonly int CoalesceOption = OperatingSystem.IsWindows() ? 3 : 104;
    private static readonly Lazy<int> Segments = new(static () => TakesMoreSegments() ? MoreSegments : LeastSegments);

    /// <summary>The segments that this system takes in one call.</summary>
    public static int MaxSegments => Segments.Value;

    /// <summary>The bytes of the longest run that reaches its receivers whole: 65,493 over IPv4 and 65,473 over IPv6.</summary>
    public static int MaxRunBytes(AddressFamily family) =>
        MaxWholeBytes - EthernetBytes - (family == AddressFamily.InterNetworkV6 ? IPv6Bytes : IPv4Bytes) - UdpBytes;

    /// <summary>Whether the system cuts runs that this socket sends.</summary>
    public static bool CanSendRuns(Socket socket) =>
        IsOffered && TrySetSegmentBytes(socket, 1200) && TrySetSegmentBytes(socket, 0);

    /// <summary>Asks for coalesced receives; false where the system knows none.</summary>
    public static bool TryReceiveRuns(Socket socket) =>
        IsOffered && TrySet(socket, CoalesceOption, OperatingSystem.IsWindows() ? MaxDatagramBytes : 1);

    public static bool TrySetSegmentBytes(Socket socket, int segmentBytes) => TrySet(socket, SegmentOption, segmentBytes);

    /// <summary>Segments of the longest run that reaches its receivers whole. A segment that is longer than a run goes alone.</summary>
    public static int RunSegments(int segmentBytes, AddressFamily family) => Math.Max(1, MaxRunBytes(family) / segmentBytes);

    /// <summary>Bytes of the longest run of whole segments that one call takes.</summary>
    public static int RunBytes(int segmentBytes, int maxSegments, AddressFamily family) =>
        Math.Min(maxSegments, RunSegments(segmentBytes, family)) * segmentBytes;

    private static bool IsOffered => OperatingSystem.IsLinux() || OperatingSystem.IsWindows();

    // The limit is found by a send, not by an option. The socket sends to itself, so nothing leaves this process.
    private static bool TakesMoreSegments()
    {
        if (!OperatingSystem.IsLinux())
        {
            return false;
        }

        try
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp) { Blocking = false };
            socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            return TrySetSegmentBytes(socket, 1)
                && socket.SendTo(stackalloc byte[MoreSegments], SocketFlags.None, socket.LocalEndPoint!) == MoreSegments;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    private static bool TrySet(Socket socket, int option, int value)
    {
        try
        {
            socket.SetRawSocketOption(UdpLevel, option, MemoryMarshal.AsBytes(new ReadOnlySpan<int>(in value)));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
