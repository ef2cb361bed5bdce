using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Tool.Doctor.Facts;

// The group of doctors, which is apart from those of nodes, and the sockets that speak and listen there.
internal static class DoctorSockets
{
    public static readonly IPEndPoint Group = new(IPAddress.Parse("239.255.74.3"), 7403);

    private const int SocketLevel = 1;
    private const int ReuseAddress = 2;
    private const int IpLevel = 0;
    private const int MulticastAll = 49;

    /// <summary>Bound to an address of this host; sends to groups by its interface.</summary>
    public static Socket OpenOwn(IPAddress local, int port, int timeToLive)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        try
        {
            socket.Bind(new IPEndPoint(local, port));
            socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastInterface, local.GetAddressBytes());
            socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastLoopback, true);
            socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastTimeToLive, timeToLive);
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
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        try
        {
            if (OperatingSystem.IsLinux())
            {
                socket.SetRawSocketOption(SocketLevel, ReuseAddress, [1, 0, 0, 0]);
                socket.SetRawSocketOption(IpLevel, MulticastAll, [0, 0, 0, 0]);
                socket.Bind(Group);
            }
            else
            {
                socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
                socket.Bind(new IPEndPoint(IPAddress.Any, Group.Port));
            }

            socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.AddMembership, new MulticastOption(Group.Address, local));
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
