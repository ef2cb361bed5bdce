using System.Net;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client;

namespace QuickSilver.Membership.Tests.Infrastructure;

// Says whatever it is told to, to all that discover and to who asks.
internal sealed class Stranger : IDatagramReceiver
{
    private static readonly DatagramAddress Group = new(new(new DiscoveryOptions().Group, new DiscoveryOptions().Port));
    private readonly IDatagramPort _port;

    public Stranger(FakeWorld world)
    {
        var environment = world.AddNode(77);
        Address = environment.LocalAddress;
        _port = environment.OpenPort(new DatagramPortOptions { Group = Group.EndPoint.Address, Port = Group.EndPoint.Port }, this);
    }

    public IPAddress Address { get; }

    public List<DiscoveryDatagram> Heard { get; } = [];

    public Func<DiscoveryDatagram, DiscoveryDatagram>? WhenAsked { get; set; }

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
                Send(WhenAsked(datagram), new DatagramAddress(datagram.EndPoint));
            }
        }
    }

    public void OnBatchEnd()
    {
    }

    private void Send(DiscoveryDatagram datagram, DatagramAddress to)
    {
        byte[] bytes = new byte[DiscoveryDatagram.MostBytes];
        int length = datagram.Write(bytes);
        _port.Send(bytes.AsSpan(0, length), length, to);
    }
}
