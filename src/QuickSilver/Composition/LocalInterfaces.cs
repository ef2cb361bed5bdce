using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace QuickSilver.Composition;

// Whether an address is this machine's: asked before a socket says so in words that name no option.
internal static class LocalInterfaces
{
    /// <exception cref="QuickSilverOptionsException">No interface has this address; the message lists those that there are.</exception>
    public static void Check(IPAddress address)
    {
        // All of 127.0.0.0/8 is this machine's, though its interface lists one address of it.
        if (IPAddress.IsLoopback(address) || Addresses() is not { } known || known.Contains(address))
        {
            return;
        }

        throw new QuickSilverOptionsException(
            [$"The option {nameof(QuickSilverOptions.Interface)} is {address}; allowed is the address of an interface of this machine: "
             + $"{string.Join(", ", known)}."]);
    }

    /// <exception cref="QuickSilverOptionsException">
    /// The interface is the loopback one, and the service is not at a loopback address.
    /// </exception>
    public static void CheckReach(IPAddress address, IPEndPoint? service)
    {
        // Members would know this node by an address that is each one's own, and wait for it.
        if (service is not null && IPAddress.IsLoopback(address) && !IPAddress.IsLoopback(service.Address))
        {
            throw new QuickSilverOptionsException(
                [$"The option {nameof(QuickSilverOptions.Interface)} is {address}, of the loopback interface, and the option "
                 + $"{nameof(QuickSilverOptions.MembershipService)} leads to {service}: members on other machines could not reach this "
                 + $"node; allowed is the address by which they can{Candidates()}."]);
        }
    }

    private static string Candidates() => Addresses()?.Where(static one => !IPAddress.IsLoopback(one)).ToArray() is { Length: > 0 } others
        ? $", here {string.Join(" or ", (IEnumerable<IPAddress>)others)}"
        : "";

    // Null when the system does not tell: then the sockets will.
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
