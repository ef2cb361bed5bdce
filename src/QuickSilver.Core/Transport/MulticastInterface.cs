using System.Globalization;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace QuickSilver.Core.Transport;

// The interface with an address, as socket options name it: IPv4 by the address, IPv6 by a number.
//
// The number of an IPv6 interface is looked up by its address. A link-local address may be on several interfaces, so it comes with its
// number (the scope). An interface that is created again has another number, which Refresh finds.
internal sealed class MulticastInterface
{
    private const int IpLevel = 0;
    private const int Ipv6Level = 41;
    private const string Ipv6Addresses = "/proc/net/if_inet6";

    private readonly IPAddress _address;
    private int _index;

    public MulticastInterface(IPAddress address)
    {
        _address = address;
        IsIpv6 = address.AddressFamily == AddressFamily.InterNetworkV6;
        Refresh();
    }

    public IPAddress Address => _address;

    public bool IsIpv6 { get; }

    public AddressFamily Family => _address.AddressFamily;

    public SocketOptionLevel Options => IsIpv6 ? SocketOptionLevel.IPv6 : SocketOptionLevel.IP;

    /// <summary>The level of options without a managed name.</summary>
    public int Level => IsIpv6 ? Ipv6Level : IpLevel;

    public int MulticastAllOption => IsIpv6 ? 29 : 49;

    public int ReceiveErrorsOption => IsIpv6 ? 25 : 11;

    public int MtuDiscoveryOption => IsIpv6 ? 23 : 10;

    public int SendsByOption => IsIpv6 ? 17 : 32;

    public int JoinOption => IsIpv6 ? 20 : 35;

    public int LeaveOption => IsIpv6 ? 21 : 36;

    /// <summary>The address that stands for all: a socket that is bound to it gets what comes to any.</summary>
    public IPAddress Any => IsIpv6 ? IPAddress.IPv6Any : IPAddress.Any;

    /// <summary>The interface as the value of an option.</summary>
    public byte[] Value => IsIpv6 ? BitConverter.GetBytes(_index) : _address.GetAddressBytes();

    /// <summary>A request to join or leave a group on the interface.</summary>
    public byte[] Membership(IPAddress group) => [.. group.GetAddressBytes(), .. Value];

    /// <summary>A group's address as a socket binds it: one of IPv6 may be valid on one link only.</summary>
    public IPAddress Bindable(IPAddress group) => IsIpv6 ? new IPAddress(group.GetAddressBytes(), _index) : group;

    public void Join(Socket socket, IPAddress group) => socket.SetSocketOption(
        Options, SocketOptionName.AddMembership, IsIpv6 ? new IPv6MulticastOption(group, _index) : new MulticastOption(group, _address));

    /// <summary>Looks the number up again. It stays while the address is on no interface.</summary>
    public void Refresh()
    {
        if (IsIpv6)
        {
            int found = _address.ScopeId != 0 ? (int)_address.ScopeId : IndexOf(_address);
            _index = found != 0 ? found : _index;
        }
    }

    private static int IndexOf(IPAddress address)
    {
        try
        {
            return OperatingSystem.IsLinux() && File.Exists(Ipv6Addresses) ? Listed(address) : Reported(address);
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException or NetworkInformationException)
        {
            return 0;
        }
    }

    // fe80000000000000021122fffe334455 02 40 20 80     eth0
    private static int Listed(IPAddress address)
    {
        string wanted = Convert.ToHexStringLower(address.GetAddressBytes());
        foreach (string line in File.ReadLines(Ipv6Addresses))
        {
            string[] columns = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (columns is [var one, var index, ..] && one == wanted)
            {
                return int.Parse(index, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
            }
        }

        return 0;
    }

    private static int Reported(IPAddress address) =>
        NetworkInterface.GetAllNetworkInterfaces()
            .Select(static one => one.GetIPProperties())
            .Where(one => one.UnicastAddresses.Any(unicast => unicast.Address.Equals(address)))
            .Select(static one => one.GetIPv6Properties().Index)
            .FirstOrDefault();
}
