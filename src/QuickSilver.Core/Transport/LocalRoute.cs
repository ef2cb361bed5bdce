using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport;

// Which addresses this machine has, and which of them the system sends from.
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

    /// <summary>
    /// The number of the interface with this name, which may be one of its alternative names ("ip link property add altname"). 0 if there
    /// is none, or the system does not say.
    /// </summary>
    public static int IndexOf(string name) => OperatingSystem.IsLinux() ? (int)LinuxCalls.if_nametoindex(name) : 0;

    /// <summary>Whether this is an address of the machine. True if the system does not say.</summary>
    public static bool Has(IPAddress address)
    {
        try
        {
            using var socket = new Socket(address.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
            socket.Bind(new IPEndPoint(address, 0));
            return true;
        }
        catch (SocketException refused)
        {
            return refused.SocketErrorCode != SocketError.AddressNotAvailable;
        }
    }
}
