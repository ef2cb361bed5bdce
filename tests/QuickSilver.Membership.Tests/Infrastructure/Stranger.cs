using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Discovery;

namespace QuickSilver.Membership.Tests.Infrastructure;

// Says whatever it is asked to say, to all that discover and to a node that asks.
internal sealed class Stranger : IDatagramReceiver
{
    private static readonly DatagramAddress Group = new(new(new DiscoveryOptions().Group, new DiscoveryOptions().Port));
    private readonly FakeEnvironment _environment;
    private readonly IDatagramPort _port;

    public Stranger(FakeWorld world)
    {
        _environment = world.AddNode(77);
        Address = _environment.LocalAddress;
        _port = _environment.OpenPort(new DatagramPortOptions { Group = Group.EndPoint.Address, Port = Group.EndPoint.Port }, this);
    }

    public IPAddress Address { get; }

    public List<DiscoveryDatagram> Heard { get; } = [];

    public Func<DiscoveryDatagram, DiscoveryDatagram>? WhenAsked { get; set; }

    /// <summary>How many answers each question gets.</summary>
    public int Answers { get; set; } = 1;

    public void Send(Func<DiscoveryKind, DiscoveryDatagram> say)
    {
        foreach (var kind in Enum.GetValues<DiscoveryKind>())
        {
            Send(say(kind), Group);
        }
    }

    public bool IsControl(ReadOnlySpan<byte> firstBytes) => true;

    public void OnRun(in ReceivedRun run)
    {
        if (DiscoveryDatagram.TryRead(run.Span, out var datagram))
        {
            Heard.Add(datagram);
            if (WhenAsked is not null && datagram.Kind == DiscoveryKind.Question)
            {
                for (int i = 0; i < Answers; i++)
                {
                    Send(WhenAsked(datagram), new DatagramAddress(datagram.EndPoint));
                }
            }
        }
    }

    /// <summary>Takes connections at a port of its own and says nothing.</summary>
    public void ListenInSilence(int port) => _environment.Listen(new IPEndPoint(Address, port), new TarPit());

    public void OnBatchEnd()
    {
    }

    private void Send(DiscoveryDatagram datagram, DatagramAddress to)
    {
        byte[] bytes = new byte[DiscoveryDatagram.MostBytes];
        int length = datagram.Write(bytes);
        _port.Send(bytes.AsSpan(0, length), length, to);
    }

    private sealed class TarPit : IControlAcceptor, IControlStreamHandler
    {
        public IControlStreamHandler OnAccept(IControlStream stream) => this;

        public void OnRefused(IPEndPoint remote, string reason, StreamRefusal kind)
        {
        }

        public void OnConnected(IControlStream stream)
        {
        }

        public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes) => bytes.Length;

        public void OnClosed(IControlStream stream, string reason)
        {
        }
    }
}
