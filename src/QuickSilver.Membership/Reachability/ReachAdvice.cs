using System.Net;
using QuickSilver.Membership.Regions;

namespace QuickSilver.Membership.Reachability;

// What to look at when datagrams do not pass, in the same words wherever it is said.
internal static class ReachAdvice
{
    public static string For(IPEndPoint endPoint) =>
        $"check the firewall for UDP port {endPoint.Port} and ports {GroupPorts.DefaultFirst}-{GroupPorts.DefaultLast} (or those from"
        + " FirstGroupPort to LastGroupPort, where the options of the service's node name others),"
        + $" and that the option Interface ({endPoint.Address}) is the address by which the other members reach the node";
}
