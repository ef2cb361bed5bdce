using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.LabTests;

// A datagram socket of the test itself, opened inside a node's namespace. Datagrams carry a number and a pattern made
// from it, so that a receiver sees damage.
internal sealed class LabSocket : IDisposable
{
    private const int SolSocket = 1;
    private const int ForceReceiveBuffer = 33;
    private const int UdpLevel = 17;
    private const int UdpSegment = 103;
    private static readonly IPAddress Group = IPAddress.Parse("239.199.1.1");
    private readonly Socket _socket;
    private readonly byte[] _buffer = new byte[65_536];

    public LabSocket(NetworkNamespaces network, int node, int port = 0)
    {
        _socket = network.Run(node, () => new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp));
        _socket.SetRawSocketOption(SolSocket, ForceReceiveBuffer, BitConverter.GetBytes(64 << 20));
        _socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastInterface, network.Address(node).GetAddressBytes());
        _socket.Bind(new IPEndPoint(IPAddress.Any, port));
        _socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.AddMembership, new MulticastOption(Group, network.Address(node)));
        _socket.MulticastLoopback = false;
        _socket.ReceiveTimeout = 20_000;
        Port = ((IPEndPoint)_socket.LocalEndPoint!).Port;
        Address = new IPEndPoint(network.Address(node), Port);
    }

    public int Port { get; }

    public IPEndPoint Address { get; }

    public IPEndPoint GroupAddress => new(Group, Port);

    public static int NumberOf(ReadOnlySpan<byte> datagram) => BinaryPrimitives.ReadInt32LittleEndian(datagram);

    public void Send(int number, EndPoint to, int bytes = 64) => _socket.SendTo(Datagram(number, bytes), to);

    /// <summary>Hands a run of equal datagrams to the kernel in one call, as segmentation offload does.</summary>
    public void SendRun(int first, int count, int bytes, EndPoint to)
    {
        _socket.SetRawSocketOption(UdpLevel, UdpSegment, BitConverter.GetBytes(bytes));
        _socket.SendTo(Enumerable.Range(first, count).SelectMany(n => Datagram(n, bytes)).ToArray(), to);
        _socket.SetRawSocketOption(UdpLevel, UdpSegment, BitConverter.GetBytes(0));
    }

    /// <summary>The number of the next datagram; fails when it was damaged, or when none comes.</summary>
    public int Receive(int bytes = 64)
    {
        var length = _socket.Receive(_buffer);
        var number = NumberOf(_buffer);
        Assert.Equal(Datagram(number, bytes), _buffer[..length]);
        return number;
    }

    /// <summary>All numbers up to the marker, which must come last.</summary>
    public List<int> ReceiveUntil(int marker, int bytes = 64)
    {
        var numbers = new List<int>();
        for (var number = Receive(bytes); number != marker; number = Receive(bytes))
        {
            numbers.Add(number);
        }

        return numbers;
    }

    public void Dispose() => _socket.Dispose();

    private static byte[] Datagram(int number, int bytes)
    {
        var datagram = new byte[bytes];
        BinaryPrimitives.WriteInt32LittleEndian(datagram, number);
        for (var i = 4; i < bytes; i++)
        {
            datagram[i] = (byte)((number * 31) + i);
        }

        return datagram;
    }
}
