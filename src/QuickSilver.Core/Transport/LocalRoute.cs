using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport;

// Which address of this machine the system sends from.
internal static class LocalRoute
{
    // Any: connecting a datagram socket looks up the route and sends nothing.
    private const int AnyPort = 9;

    /// <summary>The address from which the system reaches another one; null if it has no route.</summary>
    public static IPAddress? SourceFor(IPEndPoint remote)
    {
        try
        {
            using var socket = new Socket(remote.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
            socket.Connect(remote.Address, remote.Port == 0 ? AnyPort : remote.Port);
            return ((IPEndPoint)socket.LocalEndPoint!).Address;
        }
        catch (SocketException)
        {
            return null;
        }
    }
}
