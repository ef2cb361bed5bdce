using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Processes.Tests.Campaigns.Outsider;

// Answers each question of discovery, of any other process, with lies: that the best of all hosts is the outsider's service, a port that
// refuses, and one that takes connections and says nothing. Offsets are those of docs/wire-format.md.
internal sealed class DiscoveryLiar : IDisposable
{
    private const int DatagramBytes = 64;
    private const int KindAt = 4;
    private const int ConfigurationAt = 24;
    private const int HostAt = 32;
    private const int AddressAt = 40;
    private const int PortAt = 44;
    private const int MembersAt = 48;
    private const byte Question = 1;
    private const byte Answer = 2;
    private const int FirstClosedPort = 20_000;
    private const int ClosedPorts = 1_000;
    private static readonly IPEndPoint Group = new(IPAddress.Parse("239.255.74.2"), 7402);
    private readonly IPAddress _own;
    private readonly int _servicePort;
    private readonly Socket _socket;
    private readonly Socket _silent;
    private readonly Thread _thread;
    private volatile bool _isOver;
    private int _answers;

    public DiscoveryLiar(QsmNetwork network, int servicePort)
    {
        (_own, _servicePort) = (network.Outsider, servicePort);
        (_socket, _silent) = network.Namespaces.Run(network.Node, () => (
            new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp),
            new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)));
        _socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
        _socket.ReceiveTimeout = 100;
        _socket.Bind(Group);
        _socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.AddMembership, new MulticastOption(Group.Address, _own));
        _silent.Bind(new IPEndPoint(_own, 0));
        _silent.Listen(512);
        _thread = new Thread(Run) { IsBackground = true, Name = nameof(DiscoveryLiar) };
        _thread.Start();
    }

    public int Answers => Volatile.Read(ref _answers);

    public void Dispose()
    {
        _isOver = true;
        _thread.Join();
        _socket.Dispose();
        _silent.Dispose();
    }

    private void Run()
    {
        byte[] bytes = new byte[2048];
        while (!_isOver)
        {
            try
            {
                int length = _socket.Receive(bytes);
                if (length == DatagramBytes && bytes[KindAt] == Question)
                {
                    Lie(bytes.AsSpan(0, length));
                }
            }
            catch (SocketException)
            {
                // Nothing came, or nothing receives the answer.
            }
        }
    }

    private void Lie(ReadOnlySpan<byte> question)
    {
        var asker = new IPEndPoint(
            new IPAddress(question.Slice(AddressAt, 4)), BinaryPrimitives.ReadUInt16LittleEndian(question[PortAt..]));
        if (asker.Address.Equals(_own))
        {
            return;
        }

        Span<byte> answer = stackalloc byte[DatagramBytes];
        question.CopyTo(answer);
        answer[KindAt] = Answer;
        BinaryPrimitives.WriteInt64LittleEndian(answer[ConfigurationAt..], long.MaxValue);
        BinaryPrimitives.WriteUInt64LittleEndian(answer[HostAt..], ulong.MaxValue);
        BinaryPrimitives.WriteInt32LittleEndian(answer[MembersAt..], int.MaxValue);
        _own.TryWriteBytes(answer[AddressAt..], out _);
        foreach (int port in (int[])[_servicePort, FirstClosedPort + _answers % ClosedPorts, ((IPEndPoint)_silent.LocalEndPoint!).Port])
        {
            BinaryPrimitives.WriteUInt16LittleEndian(answer[PortAt..], (ushort)port);
            _socket.SendTo(answer, asker);
            Interlocked.Increment(ref _answers);
        }
    }
}
