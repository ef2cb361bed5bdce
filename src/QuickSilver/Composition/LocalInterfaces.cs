using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace QuickSilver.Composition;

// An interface of this machine with its IPv4 addresses, in the order of the system.
internal sealed record LocalInterface(string Name, IReadOnlyList<IPAddress> Addresses)
{
    public bool IsUp { get; init; } = true;

    public bool CarriesMulticast { get; init; } = true;

    public bool HasGateway { get; init; }

    public bool IsLoopback => Addresses.Any(IPAddress.IsLoopback);

    public override string ToString() =>
        $"{Name} ({(Addresses.Count == 0 ? "no IPv4 address" : string.Join(", ", Addresses))}{(IsUp ? "" : ", down")})";
}

// What the system tells of the interfaces of this machine.
internal static class LocalInterfaces
{
    /// <exception cref="QuickSilverOptionsException">
    /// The interface is the loopback one, and the service is not at a loopback address.
    /// </exception>
    public static void CheckReach(IPAddress address, IPEndPoint service)
    {
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
                    .Where(static address => address.AddressFamily == AddressFamily.InterNetwork),
            ])
        {
            // Others than these, such as unknown for the loopback interface, do not tell that it is down.
            IsUp = one.OperationalStatus
                is not (OperationalStatus.Down or OperationalStatus.NotPresent or OperationalStatus.LowerLayerDown),
            CarriesMulticast = one.SupportsMulticast,
            HasGateway = properties.GatewayAddresses.Any(
                static gateway => gateway.Address.AddressFamily == AddressFamily.InterNetwork && !gateway.Address.Equals(IPAddress.Any)),
        };
    }

    private static string Candidates() => Read()?.SelectMany(static one => one.Addresses)
        .Where(static one => !IPAddress.IsLoopback(one))
        .ToArray() is { Length: > 0 } others
            ? $", such as {string.Join(" or ", (IEnumerable<IPAddress>)others)}"
            : "";
}
