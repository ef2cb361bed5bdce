using System.Globalization;
using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport;
using QuickSilver.Tool.Doctor.Checks.Network;
using QuickSilver.Tool.Doctor.Keys;

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
    // The keys of this host and those of the service do not fit.
    KeysDiffer,
    // The key of this host cannot be used, so only a connection was made.
    NotAsked,
}

// Reason: of what is not Answered, a sentence. EndPoint: null before the service is found.
internal sealed record ServiceFacts(ServiceOutcome Outcome, string Cluster, IPEndPoint? EndPoint, IPAddress Local)
{
    public string? Reason { get; init; }
    public KeyFacts Keys { get; init; } = KeyFacts.None;
    // Of KeysDiffer.
    public KeyFault KeyFault { get; init; }
    // Of Refused: the cluster that the service is of, if that is why.
    public string? OtherCluster { get; init; }
    public int Nodes { get; init; }
    public TimeSpan Age { get; init; }
}

// Whether the membership service answers, to TCP and as what it should be.
internal static class ServiceCheck
{
    public const string Name = "service";

    /// <param name="facts">What the service says.</param>
    /// <param name="etcd">What servers share; null: none is named.</param>
    public static Finding Of(ServiceFacts facts, EtcdFacts? etcd = null)
    {
        string reason = facts.Reason ?? "";
        if (facts is not { EndPoint: { } service })
        {
            return WithoutAddress(facts, reason);
        }

        string host = service.Address.ToString();
        return facts.Outcome switch
        {
            ServiceOutcome.Answered => Finding.Ok(
                Name,
                $"{service} is the service of cluster '{facts.Cluster}', with {Counted.Of(facts.Nodes, "node")}, up for "
                + $"{Span(facts.Age)}."),
            ServiceOutcome.NothingListens => Advised(
                $"Nothing listens at {service}. Start the service, or correct --gms. Servers over etcd also take --etcd.",
                KeyRemedies.Start(facts.Keys, service, facts.Cluster)),
            ServiceOutcome.KeysDiffer => OfKeys(facts, reason),
            ServiceOutcome.NotAsked => Finding.NotChecked(
                Name, $"Something listens at {service}. It was not asked, as the key of this host cannot be used (see security)."),
            ServiceOutcome.NoConnection => new Finding(
                Name,
                FindingStatus.Problem,
                $"No TCP connection to {service}: {reason}. A firewall drops TCP, or the host is down.",
                FirewallChain.UsualInput.Insert($"{FirewallChain.Match(facts.Local)} tcp dport {service.Port} accept", host)),
            ServiceOutcome.NoLeader => new Finding(
                Name,
                FindingStatus.Problem,
                $"No server leads, although one answers. {reason} Data flows in the last views, but no node joins.",
                EtcdCheck.AskOf(etcd)),
            ServiceOutcome.Refused when facts.OtherCluster is { } other => new Finding(
                Name,
                FindingStatus.Problem,
                $"{reason} Correct --cluster, or --gms.",
                new Remedy($"export QuickSilver__Cluster={ShellWord.Quoted(other)}", "every node")),
            ServiceOutcome.Refused => new Finding(Name, FindingStatus.Problem, reason),
            _ => new Finding(Name, FindingStatus.Problem, reason, new Remedy($"ss -tlpn 'sport = :{service.Port}'", host)),
        };
    }

    private static Finding WithoutAddress(ServiceFacts facts, string reason) => facts.Outcome switch
    {
        ServiceOutcome.Unresolved => new Finding(Name, FindingStatus.Problem, reason),
        ServiceOutcome.KeysDiffer => OfKeys(facts, reason),
        ServiceOutcome.NotAsked => Finding.NotChecked(
            Name, "It was not looked for, as the key of this host cannot be used (see security)."),
        _ => Finding.NotChecked(
            Name,
            $"No service of cluster '{facts.Cluster}' answers discovery. That is as it should be if no node runs: the first one hosts a "
            + "service. Otherwise name the service with --gms."),
    };

    private static Finding OfKeys(ServiceFacts facts, string reason) =>
        Advised(reason, KeyRemedies.Of(facts.KeyFault, facts.Keys, facts.EndPoint, facts.Cluster));

    private static Finding Advised(string text, KeyAdvice advice) =>
        new(Name, FindingStatus.Problem, $"{text}{advice.Text}", advice.Remedies);

    private static string Span(TimeSpan age) => age switch
    {
        { TotalDays: >= 2 } => string.Create(CultureInfo.InvariantCulture, $"{age.TotalDays:0} days"),
        { TotalHours: >= 2 } => string.Create(CultureInfo.InvariantCulture, $"{age.TotalHours:0} hours"),
        { TotalMinutes: >= 2 } => string.Create(CultureInfo.InvariantCulture, $"{age.TotalMinutes:0} minutes"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{age.TotalSeconds:0} s"),
    };
}
