using QuickSilver.Core.Wire;

namespace QuickSilver.Membership.Diagnostics;

// What a membership service counts. Core thread only.
internal sealed class ServiceCounters
{
    // Null until an echo is not answered.
    private long[]? _echoDrops;

    // Sessions.
    public long SessionsAccepted { get; set; }
    public long SessionsRefused { get; set; }
    // Connections without a session: they failed to prove their identity, found no room for a handshake, were closed to make room for one,
    // or speak TLS to a service without security.
    public long HandshakesFailed { get; set; }
    public long HandshakesWithoutRoom { get; set; }
    public long HandshakesDisplaced { get; set; }
    public long HandshakesAbandoned { get; set; }
    public long TlsRefused { get; set; }
    public long SessionsNeverJoined { get; set; }
    // Sessions that had said nothing, while the process may open few more descriptors.
    public long SessionsDisplaced { get; set; }
    // Sessions that ended with the certificate that was shown.
    public long SessionsExpired { get; set; }
    // Sessions whose secret or authority was taken away.
    public long SessionsDropped { get; set; }
    public long RegistrationsPutOff { get; set; }
    public long SlowSessionsClosed { get; set; }
    // Of those that kept most when all together kept too much.
    public long SessionsClosedForRoom { get; set; }
    public long GreedySessionsClosed { get; set; }
    public long GarbageFrames { get; set; }
    public long UnknownMessages { get; set; }
    public long JoinsRefused { get; set; }
    public long ObserversRefused { get; set; }

    // Members.
    public long NodesJoined { get; set; }
    public long NodesResumed { get; set; }
    public long NodesLeft { get; set; }
    public long NodesRemoved { get; set; }
    public long Suspicions { get; set; }
    // Of nodes with which the reporter shares no region.
    public long SuspicionsIgnored { get; set; }
    public long FaultArbitrations { get; set; }
    // Pauses that members have reported, and those for which suspicion of the member was reset.
    public long PausesReported { get; set; }
    public long PausesExcused { get; set; }
    // Of those removed: because no datagrams passed.
    public long NodesUnreachable { get; set; }

    // Topics and configurations.
    public long TopicRequests { get; set; }
    public long TopicsRefused { get; set; }
    public long RightsDenied { get; set; }
    public long Configurations { get; set; }
    public long SnapshotsSent { get; set; }
    public long ConfigurationBytes { get; set; }
    public long ConfigurationBytesWritten { get; set; }
    public long AddressesShared { get; set; }
    // Regions that continue from the earlier service.
    public long RegionsAdopted { get; set; }

    // At the service's own port.
    public long EchoesAnswered { get; set; }

    public long EchoesDropped(DropReason reason) => _echoDrops is { } drops ? drops[(int)reason] : 0;

    public void DropEcho(DropReason reason) => (_echoDrops ??= new long[Enum.GetValues<DropReason>().Length])[(int)reason]++;
}
