using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace QuickSilver.Core.Transport;

// Where a datagram socket stands: the interface by which it sends to groups, and the group that it has joined there.
//
// Intuition: the kernel keeps both by the interface's number, not by its address. An interface that is removed and created again, as by
// a network manager, a driver or a container, has the same address and another number: what is sent goes nowhere, and nothing
// arrives. Application: both are said again from time to time. To join where one is a member already is refused, so that costs one
// call and changes nothing; only a join that succeeds shows that the membership was lost.
internal sealed unsafe class InterfacePlace(Socket socket, IPAddress? group, MulticastInterface place)
{
    // Stale memberships of the group, of interfaces that are gone; a socket has 20 memberships at most.
    private const int MostMemberships = 20;

    private readonly int _descriptor = (int)socket.Handle;
    private byte[]? _joined = group is null ? null : place.Membership(group);

    /// <summary>True when a membership that was lost stands again.</summary>
    [SupportedOSPlatform("linux")]
    public bool Renew()
    {
        Set(place.SendsByOption, place.Value);
        if (group is null)
        {
            return false;
        }

        byte[] wanted = place.Membership(group);
        if (!Set(place.JoinOption, wanted))
        {
            return false;
        }

        // Now there are two. IPv4 names them alike, and to leave takes the newer one first; IPv6 distinguishes them by their numbers.
        for (int i = 0; i < MostMemberships && Set(place.LeaveOption, _joined!); i++)
        {
        }

        _joined = wanted;
        Set(place.JoinOption, wanted);
        return true;
    }

    [SupportedOSPlatform("linux")]
    private bool Set(int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* at = value)
        {
            return LinuxCalls.setsockopt(_descriptor, place.Level, option, at, value.Length) == 0;
        }
    }
}
