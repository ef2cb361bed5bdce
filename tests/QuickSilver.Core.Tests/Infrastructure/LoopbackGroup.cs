using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Tests.Infrastructure;

// A multicast group that no other test uses: a random address and a port that was free a moment ago.
internal sealed record LoopbackGroup(IPAddress Address, int Port)
{
    public IPEndPoint EndPoint => new(Address, Port);

    public static LoopbackGroup Next()
    {
        using var probe = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        probe.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        var address = new IPAddress([239, 255, (byte)Random.Shared.Next(256), (byte)Random.Shared.Next(1, 255)]);
        return new LoopbackGroup(address, ((IPEndPoint)probe.LocalEndPoint!).Port);
    }
}
