using System.Net;

namespace QuickSilver.Tool.Doctor.Checks.Network;

// Subnet: of the interface; null if the system does not report it. Nodes: the addresses of the cluster's nodes.
internal sealed record TimeToLiveFacts(int TimeToLive, IPAddress Local, IPNetwork? Subnet, IReadOnlyList<IPAddress> Nodes)
{
    public bool UsesMulticast { get; init; } = true;
}

// Whether multicast packets live long enough to reach the nodes.
internal static class TimeToLiveCheck
{
    public const string Name = "time to live";

    public static Finding Of(TimeToLiveFacts facts)
    {
        if (!facts.UsesMulticast)
        {
            return Finding.NotChecked(Name, "Nodes with --unicast do not use multicast.");
        }

        if (IPAddress.IsLoopback(facts.Local))
        {
            return Finding.Ok(Name, "On the loopback interface, it does not matter.");
        }

        if (facts.TimeToLive == 0)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                $"MulticastTimeToLive is 0, so multicast packets do not leave this host, but the interface is {facts.Local}.",
                new Remedy("export QuickSilver__MulticastTimeToLive=1", "every node"));
        }

        var beyond = facts.Subnet is { } subnet ? facts.Nodes.Where(node => !subnet.Contains(node)).Distinct().ToList() : [];
        return beyond.Count > 0 && facts.TimeToLive == 1
            ? new Finding(
                Name,
                FindingStatus.Warning,
                $"MulticastTimeToLive is 1, so multicast does not reach nodes outside of the subnet {facts.Subnet} of the interface: "
                + $"{Listing.Of([.. beyond.Select(static node => node.ToString())])}. They get unicast copies. If the routers route "
                + "multicast, set the number of routers plus one; otherwise, use unicast only.",
                new Remedy("export QuickSilver__MulticastTimeToLive=2", "every node"),
                new Remedy("export QuickSilver__Dissemination=Unicast", "every node"))
            : Finding.Ok(
                Name,
                beyond.Count > 0 || facts.Nodes.Count == 0
                    ? $"It is {facts.TimeToLive}."
                    : $"It is {facts.TimeToLive}, and all nodes are in the subnet of the interface.");
    }
}
