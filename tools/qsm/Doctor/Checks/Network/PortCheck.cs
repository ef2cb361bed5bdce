using QuickSilver.Core.Environment;

namespace QuickSilver.Tool.Doctor.Checks.Network;

// A port that another program holds. Holder: such as "process 4711 (dnsmasq)"; null: not known.
internal sealed record HeldPort(int Port, string? Holder)
{
    public override string ToString() => $"{Port}{(Holder is null ? "" : $" ({Holder})")}";
}

// Discovery: null if another program does not hold it.
internal sealed record PortFacts(int DiscoveryPort, int FirstGroupPort, int LastGroupPort, EphemeralPorts Ephemeral)
{
    // A node whose options name the service uses no discovery.
    public bool UsesDiscovery { get; init; } = true;
    public HeldPort? Discovery { get; init; }
    public IReadOnlyList<HeldPort> Groups { get; init; } = [];
}

// Whether the ports that nodes bind by their numbers are free, and stay so.
internal static class PortCheck
{
    public const string Discovery = "discovery port";
    public const string Groups = "group ports";

    public static Finding OfDiscovery(PortFacts facts)
    {
        int port = facts.DiscoveryPort;
        if (!facts.UsesDiscovery)
        {
            return Finding.NotChecked(Discovery, "Nodes with --gms do not use it.");
        }

        if (facts.Discovery is { } held)
        {
            return new Finding(
                Discovery,
                FindingStatus.Problem,
                $"Another program holds the discovery port: {held}. A node that may host the service does not start. Stop that program, or "
                + "set DiscoveryPort on all nodes.",
                Stop(held),
                new Remedy($"export QuickSilver__DiscoveryPort={port + 1}", "every node"));
        }

        return facts.Ephemeral.Contains(port)
            ? new Finding(
                Discovery,
                FindingStatus.Warning,
                $"The system may assign the discovery port {port} to any program, because its ephemeral ports are {facts.Ephemeral}.",
                Reserve($"{port}"))
            : Finding.Ok(Discovery, $"Port {port} is free.");
    }

    public static Finding OfGroups(PortFacts facts)
    {
        string range = $"{facts.FirstGroupPort}-{facts.LastGroupPort}";
        if (facts.Groups.Count > 0)
        {
            string held = Listing.Of([.. facts.Groups.Select(static one => one.ToString())]);
            return new Finding(
                Groups,
                FindingStatus.Warning,
                $"Other programs hold ports of the range for groups, {range}: {held}. A node of this host does not hear a group with such "
                + "a port, and gets unicast copies. Stop them, or give the service a range without them.",
                [.. facts.Groups.Select(Stop).Take(3)]);
        }

        int count = facts.LastGroupPort - facts.FirstGroupPort + 1;
        int overlap = Enumerable.Range(facts.FirstGroupPort, count).Count(facts.Ephemeral.Contains);
        return overlap > 0
            ? new Finding(
                Groups,
                FindingStatus.Warning,
                $"The system may assign {overlap} ports of the range for groups, {range}, to any program, because its ephemeral ports are "
                + $"{facts.Ephemeral}.",
                Reserve(range))
            : Finding.Ok(Groups, $"No other program holds a port of the range {range}, and the system assigns none of them.");
    }

    private static Remedy Stop(HeldPort held) => held.Holder?.Split(' ') is ["process", var id, ..]
        ? new Remedy($"kill {id}")
        : new Remedy($"ss -ulpn 'sport = :{held.Port}'");

    private static Remedy Reserve(string ports) => new($"sysctl -w net.ipv4.ip_local_reserved_ports={ports}");
}
