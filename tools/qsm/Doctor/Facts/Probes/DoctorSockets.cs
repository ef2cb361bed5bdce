using System.Net;
using System.Net.Sockets;
using QuickSilver.Core.Transport;

namespace QuickSilver.Tool.Doctor.Facts.Probes;

// The group of doctors, which is apart from those of nodes, and the sockets that speak and listen there.
internal static class DoctorSockets
{
    public const int Port = 7403;

    private const int SocketLevel = 1;
    private const int ReuseAddress = 2;
    private static readonly IPEndPoint Group = new(IPAddress.Parse("239.255.74.3"), Port);
    private static readonly IPEndPoint GroupV6 = new(IPAddress.Parse("ff15::5153:ffff:4a03"), Port);

    /// <summary>The group on the interface with an address.</summary>
    public static IPEndPoint GroupOf(IPAddress local) => local.AddressFamily == AddressFamily.InterNetworkV6 ? GroupV6 : Group;

    public static IPEndPoint AnyOf(AddressFamily family) =>
        new(family == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Any : IPAddress.Any, 0);

    /// <summary>Bound to an address of this host; sends to groups by its interface.</summary>
    public static Socket OpenOwn(IPAddress local, int port, int timeToLive)
    {
        var by = new MulticastInterface(local);
        var socket = new Socket(by.Family, SocketType.Dgram, ProtocolType.Udp);
        try
        {
            socket.Bind(new IPEndPoint(local, port));
            socket.SetSocketOption(by.Options, SocketOptionName.MulticastInterface, by.Value);
            socket.SetSocketOption(by.Options, SocketOptionName.MulticastLoopback, true);
            socket.SetSocketOption(by.Options, SocketOptionName.MulticastTimeToLive, timeToLive);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Hears the group on the interface, beside other doctors of this host.</summary>
    public static Socket OpenGroup(IPAddress local)
    {
        var by = new MulticastInterface(local);
        var group = GroupOf(local);
        var socket = new Socket(by.Family, SocketType.Dgram, ProtocolType.Udp);
        try
        {
            if (OperatingSystem.IsLinux())
            {
                socket.SetRawSocketOption(SocketLevel, ReuseAddress, [1, 0, 0, 0]);
                socket.SetRawSocketOption(by.Level, by.MulticastAllOption, [0, 0, 0, 0]);
                socket.Bind(new IPEndPoint(by.Bindable(group.Address), group.Port));
            }
            else
            {
                socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
                socket.Bind(new IPEndPoint(by.Any, group.Port));
            }

            by.Join(socket, group.Address);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
