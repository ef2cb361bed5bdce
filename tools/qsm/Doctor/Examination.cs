using System.Collections.Immutable;
using System.Net;
using QuickSilver.Composition;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Doctor.Checks.Network;
using QuickSilver.Tool.Doctor.Facts;
using QuickSilver.Tool.Doctor.Facts.Probes;
using QuickSilver.Tool.Doctor.Keys;
using QuickSilver.Tool.Doctor.Storage;
using QuickSilver.Tool.Etcd;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Doctor;

// All checks of one host, in the order in which they are shown: from the host to the network, and to the cluster. Facts are read first, and
// each check judges its own.
internal static class Examination
{
    // Beyond these, nodes are not tried one by one.
    private const int MostNodes = 256;
    private const string NoInterface = "There is no interface to check it on.";

    /// <param name="session">Of the command, whose options are those of the node that is to run here.</param>
    /// <param name="peers">Hosts that run `qsm doctor --listen`.</param>
    /// <param name="etcd">Null: none is named.</param>
    public static async Task<IReadOnlyList<Finding>> RunAsync(Session session, IReadOnlyList<IPAddress> peers, EtcdAccess? etcd)
    {
        var options = session.Options;
        var (servers, unresolved) = await ResolveAsync(options, session.Interrupted);
        List<Finding> findings = [];
        InterfaceChoice? choice = null;
        try
        {
            choice = NodeComposition.Choose(options.Interface, servers);
            findings.Add(InterfaceCheck.Of(new InterfaceFacts(choice.ToString(), null, [])));
        }
        catch (QuickSilverOptionsException refused)
        {
            findings.Add(InterfaceCheck.Of(new InterfaceFacts(null, refused.Message, Others(servers))));
        }

        ServiceAnswer? answer = null;
        if (unresolved is null && choice is not null)
        {
            answer = await ServiceReader.ReadAsync(session, choice.Address, servers);
        }

        IReadOnlyList<ServerAnswer> answers = choice is null ? [] : await ServersReader.ReadAsync(session, choice.Address, servers);
        var (security, certificates) = SecurityReader.Read(session, choice);
        var election = await EtcdReader.ReadAsync(session, etcd);
        findings.Add(SecurityCheck.Of(security));
        findings.AddRange(CertificateCheck.Of(
            [.. certificates, .. OfServers(answer, answers), .. election?.Certificates ?? []],
            DateTimeOffset.UtcNow,
            lacksOwn: security is { Fault: not null, Keys.Kind: KeyKind.Certificate }));
        findings.AddRange(OfHost(options, answer));
        findings.AddRange(ClockCheck.OfMembers(election));
        findings.AddRange(choice is null
            ? [Finding.NotChecked(MtuCheck.Interface, NoInterface), Finding.NotChecked(MulticastCheck.Name, NoInterface)]
            : OfNetwork(options, choice, answer, peers));
        findings.Add(unresolved is not null
            ? ServiceCheck.Of(new ServiceFacts(ServiceOutcome.Unresolved, options.Cluster, null, IPAddress.None) { Reason = unresolved })
            : answer is null ? Finding.NotChecked(ServiceCheck.Name, NoInterface) : ServiceCheck.Of(answer.Facts, election));
        if (choice is not null)
        {
            findings.AddRange(ServersCheck.Of(answers, servers.Length, election, answer?.Host));
        }

        findings.AddRange(EtcdCheck.Of(election));
        findings.AddRange(NodesCheck.Of(answer?.Nodes, choice?.Address));
        if (answer?.Host == ServiceHost.Node)
        {
            findings.AddRange(GroupsCheck.Of(await GroupsReader.ReadAsync(session)));
        }

        return findings;
    }

    private static async Task<(ImmutableArray<IPEndPoint> Servers, string? Fault)> ResolveAsync(
        QuickSilverOptions options, CancellationToken interrupted)
    {
        try
        {
            return (
                options.Membership.HasServers
                    ? await NodeComposition.ResolveAsync(options.Membership.Servers, options.Interface.Family, interrupted)
                    : [],
                null);
        }
        catch (MembershipUnreachableException exception)
        {
            return ([], exception.Message);
        }
    }

    private static IEnumerable<CertificateDates> OfServers(ServiceAnswer? service, IReadOnlyList<ServerAnswer> servers) => servers
        .Select(static server => server.Certificates)
        .Prepend(service?.Certificates ?? new Dictionary<IPEndPoint, PeerCertificate>())
        .SelectMany(static certificates => certificates)
        .DistinctBy(static one => one.Key)
        .Select(static one => new CertificateDates(one.Value.Name, CertificateUse.Service, one.Value.From, one.Value.Until)
        {
            Role = "service",
            Where = one.Key.ToString(),
        });

    private static IEnumerable<Finding> OfHost(QuickSilverOptions options, ServiceAnswer? answer)
    {
        var (receive, send) = HostReader.ReadBuffers(options.Limits.ReceiveBufferBytes, new DatagramPortOptions().SendBufferBytes);
        return
        [
            BufferCheck.Of(BufferCheck.Receive, receive, "Packets are lost in bursts and repaired, at a lower rate."),
            BufferCheck.Of(BufferCheck.Send, send, "A node that sends fast waits for the system more often."),
            MemoryCheck.Of(HostReader.ReadMemory(options.Limits)),
            DescriptorCheck.Of(HostReader.ReadDescriptors(answer?.MostRegions ?? 0, answer?.Facts.Nodes ?? 0)),
            ClockCheck.Of(ClockReader.Read()),
            .. StorageCheck.Of(StorageReader.Read(options.StorageDirectory)),
        ];
    }

    private static List<Finding> OfNetwork(
        QuickSilverOptions options, InterfaceChoice choice, ServiceAnswer? answer, IReadOnlyList<IPAddress> peers)
    {
        var local = choice.Address;
        int packetBytes = NodeComposition.OnWire(options, local).PacketBytes;
        var key = answer?.ClusterKey;
        bool areNodesDeaf = options.Security.HasKey && key is null;
        int headers = MtuCheck.HeadersOf(local.AddressFamily);
        bool usesMulticast = options.Dissemination != Dissemination.Unicast;
        var (mtu, subnet, carriesMulticast) = HostReader.ReadInterface(choice.Name, local);
        var ports = PortReader.Read(options, local);
        var (targets, paths) = EchoProbe.Run(
            local, answer?.EchoTargets(local, areNodesDeaf ? 0 : MostNodes) ?? [], options.Cluster, key, packetBytes);
        var multicast = new MulticastFacts(choice.Name ?? local.ToString(), DoctorSockets.GroupOf(local))
        {
            IsUsed = usesMulticast,
            CarriesMulticast = carriesMulticast,
        };
        if (usesMulticast)
        {
            multicast = MulticastProbe.Run(multicast, local, options.Cluster, options.MulticastTimeToLive, peers);
        }

        bool isLost = targets.Any(static target => !target.IsHeardUnsolicited) || (usesMulticast && !multicast.HearsItself);
        var chains = isLost ? FirewallReader.Read() : [];
        var facts = new MtuFacts(choice.Name, mtu, packetBytes, headers);
        bool leavesOutNodes = areNodesDeaf && answer?.Nodes is { Count: > 0 };
        return
        [
            PortCheck.OfDiscovery(ports),
            PortCheck.OfGroups(ports),
            MtuCheck.OfInterface(facts),
            TimeToLiveCheck.Of(new TimeToLiveFacts(
                options.MulticastTimeToLive,
                local,
                subnet,
                [.. answer?.Nodes?.Where(node => node.IsInReachOf(local)).Select(static node => node.EndPoint.Address) ?? []])
            {
                UsesMulticast = usesMulticast,
            }),
            .. MulticastCheck.Of(multicast with { Chains = chains }),
            .. FirewallCheck.Of(new FirewallFacts(local, targets, chains) { LeavesOutNodes = leavesOutNodes }),
            .. MtuCheck.OfPaths(paths, facts with { LeavesOutNodes = leavesOutNodes }),
        ];
    }

    // First the address from which the system reaches the service.
    private static IReadOnlyList<string> Others(ImmutableArray<IPEndPoint> servers) =>
    [
        .. servers.Select(LocalRoute.SourceFor)
            .Concat(LocalInterfaces.Read()?.Where(static one => one.IsUp).SelectMany(static one => one.Addresses) ?? [])
            .OfType<IPAddress>().Where(static address => !IPAddress.IsLoopback(address)).Distinct().Take(3)
            .Select(static address => address.ToString()),
    ];
}
