using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace QuickSilver.Composition;

// Checks whether an address belongs to this machine, because the error of a socket does not name the option.
internal static class LocalInterfaces
{
    /// <exception cref="QuickSilverOptionsException">No interface has this address; the message lists those that there are.</exception>
    public static void Check(IPAddress address)
    {
        // All of 127.0.0.0/8 belongs to this machine, although its interface lists one address of it.
        if (IPAddress.IsLoopback(address) || Addresses() is not { } known || known.Contains(address))
        {
            return;
        }

        throw new QuickSilverOptionsException(
            [$"The option {nameof(QuickSilverOptions.Interface)} is {address}. Allowed: an address of this machine: "
             + $"{string.Join(", ", known)}."]);
    }

    /// <exception cref="QuickSilverOptionsException">
    /// The interface is the loopback one, and the service is not at a loopback address.
    /// </exception>
    public static void CheckReach(IPAddress address, IPEndPoint? service)
    {
        // Each member would resolve the loopback address to itself and wait for this node.
        if (service is not null && IPAddress.IsLoopback(address) && !IPAddress.IsLoopback(service.Address))
        {
            throw new QuickSilverOptionsException(
                [$"The option {nameof(QuickSilverOptions.Interface)} is the loopback address {address}, but the option "
                 + $"{nameof(QuickSilverOptions.MembershipService)} resolves to {service}. Members on other machines cannot reach this "
                 + $"node. Use an address that they can reach{Candidates()}."]);
        }
    }

    private static string Candidates() => Addresses()?.Where(static one => !IPAddress.IsLoopback(one)).ToArray() is { Length: > 0 } others
        ? $", such as {string.Join(" or ", (IEnumerable<IPAddress>)others)}"
        : "";

    // Null when the system does not report its addresses. Then opening the sockets fails.
    private static List<IPAddress>? Addresses()
    {
        try
        {
            return NetworkInterface.GetAllNetworkInterfaces()
                .SelectMany(static one => one.GetIPProperties().UnicastAddresses)
                .Select(static unicast => unicast.Address)
                .Where(static address => address.AddressFamily == AddressFamily.InterNetwork)
                .ToList();
        }
        catch (Exception exception) when (exception is NetworkInformationException or PlatformNotSupportedException)
        {
            return null;
        }
    }
}
