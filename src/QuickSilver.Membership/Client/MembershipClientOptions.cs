using System.Collections.Immutable;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Membership.Client.Servers;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// The options of a membership client. Cluster, heartbeats and the multicast range are those of Hosted, since a
// client may come to host the service itself.
internal sealed record MembershipClientOptions
{
    public required NodeKey Self { get; init; }
    // Of the key of Self (NodeProof); null: without security.
    public byte[]? Proof { get; init; }
    // What people call this node; empty: it has no name.
    public string Name { get; init; } = "";
    // Where the node receives packets that are for it alone.
    public required IPEndPoint EndPoint { get; init; }
    // Servers of one service, tried in turn. A server that does not lead names the one that leads. None: look for a service on the network,
    // and host one if none is found.
    public ImmutableArray<IPEndPoint> Services { get; init; } = [];
    // Null: the servers keep these addresses.
    public ServerResolution? Resolution { get; init; }
    public MembershipServiceOptions Hosted { get; init; } = new();
    public DiscoveryOptions Discovery { get; init; } = new();

    public static readonly TimeSpan PlainConnectTimeout = TimeSpan.FromSeconds(2);
    public static readonly TimeSpan PlainLeaveTimeout = TimeSpan.FromMilliseconds(200);

    public TimeSpan ConnectTimeout { get; init; } = PlainConnectTimeout;
    public TimeSpan WelcomeTimeout { get; init; } = TimeSpan.FromSeconds(5);
    // Reconnection backs off from the first to the second, which must stay below the service's gathering grace.
    public TimeSpan FirstRetry { get; init; } = TimeSpan.FromMilliseconds(50);
    public TimeSpan LastRetry { get; init; } = TimeSpan.FromSeconds(1);
    // How long Leave waits for the service.
    public TimeSpan LeaveTimeout { get; init; } = PlainLeaveTimeout;
    // The same where another server may take over meanwhile.
    public TimeSpan TakeoverTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The registration of a node that has not been a member yet.</summary>
    public JoinMessage ToJoin() => new()
    {
        Cluster = Hosted.Cluster,
        ProtocolVersion = ControlFrame.ProtocolVersion,
        Node = Self,
        EndPoint = EndPoint,
        ReportsSigns = true,
        Proof = Proof,
        Name = Name,
    };
}

internal sealed record DiscoveryOptions
{
    private static readonly IPAddress DefaultGroup = IPAddress.Parse("239.255.74.2");
    private static readonly IPAddress DefaultGroupV6 = IPAddress.Parse("ff15::5153:ffff:4a02");

    public IPAddress Group { get; init; } = DefaultGroup;
    public IPAddress GroupV6 { get; init; } = DefaultGroupV6;
    public int Port { get; init; } = 7402;

    /// <summary>The group for a node with this address.</summary>
    public IPAddress GroupOf(IPAddress local) => local.AddressFamily == AddressFamily.InterNetworkV6 ? GroupV6 : Group;

    // Of the secrets that the node accepts, its own first: what is asked and answered is authenticated by them. Null, or none: it is not.
    public Func<ImmutableArray<byte[]>>? Keys { get; init; }
    // Whether the node hosts a service if it finds none.
    public bool Hosts { get; init; } = true;
    // Whether it does so at its start without looking for one.
    public bool HostsAtOnce { get; init; }
    public TimeSpan AskInterval { get; init; } = TimeSpan.FromMilliseconds(100);
    // Without an answer for this long a node hosts, the longest-standing first: each waits RankDelay longer than the one
    // that joined before it.
    public TimeSpan Patience { get; init; } = TimeSpan.FromMilliseconds(300);
    public TimeSpan RankDelay { get; init; } = TimeSpan.FromMilliseconds(200);
    // Beyond this rank all wait alike; hosts that meet sort it out among them.
    public int MaxRank { get; init; } = 50;
    // Hosts look for other hosts: often at first, then at this interval.
    public TimeSpan ContestInterval { get; init; } = TimeSpan.FromSeconds(5);
}
