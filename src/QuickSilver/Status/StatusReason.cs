using System.Globalization;

namespace QuickSilver;

/// <summary>The kinds of reasons for which a node is not ready, or is ready but has a problem. <c>docs/health.md</c> lists them.</summary>
public enum StatusReasonKind
{
    /// <summary>The node looks for a membership service.</summary>
    NotJoined = 0,

    /// <summary>The membership service refuses the node.</summary>
    Refused = 1,

    /// <summary>The core thread does not make progress.</summary>
    CoreThreadBlocked = 2,

    /// <summary>A handler blocks the core thread.</summary>
    HandlerBlocks = 3,

    /// <summary>The node is no longer a member.</summary>
    Expelled = 4,

    /// <summary>The node was disposed.</summary>
    Stopped = 5,

    /// <summary>The membership service does not answer.</summary>
    ServiceUnreachable = 6,

    /// <summary>Datagrams to or from the node are lost, although TCP works.</summary>
    DatagramsLost = 7,

    /// <summary>Other nodes cannot find the membership service that the node hosts, or none has.</summary>
    NotDiscoverable = 8,

    /// <summary>The system refuses the port of a group.</summary>
    GroupRefused = 9,

    /// <summary>The multicast of other nodes does not reach this one.</summary>
    SendersNotHeard = 10,

    /// <summary>The multicast of this node does not reach others.</summary>
    NotHeard = 11,

    /// <summary>Members do not acknowledge what this node sends.</summary>
    AcknowledgementMissing = 12,

    /// <summary>Lost packets are not sent again.</summary>
    RepairMissing = 13,

    /// <summary>A reader of this node has no room, and makes senders wait.</summary>
    ReaderFull = 14,

    /// <summary>A reader of another node has no room, and makes publishers of this node wait.</summary>
    ReaderElsewhereFull = 15,

    /// <summary>Publishers wait for packet memory.</summary>
    MemoryFull = 16,

    /// <summary>A topic waits for a view.</summary>
    ViewMissing = 17,

    /// <summary>A topic is being opened for longer than usual.</summary>
    TopicOpening = 18,

    /// <summary>A codec does not return, and makes all publishers wait.</summary>
    CodecBlocks = 19,

    /// <summary>The path to a member carries smaller packets than the option <see cref="QuickSilverOptions.PacketBytes"/> says.</summary>
    PathTooSmall = 24,

    /// <summary>In a host: the last attempt to start the node failed.</summary>
    StartFailed = 20,

    /// <summary>In a host: the cluster has fewer members than the host requires.</summary>
    TooFewMembers = 21,

    /// <summary>In a host: a topic is not open.</summary>
    TopicNotOpen = 22,

    /// <summary>In a host: a consumer has stopped because of an error.</summary>
    ConsumerFailed = 23,

    /// <summary>The node has been without the membership service for so long that it may have been removed.</summary>
    Degraded = 25,

    /// <summary>A call of <see cref="ITopicPublisher{T}.WaitForSubscribersAsync"/> waits for longer than usual.</summary>
    SubscribersMissing = 26,

    /// <summary>The machine does not have the address of the node any more.</summary>
    AddressLost = 27,

    /// <summary>Another node hosts a membership service of the cluster too, and TCP does not reach it.</summary>
    HostNotReached = 28,

    /// <summary>Several membership servers are named, and they share nothing: each leads a cluster of its own.</summary>
    ServersApart = 29,

    /// <summary>The thread pool of the process starts no work.</summary>
    ThreadPoolStarved = 30,

    /// <summary>The membership service answers and cannot make changes.</summary>
    ChangesWait = 31,

    /// <summary>The process may open few more files and sockets.</summary>
    DescriptorsFew = 32,

    /// <summary>A replicated state refused changes of another node.</summary>
    StateChangeRefused = 33,

    /// <summary>The heap of the process has no memory for messages.</summary>
    HeapFull = 34,

    /// <summary>A replicated state does not have the content of the other nodes yet.</summary>
    StateOpening = 35,

    /// <summary>A replicated state has a value that this node cannot decode.</summary>
    StateUndecodable = 36,

    /// <summary>The protocol of a topic's guarantee waits without progress.</summary>
    ProtocolWaits = 37,
}

/// <summary>Why a node is not ready, or which problem it has although it is ready.</summary>
/// <param name="Kind">The kind, to branch on.</param>
/// <param name="Description">What is wrong, in one or more sentences, with names and figures.</param>
/// <param name="Since">When it began, by the clock of the node's machine.</param>
/// <param name="WaitsFor">
/// Whom or what the node waits for, such as "node 00c3a2b1f4e5d6c7.1718900000". Null if it does not wait.
/// </param>
/// <param name="Remedy">What to do, in one or more sentences.</param>
public sealed record StatusReason(StatusReasonKind Kind, string Description, DateTimeOffset Since, string? WaitsFor, string Remedy)
{
    /// <summary>All of it in sentences.</summary>
    public override string ToString()
    {
        string since = Since.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);
        return $"{Description} {(WaitsFor is null ? "Since" : $"Waiting for {WaitsFor} since")} {since}. {Remedy}";
    }
}
