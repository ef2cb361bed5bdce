namespace QuickSilver.Membership.Diagnostics;

// What the membership service and its clients count; each is one sentence in the counter catalogue. Core thread only.
internal sealed class MembershipCounters
{
    // Service: sessions.
    public long SessionsAccepted { get; set; }
    public long SessionsRefused { get; set; }
    public long SessionsNeverJoined { get; set; }
    public long SlowSessionsClosed { get; set; }
    public long GarbageFrames { get; set; }
    public long UnknownMessages { get; set; }
    public long JoinsRefused { get; set; }

    // Service: members.
    public long NodesJoined { get; set; }
    public long NodesResumed { get; set; }
    public long NodesLeft { get; set; }
    public long NodesRemoved { get; set; }
    public long Suspicions { get; set; }

    // Service: topics and configurations.
    public long TopicRequests { get; set; }
    public long TopicsRefused { get; set; }
    public long Configurations { get; set; }
    public long SnapshotsSent { get; set; }
    public long ConfigurationBytes { get; set; }
    public long ConfigurationBytesWritten { get; set; }
    public long AddressesShared { get; set; }

    // Client.
    public long ServiceConnections { get; set; }
    public long ServiceLosses { get; set; }
    public long SnapshotsAsked { get; set; }
    public long ConfigurationsApplied { get; set; }

    // Discovery.
    public long QueriesSent { get; set; }
    public long QueriesAnswered { get; set; }
    public long ForeignDatagrams { get; set; }
    public long ServicesHosted { get; set; }
    public long HostsYielded { get; set; }
}
