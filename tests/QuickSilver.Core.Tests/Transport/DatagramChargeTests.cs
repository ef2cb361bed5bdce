using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Tests.Transport;

public sealed class DatagramChargeTests
{
    private const int SocketLevel = 1;
    private const int MemoryInfo = 55;
    private const int UdpLevel = 17;
    private const int SegmentOption = 103;

    [Theory]
    [InlineData(200)]
    [InlineData(576)]
    [InlineData(1000)]
    [InlineData(1191)]
    [InlineData(1213)]
    [InlineData(1310)]
    [InlineData(1424)]
    [InlineData(1472)]
    [InlineData(1985)]
    [InlineData(2047)]
    [InlineData(4094)]
    [InlineData(8187)]
    [InlineData(8188)]
    public void The_assumed_charge_of_a_datagram_that_waits_alone_is_the_systems(int bytes)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Linux's accounting.");
        int charged = Math.Max(ChargeOf(bytes, isRun: false), ChargeOf(bytes, isRun: true));
        // Kernels differ by some bytes of bookkeeping.
        Assert.InRange(DatagramCharge.Of(bytes), (int)(charged * 0.85), (int)(charged * 1.15));
    }

    [Theory]
    [InlineData(576)]
    [InlineData(1000)]
    [InlineData(1191)]
    [InlineData(1472)]
    [InlineData(1985)]
    [InlineData(2047)]
    [InlineData(4094)]
    [InlineData(8188)]
    [InlineData(65_507)]
    public void A_window_of_half_of_the_room_is_charged_four_fifths_of_the_buffer_at_most(int bytes)
    {
        const long Buffer = 16 << 20;
        long room = DatagramCharge.Room(Buffer, bytes);
        Assert.InRange(room, 1, Buffer);
        Assert.InRange((double)room / 2 / bytes * DatagramCharge.Of(bytes), 0, Buffer * 0.801);
    }

    [Fact]
    public void Packets_of_the_default_size_have_the_whole_buffer() => Assert.Equal(16 << 20, DatagramCharge.Room(16 << 20, 1472));

    // Sent one by one, or as a run that the system cuts because the receiver takes no runs.
    private static int ChargeOf(int bytes, bool isRun)
    {
        const int Datagrams = 7;
        using var receiver = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        receiver.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        SocketBuffers.AskReceive(receiver, 1 << 20);
        using var sender = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        if (isRun)
        {
            sender.SetRawSocketOption(UdpLevel, SegmentOption, BitConverter.GetBytes(bytes));
            sender.SendTo(new byte[Datagrams * bytes], receiver.LocalEndPoint!);
        }
        else
        {
            for (int i = 0; i < Datagrams; i++)
            {
                sender.SendTo(new byte[bytes], receiver.LocalEndPoint!);
            }
        }

        Span<byte> info = stackalloc byte[64];
        receiver.GetRawSocketOption(SocketLevel, MemoryInfo, info);
        return BitConverter.ToInt32(info) / Datagrams;
    }
}
