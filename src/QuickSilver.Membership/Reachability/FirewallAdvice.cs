using System.Net;
using QuickSilver.Membership.Regions.Addresses;

namespace QuickSilver.Membership.Reachability;

// What to look at when datagrams do not pass, in the same words wherever it is said.
internal sealed class FirewallAdvice(GroupPorts groups)
{
    public string For(IPEndPoint endPoint) =>
        $"check the firewall for UDP port {endPoint.Port} and ports {groups},"
        + $" and that the option Interface ({endPoint.Address}) is an address at which the other members reach the node";
}
