using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Service.Access;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// The options of a membership service. Code that reads these from a user checks them there.
internal sealed record MembershipServiceOptions
{
    // Shared by all that say nothing else: every node has these options, in case it hosts the service.
    private static readonly FailureDetectorOptions DefaultFailures = new();
    private static readonly SessionLimits DefaultLimits = new();
    private static readonly TopicSetRules DefaultSets = new();
    private static readonly TopicAddressRules DefaultAddresses = new();
    private static readonly IPNetwork DefaultRange = IPNetwork.Parse("239.192.0.0/14");
    // Group ids that are neither assigned nor permanent (RFC 3307), of a site at most.
    private static readonly IPNetwork DefaultRangeV6 = IPNetwork.Parse("ff15::5153:8000:0/98");

    public string Cluster { get; init; } = "default";
    public FailureDetectorOptions Failures { get; init; } = DefaultFailures;

    // One configuration per interval at most under load; the first changes after a quiet time wait only QuietDelay.
    public TimeSpan BatchInterval { get; init; } = TimeSpan.FromMilliseconds(100);
    public TimeSpan QuietDelay { get; init; } = TimeSpan.FromMilliseconds(10);
    // The delay of Settled, so that one message reports several confirmations.
    public TimeSpan SettleInterval { get; init; } = TimeSpan.FromMilliseconds(20);
    // How long a service that finds itself the successor of another waits for its nodes before it makes views. Nodes try
    // to reconnect at least once a second, so less than about two seconds would leave some out of the first view.
    public TimeSpan GatherGrace { get; init; } = TimeSpan.FromSeconds(2);

    // Whether a node that was removed because it was silent may return without a restart. This is so where nodes host the service
    // themselves: the silent node may have been on the other side of a divided network, without a host there yet.
    public bool TakesBackTheSilent { get; init; }

    // Of the node that hosts the service, among hosts; 0: it stands alone.
    public ulong HostId { get; init; }

    // Of either family. Members that have addresses of the other one get groups of that family's default.
    public IPNetwork MulticastRange { get; init; } = DefaultRange;
    public GroupPorts GroupPorts { get; init; } = GroupPorts.Default;

    public TopicSetRules TopicSets { get; init; } = DefaultSets;

    // How many topics get an address of their own, and which.
    public TopicAddressRules TopicAddresses { get; init; } = DefaultAddresses;

    // The log of admissions and refusals; null: they are logged with everything else.
    public ILogger? Audit { get; init; }

    // The rules of access to topics; null: every node may publish and subscribe to all topics.
    public ITopicAccess? Access { get; init; }

    public RepairRules Repair { get; init; } = RepairRules.Default;

    // Whether the service makes keys under which nodes seal their packets. It then gives no topic an address: packets for several regions
    // would need a key that members of all of them have.
    public bool IsSealed { get; init; }

    public SessionLimits Limits { get; init; } = DefaultLimits;

    /// <summary>The range for members of which one, or their service, has this address.</summary>
    public IPNetwork RangeFor(IPAddress address) => MulticastRange.BaseAddress.AddressFamily == address.AddressFamily
        ? MulticastRange
        : address.AddressFamily == AddressFamily.InterNetworkV6 ? DefaultRangeV6 : DefaultRange;
}

// What one session, and all together, may cost the service.
internal sealed record SessionLimits
{
    public int MaxSessions { get; init; } = 16_384;
    // Of them from one address: as many nodes as one machine may run, and a fourth of all.
    public int MaxSessionsPerAddress { get; init; } = 4_096;
    // Of them with one certificate: the processes that share it. A secret is shared by all.
    public int MaxSessionsPerIdentity { get; init; } = 1_024;
    // A client must join within this time after it has connected.
    public TimeSpan JoinTimeout { get; init; } = TimeSpan.FromSeconds(5);
    // Bytes that a client leaves unread; a snapshot of as many topics as a node may have is some 6 MB.
    public long MaxPendingBytes { get; init; } = 8L << 20;
    // Of all clients together, with the backlogs below. Bytes that many clients get alike count once, so thousands of nodes that come at
    // once do not reach it: clients that do not read do. It leaves room for the rest where a server has 1 GiB.
    public long MaxKeptBytesInAll { get; init; } = 256L << 20;
    // Topics of one node.
    public int MaxTopics { get; init; } = 131_072;
    // Bytes of topics registered between Join and JoinComplete: whatever was granted can be registered again. All sessions of one
    // certificate together have no more, and neither have all of one machine.
    public long MaxRegistrationBytes { get; init; } = 160L << 20;
    // The same of all clients together. A client for which there is no room tries again later.
    public long MaxRegistrationBytesInAll { get; init; } = 256L << 20;
    // Bytes of the different contracts that one node names in its life.
    public long MaxContractBytes { get; init; } = 8L << 20;
    // The same of all nodes of one address together, and of all with one certificate: sixteen times what one node may have, so that they
    // cost no more than sixteen greedy nodes, however many sessions they have. It leaves each of a thousand nodes on one machine two
    // thousand topics and 128 KiB of contracts, which are those of some hundred types.
    public int MaxTopicsPerSource { get; init; } = 16 * 131_072;
    public long MaxContractBytesPerSource { get; init; } = 16 * (8L << 20);
    // Bytes of recent configurations kept for a member that may come back.
    public long MaxBacklogBytes { get; init; } = 4L << 20;
    // Snapshots and lists of topics take far longer than to ask for them. One costs a member or an observer so much of what it has: a list
    // is a page of topics, and a snapshot is of all that a node must know.
    public double CostOfList { get; init; } = 1;
    public double CostOfSnapshot { get; init; } = 20;
    public double CostPerSecond { get; init; } = 100;
    public double MostCost { get; init; } = 1_000;
    // The number of observers that watch the cluster at a time.
    public int MaxObservers { get; init; } = 8;
    // Of them from one address: it leaves places to operators elsewhere.
    public int MaxObserversPerAddress { get; init; } = 6;
    // One that has not asked for so long gives way to one that comes and finds no place.
    public TimeSpan ObserverGivesWay { get; init; } = TimeSpan.FromSeconds(30);
    // The number of nodes in an answer to an observer: those that joined first.
    public int MaxSignsNodes { get; init; } = 1_000;
    // Rows of regions, and of topics, of all nodes in one answer: with a hundred bytes each, some 3 MB.
    public int MaxSignsRowsInAll { get; init; } = 16_000;
    // How long nodes may take to answer.
    public TimeSpan SignsTimeout { get; init; } = TimeSpan.FromSeconds(1);
    // How long an observer may take to ask again. The longest interval of one is a minute.
    public TimeSpan ObserverTimeout { get; init; } = TimeSpan.FromSeconds(90);
    // After the last word to a client, so that it is read before the stream closes.
    public TimeSpan Linger { get; init; } = TimeSpan.FromSeconds(1);
}
