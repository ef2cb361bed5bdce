using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;

namespace QuickSilver.Core.Transport;

// Where a datagram socket stands: the interface by which it sends to groups, and the group that it has joined there.
//
// Intuition: the kernel keeps both by the interface's number, not by its address. An interface that is removed and made anew, as by
// a network manager, a driver or a container, has the same address and another number: what is sent goes nowhere, and nothing
// arrives. Application: both are said again now and then. To join where one is a member already is refused, so that costs one
// call and changes nothing; only a join that succeeds tells that the membership was lost.
internal sealed unsafe class InterfacePlace(Socket socket, IPAddress? group, IPAddress interfaceAddress)
{
    private const int IpLevel = 0;
    private const int MulticastInterface = 32;
    private const int AddMembership = 35;
    private const int DropMembership = 36;
    private const int AddressBytes = 4;
    // Stale memberships of the group, of interfaces that are gone; a socket has 20 memberships at most.
    private const int MostMemberships = 20;

    private readonly int _descriptor = (int)socket.Handle;
    private readonly byte[] _request = [.. (group ?? IPAddress.Any).GetAddressBytes(), .. interfaceAddress.GetAddressBytes()];

    /// <summary>True when a membership that was lost stands again.</summary>
    [SupportedOSPlatform("linux")]
    public bool Renew()
    {
        Set(MulticastInterface, _request.AsSpan(AddressBytes));
        if (group is null || !Set(AddMembership, _request))
        {
            return false;
        }

        // Now there are two, and to leave takes the newer one first.
        for (int i = 0; i < MostMemberships && Set(DropMembership, _request); i++)
        {
        }

        return Set(AddMembership, _request);
    }

    [SupportedOSPlatform("linux")]
    private bool Set(int option, ReadOnlySpan<byte> value)
    {
        fixed (byte* at = value)
        {
            return LinuxCalls.setsockopt(_descriptor, IpLevel, option, at, value.Length) == 0;
        }
    }
}
