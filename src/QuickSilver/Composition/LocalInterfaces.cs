using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using QuickSilver.Core.Transport;

namespace QuickSilver.Composition;

// An interface of this machine with its addresses, those that a node prefers first (AddressRank).
internal sealed record LocalInterface(string Name, IReadOnlyList<IPAddress> Addresses)
{
    // Those without a subnet, of which the first is not one if there are others: floating addresses, which may move to another machine.
    public IReadOnlyList<IPAddress> Floating { get; init; } = [];

    // The number that the system gave it; 0: not known.
    public int Index { get; init; }

    public bool IsUp { get; init; } = true;

    public bool CarriesMulticast { get; init; } = true;

    public bool HasGateway { get; init; }

    public bool IsLoopback => Addresses.Any(IPAddress.IsLoopback);

    public override string ToString() =>
        $"{Name} ({(Addresses.Count == 0 ? "no address" : string.Join(", ", Addresses))}{(IsUp ? "" : ", down")})";
}

// Which address of an interface a node prefers. Of IPv4 before IPv6. One of a subnet before one that stands for itself (a prefix of 32 or
// 128), as that of a cluster manager or a load balancer does, which moves from one machine to another. At last those that are valid on the
// link only, which the system takes where nothing gives it another: 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291, section 2.5.6).
internal enum AddressRank
{
    Subnet4,
    Floating4,
    Subnet6,
    Floating6,
    Link4,
    Link6,
}

// What the system reports about the interfaces of this machine.
internal static class LocalInterfaces
{
    private const int Bits4 = 32;
    private const int Bits6 = 128;
    private static readonly IPNetwork LinkNetwork = IPNetwork.Parse("169.254.0.0/16");

    /// <exception cref="QuickSilverOptionsException">
    /// The interface is the loopback one, and the service is not at a loopback address, or one is of IPv4 and the other of IPv6.
    /// </exception>
    public static void CheckReach(IPAddress address, IPEndPoint service)
    {
        if (address.AddressFamily != service.AddressFamily)
        {
            throw new QuickSilverOptionsException(
                [$"The option {nameof(QuickSilverOptions.Interface)} is the address {address}, but the option "
                 + $"{MembershipOptions.ServersKey} resolves to {service}. A node and its service use addresses of one "
                 + "kind: IPv4 or IPv6."]);
        }

        // Each member would resolve the loopback address to itself and wait for this node.
        if (IPAddress.IsLoopback(address) && !IPAddress.IsLoopback(service.Address))
        {
            throw new QuickSilverOptionsException(
                [$"The option {nameof(QuickSilverOptions.Interface)} is the loopback address {address}, but the option "
                 + $"{MembershipOptions.ServersKey} resolves to {service}. Members on other machines cannot reach this "
                 + $"node. Use an address that they can reach{Candidates()}."]);
        }
    }

    /// <summary>How a node ranks an address with so many bits of prefix.</summary>
    public static AddressRank RankOf(IPAddress address, int prefix) => address.AddressFamily == AddressFamily.InterNetwork
        ? IsLink4(address) ? AddressRank.Link4 : prefix == Bits4 ? AddressRank.Floating4 : AddressRank.Subnet4
        : address.IsIPv6LinkLocal ? AddressRank.Link6 : prefix == Bits6 ? AddressRank.Floating6 : AddressRank.Subnet6;

    public static bool IsLink4(IPAddress address) => LinkNetwork.Contains(address);

    /// <summary>Null when the system does not report its interfaces. Then opening the sockets fails.</summary>
    public static IReadOnlyList<LocalInterface>? Read()
    {
        try
        {
            return [.. NetworkInterface.GetAllNetworkInterfaces().Select(Read)];
        }
        catch (Exception exception) when (exception is NetworkInformationException or PlatformNotSupportedException)
        {
            return null;
        }
    }

    private static LocalInterface Read(NetworkInterface one)
    {
        var properties = one.GetIPProperties();
        var ranked = properties.UnicastAddresses
            .Where(static unicast => unicast.Address.AddressFamily is AddressFamily.InterNetwork or AddressFamily.InterNetworkV6)
            .Select(static unicast => (unicast.Address, Rank: RankOf(unicast.Address, unicast.PrefixLength)))
            .OrderBy(static ranked => ranked.Rank)
            .ToList();
        return new LocalInterface(one.Name, [.. ranked.Select(static one => one.Address)])
        {
            Floating =
            [
                .. ranked.Where(static one => one.Rank is AddressRank.Floating4 or AddressRank.Floating6).Select(static one => one.Address),
            ],
            Index = LocalRoute.IndexOf(one.Name),
            // Others than these, such as unknown for the loopback interface, do not mean that it is down.
            IsUp = one.OperationalStatus
                is not (OperationalStatus.Down or OperationalStatus.NotPresent or OperationalStatus.LowerLayerDown),
            CarriesMulticast = one.SupportsMulticast,
            HasGateway = properties.GatewayAddresses.Any(
                static gateway => !gateway.Address.Equals(IPAddress.Any) && !gateway.Address.Equals(IPAddress.IPv6Any)),
        };
    }

    private static string Candidates() => Read()?.SelectMany(static one => one.Addresses)
        .Where(static one => !IPAddress.IsLoopback(one))
        .ToArray() is { Length: > 0 } others
            ? $", such as {string.Join(" or ", (IEnumerable<IPAddress>)others)}"
            : "";
}
