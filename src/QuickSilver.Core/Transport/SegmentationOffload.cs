using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Transport;

// Segmentation offload sends many datagrams with one call: the kernel, or the card, cuts a buffer into equal segments
// (UDP_SEGMENT), and the receiving side may hand over a run it could join again (UDP_GRO). It divides the cost of a
// datagram by some forty, which is why packets are made equal and sent in runs.
//
// What goes wrong: the segment size is a state of the socket, so it is set only when it changes. A device without
// checksum offload refuses a run with EIO, and one too large for the path with EINVAL; both come with the send, not with
// the probe, so the probe only says that the kernel knows the option.
internal static class SegmentationOffload
{
    // The kernel's own limit on segments per call; newer ones take 128, but the bytes of a datagram end a run before.
    public const int MaxSegments = 64;

    // 65,535 less the headers of IP and UDP: a run counts as one datagram until it is cut.
    public const int MaxRunBytes = 65_507;

    private const int UdpLevel = 17;
    private static readonly int SegmentOption = OperatingSystem.IsWindows() ? 2 : 103;
    private static readonly int CoalesceOption = OperatingSystem.IsWindows() ? 3 : 104;

    /// <summary>Whether the system cuts runs that this socket sends.</summary>
    public static bool CanSendRuns(Socket socket) =>
        IsOffered && TrySetSegmentBytes(socket, 1200) && TrySetSegmentBytes(socket, 0);

    /// <summary>Asks for coalesced receives; false where the system knows none.</summary>
    public static bool TryReceiveRuns(Socket socket) =>
        IsOffered && TrySet(socket, CoalesceOption, OperatingSystem.IsWindows() ? MaxRunBytes : 1);

    public static bool TrySetSegmentBytes(Socket socket, int segmentBytes) => TrySet(socket, SegmentOption, segmentBytes);

    /// <summary>Bytes of the longest run of whole segments that one call takes.</summary>
    public static int RunBytes(int segmentBytes, int maxSegments) =>
        Math.Max(1, Math.Min(maxSegments, MaxRunBytes / segmentBytes)) * segmentBytes;

    private static bool IsOffered => OperatingSystem.IsLinux() || OperatingSystem.IsWindows();

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
