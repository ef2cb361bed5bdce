using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Tests.Transport;

public sealed class SmallSegmentsTests
{
    private const int TcpLevel = 6;
    private const int MaximumSegment = 2;

    [Theory]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void Both_ends_send_small_segments_if_one_of_them_wants_to(bool listens, bool connects)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "the option is set on Linux only");
        using var listener = Open(listens);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        using var connected = Open(connects);
        connected.Connect(listener.LocalEndPoint!);
        using var accepted = listener.Accept();
        Assert.InRange(SegmentBytesOf(connected), 500, 1220);
        Assert.InRange(SegmentBytesOf(accepted), 500, 1220);
    }

    private static Socket Open(bool isSmall) => isSmall
        ? SmallSegments.Open(AddressFamily.InterNetwork)
        : new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    private static int SegmentBytesOf(Socket socket)
    {
        Span<byte> value = stackalloc byte[sizeof(int)];
        socket.GetRawSocketOption(TcpLevel, MaximumSegment, value);
        return BitConverter.ToInt32(value);
    }
}
