using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Nodes.Measures;

// What each kind of reason means, and what to do about it: the one table, from which docs/health.md is written as well.
internal static class StatusReasons
{
    private static readonly Dictionary<StatusReasonKind, (string Meaning, string Remedy)> Table = new()
    {
        [StatusReasonKind.NotJoined] = (
            "The node looks for a membership service and has found none that admits it.",
            "Start the service, or correct Membership:Servers, Cluster, Interface, DiscoveryPort or Security."),
        [StatusReasonKind.Refused] = (
            "A membership service answered and refused the node.",
            "Correct what the service names."),
        [StatusReasonKind.CoreThreadBlocked] = (
            "The core thread has not run its alarms for 3 s, so the node neither sends nor receives.",
            "Find the handler or feed that blocks: it must return at once. Use Subscribe for code that waits. After a stop of the "
            + "process or of the machine, this passes."),
        [StatusReasonKind.HandlerBlocks] = (
            "One call of a handler has kept the core thread for more than half a second.",
            "Let the handler return at once, or use Subscribe, which may wait."),
        [StatusReasonKind.Expelled] = (
            "The membership service removed this incarnation of the node, or the node left by itself. Its topics are closed.",
            "Start a new node. In a host, that happens by itself."),
        [StatusReasonKind.Stopped] = ("The application disposed the node.", "Start a new node if it is still needed."),
        [StatusReasonKind.ServiceUnreachable] = (
            "The connection to the membership service is lost. Data flows in the last views, but topics cannot be opened.",
            "Start the service again, or restore the network to it. The node reconnects by itself."),
        [StatusReasonKind.DatagramsLost] = (
            "The connection to the service works, but probes by UDP are not answered.",
            "Allow UDP between the members in both directions, and check Interface."),
        [StatusReasonKind.NotDiscoverable] = (
            "The node hosts the membership service and cannot hear its own discovery datagrams, or no other node has found it.",
            "If there are other nodes, allow multicast to the discovery port, or name a service in Membership:Servers on all nodes."),
        [StatusReasonKind.GroupRefused] = (
            "The system does not open the port of a region's or a topic's group. Members get its packets otherwise, which is slow.",
            "End the program that uses the port, raise the limit of open files, or restore the interface. The node tries again by itself, "
            + "and leaves the cluster after 30 s if a region needs the group."),
        [StatusReasonKind.SendersNotHeard] = (
            "Multicast of some senders does not arrive here.",
            "Allow multicast from these nodes: check the firewall and the IGMP snooping of switches. Without multicast, use unicast."),
        [StatusReasonKind.NotHeard] = (
            "Multicast of this node does not arrive at some members.",
            "Allow multicast to these nodes. If it is all of them, check the interface of this node first."),
        [StatusReasonKind.AcknowledgementMissing] = (
            "Packets that this node sent are not known to be held by all members, so publishers will wait.",
            "Look at the node that is waited for: its processor, its network, its status. The service removes it if it does not answer."),
        [StatusReasonKind.RepairMissing] = (
            "Packets or messages are missing here, and no member has sent them again.",
            "Look at the network between the members, and for overload of those that keep the packets."),
        [StatusReasonKind.ReaderFull] = (
            "A reader or a consumer of this node does not take messages, and senders of its topic wait for it.",
            "Read faster or with more concurrency, or let the reader lose messages: SlowReader, SlowReaderLimit."),
        [StatusReasonKind.ReaderElsewhereFull] = (
            "A reader on another node does not take messages, and publishers of its topic wait for it.",
            "Look at the reader on that node, or let it lose messages: SlowReader, SlowReaderLimit."),
        [StatusReasonKind.MemoryFull] = (
            "All packet memory for sending is in use.",
            "Publish less, raise Limits:BufferBytes, or look for the member that does not acknowledge."),
        [StatusReasonKind.ViewMissing] = (
            "A topic cannot continue before the membership service or the members agree on a view.",
            "Look at the membership service and at members that do not answer. The topic continues by itself."),
        [StatusReasonKind.TopicOpening] = (
            "The membership service has not answered the opening of a topic or put the node into a view, or an earlier subscription has "
                + "not ended.",
            "Look at the load and the log of the membership service, and at members that do not answer. The opening continues by itself."),
        [StatusReasonKind.CodecBlocks] = (
            "All messages wait behind one that is being encoded.",
            "Let the codec return from Write: it must not wait for anything."),
        [StatusReasonKind.SubscribersMissing] = (
            "A publisher of this node waits for more subscribers of its topic than there are (WaitForSubscribersAsync).",
            "Start the programs that subscribe, or look at the status of those that run. The number counts nodes, not endpoints. The "
            + "call completes by itself."),
        [StatusReasonKind.PathTooSmall] = (
            "The path to a member carries smaller packets than PacketBytes says. Those in its regions are smaller, which costs throughput.",
            "Raise the MTU of the interface, tunnel or overlay network on the way, or lower PacketBytes on all nodes."),
        [StatusReasonKind.StartFailed] = (
            "The host could not start its node. It tries again after a pause of 1 to 30 s.",
            "Correct the cause. The host starts the node again by itself."),
        [StatusReasonKind.TooFewMembers] = (
            "The cluster has fewer members than Hosting:ReadyWhenMembers.",
            "Start the other members, look at their status if they run, or lower Hosting:ReadyWhenMembers."),
        [StatusReasonKind.TopicNotOpen] = (
            "The node has joined, but a topic of the host is not open. The host tries again after a pause of 1 to 30 s.",
            "If it was refused, make the types and options of the topic's endpoints agree. Otherwise it opens by itself."),
        [StatusReasonKind.ConsumerFailed] = (
            "A consumer failed on a message, and its error policy stops it. Its messages wait or are dropped.",
            "Correct the consumer and start the host again, or use an error policy that skips."),
        [StatusReasonKind.Degraded] = (
            "The node has been without the membership service for longer than the heartbeat limit, as on the minority side of a divided "
            + "network: the others may have continued without it. Topics with RequireQuorum refuse messages.",
            "Correct what the reason names, such as a certificate that has expired. Otherwise restore the network to the service, or start "
            + "the service again. The node reconnects by itself, or ends as Expelled if it was removed."),
        [StatusReasonKind.AddressLost] = (
            "No interface of the machine has the address of the node any more, so nothing that it sends leaves the machine.",
            "Give the interface its address back. Otherwise the node ends within the heartbeat limit. In a host, another one starts at the "
            + "address that Interface means then."),
        [StatusReasonKind.HostNotReached] = (
            "Two nodes host a membership service of this cluster, and TCP does not pass from one to the other: there are two clusters.",
            "Allow TCP between the nodes in both directions. The clusters join by themselves."),
        [StatusReasonKind.ServersApart] = (
            "Membership:Servers names several servers, and the one that took the node in shares nothing with the others: nodes that reach "
            + "another of them are in another cluster.",
            "Start all servers with the same --etcd and --cluster, or name one server."),
        [StatusReasonKind.ThreadPoolStarved] = (
            "The thread pool of the process starts no work: code of the application blocks all its threads. The node continues, but "
            + "consumers, readers and awaits wait.",
            "Let consumers and other code await instead of blocking (.Result, Wait, Thread.Sleep), or raise the minimum of threads: "
            + "ThreadPool.SetMinThreads or System.Threading.ThreadPool.MinThreads."),
        [StatusReasonKind.ChangesWait] = (
            "The membership service answers, but its store does not take changes, as when etcd's quota is used up. Data flows in the last "
            + "views. No node joins or leaves, no topic opens, and streams to a failed member wait.",
            "Do what the reason says, at the store of the service. The changes are made by themselves then."),
        [StatusReasonKind.DescriptorsFew] = (
            "The process may open few more files and sockets. Those are kept for the process itself, and connections to a membership "
            + "service that the node hosts give way to each other.",
            "Raise the limit (ulimit -n, LimitNOFILE), or look for what the program opens and does not close. If the node hosts the "
            + "service, look in its log for the addresses whose connections were closed."),
        [StatusReasonKind.StateChangeRefused] = (
            "A replicated state refused changes of another node within the last minute, because their numbers cannot have been counted. "
            + "All other changes are taken.",
            "End the node that the reason names: its program or its memory is damaged, or it lies."),
        [StatusReasonKind.HeapFull] = (
            "The heap of the process has no memory for messages or for the content of a replicated state, or a codec throws "
            + "OutOfMemoryException. The messages wait, and so do their senders; the state asks for its content again. Nothing is lost.",
            "Raise the limit of the container or of the heap (DOTNET_GCHeapHardLimit), read faster, or lower "
            + "Limits:ReceivedMessageBytes and ReaderCapacity. If there is memory, look at the codec."),
        [StatusReasonKind.StateOpening] = (
            "A replicated state has not had all of its content from the other nodes for 5 s: it is being opened, or messages were lost.",
            "Look at the status of the nodes that the reason names, and at the load of the network. End one that gives nothing. The state "
            + "asks again by itself."),
        [StatusReasonKind.StateUndecodable] = (
            "This node cannot decode a value of a replicated state, so it lacks the value or has an older one.",
            "Use the same type and codec on all nodes that open the state, or set the key again, or remove it where it can be decoded. "
            + "The state asks again by itself, and is complete when no node has a value that this one cannot decode."),
        [StatusReasonKind.ProtocolWaits] = (
            "The protocol that provides the guarantee of a topic waits without progress, as for another member.",
            "Look at the status of what the reason names, and at the network to it. The protocol continues by itself."),
    };

    public static string MeaningOf(StatusReasonKind kind) => Table[kind].Meaning;

    public static string RemedyFor(StatusReasonKind kind) => Table[kind].Remedy;

    public static StatusReason Of(StatusReasonKind kind, string description, DateTimeOffset since, string? waitsFor = null) =>
        new(kind, description, since, waitsFor, RemedyFor(kind));

    public static StatusReason Of(Trouble trouble) => Of(KindOf(trouble.Kind), trouble.Description, trouble.Since, trouble.WaitsFor);

    // The names are the same, which a test checks.
    public static StatusReasonKind KindOf(TroubleKind kind) => kind switch
    {
        TroubleKind.DatagramsLost => StatusReasonKind.DatagramsLost,
        TroubleKind.NotDiscoverable => StatusReasonKind.NotDiscoverable,
        TroubleKind.GroupRefused => StatusReasonKind.GroupRefused,
        TroubleKind.SendersNotHeard => StatusReasonKind.SendersNotHeard,
        TroubleKind.NotHeard => StatusReasonKind.NotHeard,
        TroubleKind.AcknowledgementMissing => StatusReasonKind.AcknowledgementMissing,
        TroubleKind.RepairMissing => StatusReasonKind.RepairMissing,
        TroubleKind.ReaderFull => StatusReasonKind.ReaderFull,
        TroubleKind.ReaderElsewhereFull => StatusReasonKind.ReaderElsewhereFull,
        TroubleKind.MemoryFull => StatusReasonKind.MemoryFull,
        TroubleKind.ViewMissing => StatusReasonKind.ViewMissing,
        TroubleKind.TopicOpening => StatusReasonKind.TopicOpening,
        TroubleKind.CodecBlocks => StatusReasonKind.CodecBlocks,
        TroubleKind.PathTooSmall => StatusReasonKind.PathTooSmall,
        TroubleKind.SubscribersMissing => StatusReasonKind.SubscribersMissing,
        TroubleKind.AddressLost => StatusReasonKind.AddressLost,
        TroubleKind.HostNotReached => StatusReasonKind.HostNotReached,
        TroubleKind.ServersApart => StatusReasonKind.ServersApart,
        TroubleKind.ThreadPoolStarved => StatusReasonKind.ThreadPoolStarved,
        TroubleKind.ChangesWait => StatusReasonKind.ChangesWait,
        TroubleKind.DescriptorsFew => StatusReasonKind.DescriptorsFew,
        TroubleKind.StateChangeRefused => StatusReasonKind.StateChangeRefused,
        TroubleKind.HeapFull => StatusReasonKind.HeapFull,
        TroubleKind.StateOpening => StatusReasonKind.StateOpening,
        TroubleKind.StateUndecodable => StatusReasonKind.StateUndecodable,
        TroubleKind.ProtocolWaits => StatusReasonKind.ProtocolWaits,
        _ => StatusReasonKind.HandlerBlocks,
    };
}
