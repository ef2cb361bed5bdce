using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Checks.Network;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Doctor.Facts;

// Asks the service for its nodes, as an observer. Answer: null if it gave none.
internal sealed record ServiceAnswer(ServiceFacts Facts, ClusterSnapshot? Answer)
{
    public IReadOnlyDictionary<IPEndPoint, PeerCertificate> Certificates { get; init; } = new Dictionary<IPEndPoint, PeerCertificate>();

    /// <summary>Under which the nodes seal echoes; null: they do not, or it is not known.</summary>
    public ClusterKey? ClusterKey { get; init; }

    public IReadOnlyList<ClusterNode>? Nodes => Answer?.Nodes.Select(static report => new NodeRow(report))
        .Select(static row => new ClusterNode(row.NameAndId, row.Report.Node.EndPoint, row.SilentSeconds, row.Trouble)
        {
            Reasons = row.Report.Fault is null ? row.Signs?.ReasonRows ?? [] : [],
            Held = [.. HeldRow.Of(row).Select(static held => (held.Topic, held.Rate))],
        }).ToList();

    /// <summary>Null if there is no answer.</summary>
    public ServiceHost? Host => Answer is { } answer ? answer.Service.Host.IsHost ? ServiceHost.Node : ServiceHost.Server : null;

    public long MostRegions => Answer?.Nodes.Max(static report => report.Signs?.Regions) ?? 0;

    /// <summary>Where echoes are sent: the service, if it reports its port, and nodes.</summary>
    /// <param name="local">From where.</param>
    /// <param name="mostNodes">None of a cluster whose nodes answer sealed packets only, and whose key is not known.</param>
    public IReadOnlyList<EchoTarget> EchoTargets(IPAddress local, int mostNodes) => Answer is not { } answer ? [] :
    [
        .. answer.Service.EchoPort > 0
            ? [new EchoTarget("the service", new IPEndPoint(Facts.EndPoint!.Address, answer.Service.EchoPort), IsService: true)]
            : Array.Empty<EchoTarget>(),
        .. answer.Nodes.Where(report => ClusterNode.AreInReach(local, report.Node.EndPoint.Address)).Take(mostNodes)
            .Select(static report => new NodeRow(report))
            .Select(static row => new EchoTarget($"node {row.Name}", row.Report.Node.EndPoint, IsService: false)),
    ];
}

internal static partial class ServiceReader
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    /// <param name="session">Of the command.</param>
    /// <param name="local">The address of the interface.</param>
    /// <param name="servers">The addresses that the command line names; none: discovery finds it.</param>
    public static async Task<ServiceAnswer> ReadAsync(Session session, IPAddress local, ImmutableArray<IPEndPoint> servers)
    {
        var facts = new ServiceFacts(ServiceOutcome.Answered, session.Options.Cluster, servers.FirstOrDefault(), local)
        {
            Keys = SecurityReader.KeysOf(session.Options.Security),
        };
        var reply = await WatchReply.AskAsync(
            () => ClusterWatch.StartAsync(session, session.IsVerbose, rows: 1, isExamination: true),
            session.Interrupted,
            awaitsNodes: true);
        if (reply.Answer is { } answer)
        {
            facts = facts with
            {
                EndPoint = reply.Service,
                Nodes = answer.Service.Nodes,
                Age = TimeSpan.FromMilliseconds(answer.Service.AgeMillis),
            };
        }
        else
        {
            // Of several servers, the last one that was asked is the one that the message is about.
            var service = reply.Service ?? facts.EndPoint;
            var outcome = reply.Fault!.ExitCode == ExitCode.Failed ? ServiceOutcome.Refused
                : reply.IsWithoutLeader ? ServiceOutcome.NoLeader
                : reply.IsKeyUnusable ? ServiceOutcome.NotAsked
                : reply.KeyFault != KeyFault.None ? ServiceOutcome.KeysDiffer
                : ServiceOutcome.NotFound;
            facts = facts with
            {
                Outcome = outcome,
                EndPoint = service,
                Reason = reply.Fault.Message,
                KeyFault = reply.KeyFault,
                OtherCluster = outcome == ServiceOutcome.Refused ? ClusterOf(reply.Fault.Message) : null,
            };
            if (outcome is ServiceOutcome.NotFound or ServiceOutcome.NotAsked && service is not null)
            {
                facts = await TryConnectAsync(facts, service, session.Interrupted);
            }
        }

        return new ServiceAnswer(facts, reply.Answer) { Certificates = reply.Certificates, ClusterKey = reply.ClusterKey };
    }

    // A refusal is text only. The name comes from another host: nothing that a terminal would obey is shown.
    private static string? ClusterOf(string refusal) =>
        OtherCluster().Match(refusal) is { Success: true } match && SafeText.IsSafe(match.Groups["name"].Value)
            ? match.Groups["name"].Value
            : null;

    // The second text is that of earlier versions of the service.
    [GeneratedRegex(
        "^This membership service serves the cluster '(?<name>.+)', but '|^This is the membership service of cluster '(?<name>.+)'; the ")]
    private static partial Regex OtherCluster();

    // Why it did not answer: how far a connection comes.
    private static async Task<ServiceFacts> TryConnectAsync(ServiceFacts facts, IPEndPoint service, CancellationToken interrupted)
    {
        using var socket = new Socket(service.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(interrupted);
        limit.CancelAfter(Patience);
        try
        {
            await socket.ConnectAsync(service, limit.Token);
            return facts.Outcome == ServiceOutcome.NotAsked ? facts : facts with { Outcome = ServiceOutcome.Silent };
        }
        catch (SocketException refused) when (refused.SocketErrorCode == SocketError.ConnectionRefused)
        {
            return facts with { Outcome = ServiceOutcome.NothingListens };
        }
        catch (SocketException refused)
        {
            return facts with { Outcome = ServiceOutcome.NoConnection, Reason = refused.Message };
        }
        catch (OperationCanceledException) when (!interrupted.IsCancellationRequested)
        {
            return facts with { Outcome = ServiceOutcome.NoConnection, Reason = $"no answer within {Patience.TotalSeconds:0} s" };
        }
    }
}
