using System.Globalization;
using System.Net;

namespace QuickSilver.Tool.Doctor.Checks;

internal enum ServiceOutcome
{
    Answered,
    // The command line names none, and none answered discovery.
    NotFound,
    // The host name has no address.
    Unresolved,
    // Its host is there and nothing listens.
    NothingListens,
    // The connection is neither accepted nor refused.
    NoConnection,
    // It accepted the connection, and does not speak as a service does, or not in time.
    Silent,
    // It is a server that stands by, and it knows none that leads.
    NoLeader,
    // It is a service, and does not want this cluster, version or observer.
    Refused,
}

// Reason: of what is not Answered, a sentence. EndPoint: null before the service is found.
internal sealed record ServiceFacts(ServiceOutcome Outcome, string Cluster, IPEndPoint? EndPoint, IPAddress Local)
{
    public string? Reason { get; init; }
    // What --security of the service is, as far as the options of this host tell.
    public string Security { get; init; } = "FILE";
    public int Nodes { get; init; }
    public TimeSpan Age { get; init; }
}

// Whether the membership service answers, to TCP and as what it should be.
internal static class ServiceCheck
{
    public const string Name = "service";

    public static Finding Of(ServiceFacts facts)
    {
        string reason = facts.Reason ?? "";
        if (facts is not { EndPoint: { } service })
        {
            return facts.Outcome == ServiceOutcome.Unresolved
                ? new Finding(Name, FindingStatus.Problem, reason)
                : Finding.NotChecked(
                    Name,
                    $"No service of cluster '{facts.Cluster}' answers discovery. That is as it should be if no node runs: the first one "
                    + "hosts a service. Otherwise name the service with --gms.");
        }

        string host = service.Address.ToString();
        return facts.Outcome switch
        {
            ServiceOutcome.Answered => Finding.Ok(
                Name,
                $"{service} is the service of cluster '{facts.Cluster}', with {Listing.Count(facts.Nodes, "node")}, up for "
                + $"{Span(facts.Age)}."),
            ServiceOutcome.NothingListens => new Finding(
                Name,
                FindingStatus.Problem,
                $"Nothing listens at {service}. Start the service, or correct --gms. Servers over etcd also take --etcd.",
                new Remedy($"qsm gms --listen {service} --cluster '{facts.Cluster}'{Security(facts, service)}", host)),
            ServiceOutcome.NoConnection => new Finding(
                Name,
                FindingStatus.Problem,
                $"No TCP connection to {service}: {reason}. A firewall drops TCP, or the host is down.",
                new Remedy(
                    $"nft 'insert rule inet filter input {FirewallChain.Match(facts.Local)} tcp dport {service.Port} accept'", host)),
            ServiceOutcome.NoLeader => new Finding(
                Name,
                FindingStatus.Problem,
                $"No server leads, although one answers. {reason} Data flows in the last views, but no node joins.",
                ServersCheck.AskEtcd),
            _ => new Finding(Name, FindingStatus.Problem, reason, facts.Outcome == ServiceOutcome.Refused
                ? []
                : [new Remedy($"ss -tlpn 'sport = :{service.Port}'", host)]),
        };
    }

    // On the loopback interface, a service needs none.
    private static string Security(ServiceFacts facts, IPEndPoint service) =>
        IPAddress.IsLoopback(service.Address) ? "" : $" --security {facts.Security}";

    private static string Span(TimeSpan age) => age switch
    {
        { TotalDays: >= 2 } => string.Create(CultureInfo.InvariantCulture, $"{age.TotalDays:0} days"),
        { TotalHours: >= 2 } => string.Create(CultureInfo.InvariantCulture, $"{age.TotalHours:0} hours"),
        { TotalMinutes: >= 2 } => string.Create(CultureInfo.InvariantCulture, $"{age.TotalMinutes:0} minutes"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{age.TotalSeconds:0} s"),
    };
}
