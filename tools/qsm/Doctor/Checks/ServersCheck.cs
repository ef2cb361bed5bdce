using System.Net;
using QuickSilver.Core.Security.Identities;

namespace QuickSilver.Tool.Doctor.Checks;

// What one of the servers that were named says. Leader: the one that leads, itself or another; null: it did not say. Fault: why not, as a
// sentence.
internal sealed record ServerAnswer(IPEndPoint Server, IPEndPoint? Leader, string? Fault)
{
    // It answers without a leader: it stands by, and it names none, or one that does not answer.
    public bool IsStandingBy { get; init; }

    // Its keys and those of this host do not fit, or this host has none that can be used. So nothing is known of the server.
    public bool HasKeyFault { get; init; }

    // Of this server, and of the one that it names.
    public IReadOnlyDictionary<IPEndPoint, PeerCertificate> Certificates { get; init; } = new Dictionary<IPEndPoint, PeerCertificate>();

    public bool Answers => Leader is not null || IsStandingBy;
}

// The host of a service: a program of its own (qsm gms), or one of the nodes. A service of an earlier version does not say the latter.
internal enum ServiceHost
{
    Server,
    Node,
}

// Whether all servers of a service answer, and agree on the one that leads.
internal static class ServersCheck
{
    public const string Name = "servers";
    private const string ShowKeys = "qsm keys show FILE";

    /// <param name="servers">Those that were asked. One that was named alone is not asked here.</param>
    /// <param name="named">How many were named.</param>
    /// <param name="etcd">What they share; null: none is named.</param>
    /// <param name="host">The host of the service that answered; null: none answered.</param>
    public static IReadOnlyList<Finding> Of(
        IReadOnlyList<ServerAnswer> servers, int named, EtcdFacts? etcd = null, ServiceHost? host = null)
    {
        if (servers.Count < 2)
        {
            string known = named == 0 ? "No server is named." : "Only one server is named.";
            return [Finding.NotChecked(Name, $"{known} {WhenAway(named, host)}")];
        }

        if (servers.All(static one => one.HasKeyFault))
        {
            return [Finding.NotChecked(Name, "They cannot be asked with the key of this host (see security and service).")];
        }

        var leaders = servers.Select(static one => one.Leader).OfType<IPEndPoint>().Distinct().ToList();
        int answering = servers.Count(static one => one.Answers);
        string share = $"{answering} of {servers.Count} servers answer";
        if (leaders.Count == 0)
        {
            return [WithoutLeader(servers, etcd, $"{share}{(answering > 0 ? ", and none leads" : "")}")];
        }

        if (leaders.Count > 1)
        {
            return
            [
                new Finding(
                    Name,
                    FindingStatus.Problem,
                    $"{share}, but they do not agree on who leads: {Listing.Of([.. leaders.Select(static one => one.ToString())])}. If "
                    + "that does not pass within 10 s, each is a cluster of its own: they have no --etcd, or their --etcd or --cluster "
                    + "differ. Start all of them with the same --etcd and --cluster.",
                    new Remedy("systemctl cat quicksilver-gms", Hosts(servers))),
            ];
        }

        Finding[] silent =
        [
            .. servers.Where(static one => one.Leader is null).Select(one => new Finding(
                Name,
                FindingStatus.Warning,
                $"{share}, and {leaders[0]} leads. {one.Server} {(one.IsStandingBy ? "does not name it" : "does not")}: {one.Fault}",
                one.IsStandingBy ? Read(one.Server.Address.ToString())
                    : one.HasKeyFault ? new Remedy(ShowKeys, one.Server.Address.ToString())
                    : Restart([one]))),
        ];
        return silent.Length > 0 ? silent : [Finding.Ok(Name, $"{share}, and {leaders[0]} leads.")];
    }

    private static string WhenAway(int named, ServiceHost? host) => (host, named) switch
    {
        (ServiceHost.Node, 0) =>
            "A node hosts the service. If it is away, another node takes over, if it may host (Membership:Mode) and names no server.",
        (ServiceHost.Node, _) =>
            "A node hosts the service. If it is away, another node takes over at another address, and nodes that name this one do not "
            + "join. Let all nodes look for the service, or run servers with 'qsm gms'.",
        (ServiceHost.Server, _) =>
            "It is a server of its own (qsm gms). If it is the only one, then while it is away, no node joins, and no failed node is "
            + "removed.",
        _ => "If the service is a single server, then while it is away, no node joins, and no failed node is removed. Where nodes host it, "
            + "another node takes over.",
    };

    // Those that answer say in their logs why none leads; those that do not are to be started. They agree over etcd on the one that leads.
    private static Finding WithoutLeader(IReadOnlyList<ServerAnswer> servers, EtcdFacts? etcd, string share)
    {
        ServerAnswer[] silent = [.. servers.Where(static one => one is { Answers: false, HasKeyFault: false })];
        ServerAnswer[] strangers = [.. servers.Where(static one => one.HasKeyFault)];
        var first = servers.FirstOrDefault(static one => one.IsStandingBy) ?? servers[0];
        return new Finding(
            Name,
            FindingStatus.Problem,
            $"{share}. Data flows in the last views, but no node joins. {first.Fault}",
            [
                .. first.IsStandingBy ? [EtcdCheck.AskOf(etcd), Read(first.Server.Address.ToString())] : Array.Empty<Remedy>(),
                .. silent.Length > 0 ? [Restart(silent)] : Array.Empty<Remedy>(),
                .. strangers.Length > 0 ? [new Remedy(ShowKeys, Hosts(strangers))] : Array.Empty<Remedy>(),
            ]);
    }

    private static Remedy Read(string host) => new("journalctl -u quicksilver-gms -n 20", host);

    private static Remedy Restart(IReadOnlyList<ServerAnswer> servers) => new("systemctl restart quicksilver-gms", Hosts(servers));

    private static string Hosts(IReadOnlyList<ServerAnswer> servers) =>
        Listing.Of([.. servers.Select(static one => one.Server.Address.ToString()).Distinct()]);
}
