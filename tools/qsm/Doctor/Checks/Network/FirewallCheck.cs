using System.Net;
using System.Net.Sockets;
using QuickSilver.Tool.Doctor.Keys;

namespace QuickSilver.Tool.Doctor.Checks.Network;

// A chain of nftables that sees what comes to this host (input) or what it sends (output).
internal sealed record FirewallChain(string Family, string Table, string Name, bool IsInput)
{
    private const string BothFamilies = "inet";

    /// <summary>Of another host, whose chains are not known.</summary>
    public static FirewallChain UsualInput { get; } = new(BothFamilies, "filter", "input", IsInput: true);

    /// <summary>Puts a rule before all others.</summary>
    public Remedy Insert(string rule, string? where = null) =>
        new($"nft {ShellWord.Quoted($"insert rule {Family} {Table} {Name} {rule}")}", where);

    /// <summary>Whether it sees packets of the family.</summary>
    public bool Sees(AddressFamily family) => Family == BothFamilies || Family == Word(family);

    /// <summary>The beginning of a match for addresses, which is also the name of a table for them alone.</summary>
    public static string Word(AddressFamily family) => family == AddressFamily.InterNetworkV6 ? "ip6" : "ip";

    /// <summary>A match for packets from an address, or to it.</summary>
    public static string Match(IPAddress address, bool isSource = true) => Match([address], isSource);

    /// <param name="addresses">At least one, all of one family.</param>
    /// <param name="isSource">Whether packets come from them; otherwise they go to them.</param>
    public static string Match(IEnumerable<IPAddress> addresses, bool isSource)
    {
        var all = addresses.ToList();
        string[] names = [.. all.Select(Plain).Distinct()];
        string set = names.Length == 1 ? names[0] : $"{{ {string.Join(", ", names)} }}";
        return $"{Word(all[0].AddressFamily)} {(isSource ? "saddr" : "daddr")} {set}";
    }

    // Without the number of the interface that a link-local address has on this host.
    private static string Plain(IPAddress address) => new IPAddress(address.GetAddressBytes()).ToString();
}

// What came of echoes to one port. Refusal: what the system said to sending; null: it sent.
internal sealed record EchoTarget(string Name, IPEndPoint EndPoint, bool IsService)
{
    public bool IsAnswered { get; init; }
    // An answer came to a port that had sent nothing, as tokens and messages of others do.
    public bool IsHeardUnsolicited { get; init; }
    public bool IsForbidden { get; init; }
    public string? Refusal { get; init; }

    public override string ToString() => $"{Name} ({EndPoint})";
}

// Local: the address of this host. Chains: of its firewall, as far as they can be read.
internal sealed record FirewallFacts(IPAddress Local, IReadOnlyList<EchoTarget> Targets, IReadOnlyList<FirewallChain> Chains)
{
    // There are nodes that no echo was sent to: they answer sealed ones only, and the service did not send the key.
    public bool LeavesOutNodes { get; init; }
}

// Whether UDP passes both ways between this host and the service and each node.
//
// An echo that does not come back does not show which way it was lost. If none comes back, this host is the suspect, and its own firewall
// comes first; if some do, the others are. A firewall that remembers what this host has sent lets the answers in and nothing else: so they
// are also sent to a port that has sent nothing. The service's own port may be closed where members answer: it only helps to find what is
// at fault.
internal static class FirewallCheck
{
    public const string Name = "udp";

    private const string SealedNodes = "UDP to the nodes was not checked: they answer sealed packets only, and the service did not send "
        + "this command the key, as one of an earlier version does not. Update the service and run this command again. The service "
        + "itself finds out whose datagrams are lost, and removes that node.";

    public static IEnumerable<Finding> Of(FirewallFacts facts)
    {
        bool isAsked = facts.Targets.Count > 0 || !facts.LeavesOutNodes;
        return
        [
            .. isAsked ? [OfTargets(facts)] : Array.Empty<Finding>(),
            .. facts.LeavesOutNodes ? [Finding.NotChecked(Name, SealedNodes)] : Array.Empty<Finding>(),
        ];
    }

    private static Finding OfTargets(FirewallFacts facts)
    {
        if (facts.Targets.Count == 0)
        {
            return Finding.NotChecked(Name, "There is no service and no node to send to.");
        }

        var lost = facts.Targets.Where(static target => !target.IsAnswered).ToList();
        var solicited = facts.Targets.Where(static target => target is { IsAnswered: true, IsHeardUnsolicited: false }).ToList();
        if (solicited.Count > 0)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                "A firewall of this host lets in answers to what this host has sent, but not what others send first, by UDP from "
                + $"{Names(solicited)}.",
                Local(facts, solicited, isInput: true));
        }

        if (lost.Count == 0)
        {
            bool isHere = facts.Targets.All(target => target.EndPoint.Address.Equals(facts.Local));
            return Finding.Ok(
                Name,
                $"UDP passes both ways between this host and {Names(facts.Targets)}."
                    + (isHere ? " All of them are on this host: run this command on another one, too." : ""));
        }

        var forbidden = lost.Where(static target => target.IsForbidden).ToList();
        if (forbidden.Count > 0)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                $"The firewall of this host does not let it send UDP to {Names(forbidden)}.",
                Local(facts, forbidden, isInput: false));
        }

        if (lost.FirstOrDefault(static target => target.Refusal is not null) is { } refused)
        {
            return new Finding(
                Name,
                FindingStatus.Problem,
                $"The system cannot send UDP to {refused}: {refused.Refusal}.",
                new Remedy($"ip route get {refused.EndPoint.Address} from {facts.Local}"));
        }

        bool isAll = lost.Count == facts.Targets.Count;
        if (!isAll && lost is [{ IsService: true } service])
        {
            return new Finding(
                Name,
                FindingStatus.Warning,
                $"UDP passes between this host and the nodes, but {service} does not answer. Nodes work, but when two of them lose each "
                + "other's packets, the service finds out less surely which one is at fault.",
                Remote(service, facts.Local));
        }

        Remedy[] here = isAll ? Local(facts, lost, isInput: true) : [];
        string whose = here.Length > 0 ? "probably of this host" : "there or on the way, or one here that this command does not see";
        return new Finding(
            Name,
            FindingStatus.Problem,
            isAll
                ? $"No UDP echo of this host is answered by {Names(lost)}, although TCP works. A firewall drops UDP, {whose}."
                : $"UDP echoes are not answered by {Names(lost)}, but by others. A firewall there or on the way drops UDP.",
            [.. here, .. lost.Select(target => Remote(target, facts.Local)).Distinct()]);
    }

    // An accept ends one chain only, so each chain gets its rule.
    private static Remedy[] Local(FirewallFacts facts, IReadOnlyList<EchoTarget> targets, bool isInput)
    {
        string accept = $"{FirewallChain.Match(targets.Select(static target => target.EndPoint.Address), isInput)} meta l4proto udp accept";
        var family = facts.Local.AddressFamily;
        return [.. facts.Chains.Where(chain => chain.IsInput == isInput && chain.Sees(family)).Select(chain => chain.Insert(accept))];
    }

    private static Remedy Remote(EchoTarget target, IPAddress local) =>
        FirewallChain.UsualInput.Insert($"{FirewallChain.Match(local)} meta l4proto udp accept", target.EndPoint.Address.ToString());

    private static string Names(IReadOnlyList<EchoTarget> targets) => Listing.Of([.. targets.Select(static target => target.ToString())]);
}
