using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace QuickSilver.Composition;

// An interface of this machine with its addresses: those of IPv4, those of IPv6, and at last those that are valid on its link only, each in
// the order of the system.
internal sealed record LocalInterface(string Name, IReadOnlyList<IPAddress> Addresses)
{
    public bool IsUp { get; init; } = true;

    public bool CarriesMulticast { get; init; } = true;

    public bool HasGateway { get; init; }

    public bool IsLoopback => Addresses.Any(IPAddress.IsLoopback);

    public override string ToString() =>
        $"{Name} ({(Addresses.Count == 0 ? "no address" : string.Join(", ", Addresses))}{(IsUp ? "" : ", down")})";
}

// What the system tells of the interfaces of this machine.
internal static class LocalInterfaces
{
    /// <exception cref="QuickSilverOptionsException">
    /// The interface is the loopback one, and the service is not at a loopback address, or one is of IPv4 and the other of IPv6.
    /// </exception>
    public static void CheckReach(IPAddress address, IPEndPoint service)
    {
        if (address.AddressFamily != service.AddressFamily)
        {
            throw new QuickSilverOptionsException(
                [$"The option {nameof(QuickSilverOptions.Interface)} is the address {address}, but the option "
                 + $"{nameof(QuickSilverOptions.MembershipService)} resolves to {service}. A node and its service use addresses of one "
                 + "kind: IPv4 or IPv6."]);
        }

        // Each member would resolve the loopback address to itself and wait for this node.
        if (IPAddress.IsLoopback(address) && !IPAddress.IsLoopback(service.Address))
        {
            throw new QuickSilverOptionsException(
                [$"The option {nameof(QuickSilverOptions.Interface)} is the loopback address {address}, but the option "
                 + $"{nameof(QuickSilverOptions.MembershipService)} resolves to {service}. Members on other machines cannot reach this "
                 + $"node. Use an address that they can reach{Candidates()}."]);
        }
    }

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
        return new LocalInterface(
            one.Name,
            [
                .. properties.UnicastAddresses.Select(static unicast => unicast.Address)
                    .Where(static address => address.AddressFamily is AddressFamily.InterNetwork or AddressFamily.InterNetworkV6)
                    .OrderBy(static address => address.AddressFamily == AddressFamily.InterNetwork ? 0 : address.IsIPv6LinkLocal ? 2 : 1),
            ])
        {
            // Others than these, such as unknown for the loopback interface, do not tell that it is down.
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
