using System.Collections.Immutable;
using QuickSilver.Core.Wire;

namespace QuickSilver.Membership.Diagnostics;

// What a membership service's client counts; the service that it may host counts for itself. Core thread only.
internal sealed class ClientCounters
{
    // The service.
    public long ServiceConnections { get; set; }
    public long ServiceLosses { get; set; }
    public long SnapshotsAsked { get; set; }
    public long ConfigurationsApplied { get; set; }

    // Discovery.
    public long QueriesSent { get; set; }
    public long QueriesAnswered { get; set; }
    public long ForeignDatagrams { get; set; }
    public long OtherVersions { get; set; }
    // Of this cluster, and not by one of its secrets.
    public long NotAuthentic { get; set; }
    public long ServicesHosted { get; set; }
    public long HostsYielded { get; set; }

    /// <summary>Datagrams of discovery that were refused, by the reason.</summary>
    public ImmutableArray<(DropReason Reason, long Count)> DiscoveryDrops =>
    [
        (DropReason.ForeignCluster, ForeignDatagrams), (DropReason.UnknownVersion, OtherVersions), (DropReason.NotAuthentic, NotAuthentic),
    ];
}
