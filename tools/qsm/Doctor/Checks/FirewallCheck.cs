using System.Net;

namespace QuickSilver.Tool.Doctor.Checks;

// A chain of nftables that sees what comes to this host (input) or what it sends (output).
internal sealed record FirewallChain(string Family, string Table, string Name, bool IsInput)
{
    /// <summary>Puts a rule before all others.</summary>
    public Remedy Insert(string rule, string? where = null) => new($"nft 'insert rule {Family} {Table} {Name} {rule}'", where);

    /// <summary>Of another host, whose chains are not known.</summary>
    public static FirewallChain UsualInput { get; } = new("inet", "filter", "input", IsInput: true);
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
internal sealed record FirewallFacts(IPAddress Local, IReadOnlyList<EchoTarget> Targets, IReadOnlyList<FirewallChain> Chains);

// Whether UDP passes both ways between this host and the service and each node.
//
// An echo that does not come back does not tell which way it was lost. If none comes back, this host is the suspect, and its own firewall
// comes first; if some do, the others are. A firewall that remembers what this host has sent lets the answers in and nothing else: so they
// are also sent to a port that has sent nothing. The service's own port may be closed where members answer: it only helps to tell who is at
// fault.
internal static class FirewallCheck
{
    public const string Name = "udp";

    public static Finding Of(FirewallFacts facts)
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
            return Finding.Ok(Name, $"UDP passes both ways between this host and {Names(facts.Targets)}.");
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

        return new Finding(
            Name,
            FindingStatus.Problem,
            isAll
                ? $"No UDP echo of this host is answered by {Names(lost)}, although TCP works. A firewall drops UDP, probably of this host."
                : $"UDP echoes are not answered by {Names(lost)}, but by others. A firewall there or on the way drops UDP.",
            [.. isAll ? Local(facts, lost, isInput: true) : [], .. lost.Select(target => Remote(target, facts.Local))]);
    }

    // An accept ends one chain only, so each chain gets its rule.
    private static Remedy[] Local(FirewallFacts facts, IReadOnlyList<EchoTarget> targets, bool isInput)
    {
        string[] addresses = [.. targets.Select(static target => target.EndPoint.Address.ToString()).Distinct()];
        string set = addresses.Length == 1 ? addresses[0] : $"{{ {string.Join(", ", addresses)} }}";
        string accept = $"ip {(isInput ? "saddr" : "daddr")} {set} meta l4proto udp accept";
        return [.. facts.Chains.Where(chain => chain.IsInput == isInput).Select(chain => chain.Insert(accept))];
    }

    private static Remedy Remote(EchoTarget target, IPAddress local) =>
        FirewallChain.UsualInput.Insert($"ip saddr {local} meta l4proto udp accept", target.EndPoint.Address.ToString());

    private static string Names(IReadOnlyList<EchoTarget> targets) => Listing.Of([.. targets.Select(static target => target.ToString())]);
}
