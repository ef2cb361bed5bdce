using System.Net;
using System.Net.Sockets;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Doctor.Checks.Network;

// Another 'qsm doctor --listen'. IsNamed: the command line named it, so it should be there.
internal sealed record MulticastPeer(IPAddress Address, bool IsNamed)
{
    // It answered a probe that was sent to it alone.
    public bool AnswersUnicast { get; init; }
    // It answered a probe that was sent to the group.
    public bool HearsThisHost { get; init; }
    // It sent its answer to the group, and this host got it.
    public bool IsHeard { get; init; }
}

// Fault: what the system refused; null: nothing.
internal sealed record MulticastFacts(string? Interface, IPEndPoint Group)
{
    public bool IsUsed { get; init; } = true;
    // The interface can do it, as far as the system reports.
    public bool CarriesMulticast { get; init; } = true;
    public bool HearsItself { get; init; }
    public bool IsForbidden { get; init; }
    public string? Fault { get; init; }
    public IReadOnlyList<MulticastPeer> Peers { get; init; } = [];
    public IReadOnlyList<FirewallChain> Chains { get; init; } = [];
}

// Whether multicast works on the interface, and reaches other hosts that listen.
internal static class MulticastCheck
{
    public const string Name = "multicast";

    private static readonly Remedy Unicast = new("export QuickSilver__Dissemination=Unicast", "every node");

    public static IEnumerable<Finding> Of(MulticastFacts facts)
    {
        if (!facts.IsUsed)
        {
            return [Finding.NotChecked(Name, "Nodes with --unicast use none.")];
        }

        if (OfThisHost(facts) is { } fault)
        {
            return [fault];
        }

        if (facts.Peers.Count == 0)
        {
            string own = $"This host hears its own group on {facts.Interface}.";
            return [Finding.Ok(Name, $"{own} To check the network too, run 'qsm doctor --listen' on another host.")];
        }

        var well = facts.Peers.Where(static peer => peer is { HearsThisHost: true, IsHeard: true }).ToList();
        List<Finding> findings = [.. facts.Peers.Except(well).Select(peer => OfPeer(peer, AcceptGroups(facts)))];
        if (well.Count > 0)
        {
            string names = Listing.Of([.. well.Select(static peer => $"{peer.Address}")]);
            findings.Add(Finding.Ok(Name, $"Multicast passes both ways between this host and {names}."));
        }

        return findings;
    }

    private static Finding? OfThisHost(MulticastFacts facts)
    {
        if (facts.Fault is { } refused)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                facts.IsForbidden
                    ? "The firewall of this host does not let it send to multicast groups."
                    : $"The system refuses multicast on {facts.Interface}: {refused}.",
                facts.IsForbidden ? Accept(facts, isInput: false) : [Route(facts)]);
        }

        if (!facts.CarriesMulticast)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                $"Multicast is switched off on {facts.Interface}.",
                new Remedy($"ip link set dev {Device(facts)} multicast on"),
                Unicast);
        }

        return facts.HearsItself
            ? null
            : new Finding(
                Name,
                FindingStatus.Problem,
                $"This host does not hear what it sends to the group {facts.Group} on {facts.Interface}. A firewall drops it.",
                Accept(facts, isInput: true));
    }

    private static Finding OfPeer(MulticastPeer peer, string accept)
    {
        if (peer is { AnswersUnicast: false, HearsThisHost: false, IsHeard: false })
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                $"Nothing answers at {peer.Address}, neither by multicast nor by unicast. Run 'qsm doctor --listen' there, or check its "
                + "firewall.",
                new Remedy($"qsm doctor --listen --interface {ShellWord.Of($"{peer.Address}")}", peer.Address.ToString()));
        }

        string what = peer switch
        {
            { HearsThisHost: false, IsHeard: false } => $"passes in neither direction between this host and {peer.Address}",
            { HearsThisHost: false } => $"of this host does not reach {peer.Address}",
            _ => $"of {peer.Address} does not reach this host",
        };
        return new Finding(
            Name,
            FindingStatus.Problem,
            $"Multicast {what}, although unicast does. A firewall drops it, or a switch does not forward it: with IGMP snooping, it needs "
            + "a querier.",
            FirewallChain.UsualInput.Insert(accept, peer.IsHeard ? peer.Address.ToString() : null),
            Unicast);
    }

    private static Remedy[] Accept(MulticastFacts facts, bool isInput) =>
    [
        .. facts.Chains.Where(chain => chain.IsInput == isInput && chain.Sees(facts.Group.AddressFamily))
            .Select(chain => chain.Insert(AcceptGroups(facts))),
    ];

    private static Remedy Route(MulticastFacts facts) =>
        new($"ip {(IsIpv6(facts) ? "-6 " : "")}route add {Groups(facts)} dev {Device(facts)}");

    private static string Device(MulticastFacts facts) => ShellWord.Of(facts.Interface ?? "");

    private static string AcceptGroups(MulticastFacts facts) =>
        $"{FirewallChain.Word(facts.Group.AddressFamily)} daddr {Groups(facts)} accept";

    private static string Groups(MulticastFacts facts) => IsIpv6(facts) ? "ff00::/8" : "224.0.0.0/4";

    private static bool IsIpv6(MulticastFacts facts) => facts.Group.AddressFamily == AddressFamily.InterNetworkV6;
}
