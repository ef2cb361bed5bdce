namespace QuickSilver.Hosting.Tests.Health;

// Each reason that a status or a health check gives says what is wrong and where, whom it waits for, and what to do. Each is given by what
// makes it happen: a node on fakes, whole nodes in the simulator, or a host.
public sealed class ReasonTableTests
{
    private const string Service = "the membership service at 10.0.0.1:7400";

    // What is wrong, with the name of what it is about; whom the node waits for, or null if it waits for none; and what to do.
    private static readonly Dictionary<StatusReasonKind, Row> Table = new()
    {
        [StatusReasonKind.NotJoined] = new(
            NodeReasons.NotJoinedAsync,
            ["looking for a membership service", "Last failure: connection refused."], Service, "Membership:Servers, Cluster"),
        [StatusReasonKind.Refused] = new(
            NodeReasons.RefusedAsync,
            ["the membership service refused it", "service of cluster 'b'"], Service, "Correct what the service names"),
        [StatusReasonKind.CoreThreadBlocked] = new(
            NodeReasons.CoreThreadBlockedAsync,
            ["core thread has not run for 10 s: a handler or a feed blocks it"], "the handler or feed to return", "Use Subscribe"),
        [StatusReasonKind.HandlerBlocks] = new(
            NodeReasons.HandlerBlocksAsync,
            ["handler NodeReasons.HandlerBlocksAsync", "topic \"orders\" (System.String)"],
            "the handler NodeReasons.HandlerBlocksAsync", "use Subscribe"),
        [StatusReasonKind.Expelled] = new(
            NodeReasons.ExpelledAsync, ["removed this node: ten heartbeats missed"], null, "Start a new node"),
        [StatusReasonKind.Stopped] = new(NodeReasons.StoppedAsync, ["The node was disposed"], null, "Start a new node"),
        [StatusReasonKind.ServiceUnreachable] = new(
            NodeReasons.ServiceUnreachableAsync,
            ["The membership service is unreachable (connection reset)"], Service, "Start the service again"),
        [StatusReasonKind.Degraded] = new(
            NodeReasons.DegradedAsync,
            ["The membership service is unreachable (connection reset), and may have removed this node"], Service, "restore the network"),
        [StatusReasonKind.DatagramsLost] = new(
            ClusterReasons.DatagramsLost,
            ["TCP reaches the membership service at ", "firewall for UDP port", "the option Interface ("],
            "an answer to its probes", "Allow UDP between the members"),
        [StatusReasonKind.NotDiscoverable] = new(
            ClusterReasons.NotDiscoverable,
            ["No other node has been found since this node started to host the membership service at ", "the option Membership:Servers"],
            "other nodes to find it", "name a service in Membership:Servers"),
        [StatusReasonKind.AddressLost] = new(
            ClusterReasons.AddressLost,
            ["No interface of this machine has the address 10.", " of this node any more"],
            "the address to come back", "Give the interface its address back"),
        [StatusReasonKind.HostNotReached] = new(
            ClusterReasons.HostNotReached,
            ["The node at 10.", "hosts the membership service of this cluster too, and this node cannot connect to it: "],
            "a connection to it", "Allow TCP between the nodes"),
        [StatusReasonKind.ServersApart] = new(
            ClusterReasons.ServersApart,
            ["2 addresses of membership servers are named, and the server at ", "which took this node in, shares nothing with other"],
            null, "Start all servers with the same --etcd"),
        [StatusReasonKind.ThreadPoolStarved] = new(
            NodeReasons.ThreadPoolStarvedAsync,
            ["The thread pool of the process has started no work for 3 s: 1,000 work items wait for its 12 threads."],
            "code of the application to return", "await instead of blocking"),
        [StatusReasonKind.ChangesWait] = new(
            NodeReasons.ChangesWaitAsync,
            ["The membership service cannot make changes: etcd refused", "alarm disarm", "no failed node is removed"],
            null, "Do what the reason says"),
        [StatusReasonKind.DescriptorsFew] = new(
            ClusterReasons.DescriptorsFew,
            ["This process may open 160 files and sockets, and fewer than 32 are left"],
            "descriptors to become free", "Raise the limit"),
        [StatusReasonKind.StateChangeRefused] = new(
            StateReasons.StateChangeRefused,
            ["State \"prices\" refused a change of node NODE0: it has the number 1152921504606846976", "has refused 1 change so far"],
            null, "End the node that the reason names"),
        [StatusReasonKind.HeapFull] = new(
            ClusterReasons.HeapFull,
            ["The heap of this process has no memory for messages. They wait, and so do their senders."],
            "memory of the heap", "lower Limits:ReceivedMessageBytes"),
        [StatusReasonKind.StateOpening] = new(
            StateReasons.StateOpening,
            ["State \"prices\" does not have the content that other nodes have. ", "request", "node NODE0 "],
            "node NODE0", "Look at the status of the nodes that the reason names"),
        [StatusReasonKind.StateUndecodable] = new(
            StateReasons.StateUndecodable,
            ["State \"prices\" does not have the content that other nodes have. This node cannot decode a value from node NODE0"],
            "a value that this node can decode", "Use the same type and codec on all nodes"),
        [StatusReasonKind.ProtocolWaits] = new(
            ProtocolReasons.ProtocolWaits,
            ["Topic \"prices\" waits for an answer. Waiting for "],
            "node NODE0", "Look at the status of what the reason names"),
        [StatusReasonKind.GroupRefused] = new(
            ClusterReasons.GroupRefused,
            ["The system refuses the group ", "Too many open files"],
            "the system to open the port of the group", "raise the limit of open files"),
        [StatusReasonKind.SendersNotHeard] = new(
            ClusterReasons.SendersNotHeard,
            ["does not hear 1 sender over multicast, for example NODE0 at ", "blocks the group "], null, "Allow multicast from these"),
        [StatusReasonKind.NotHeard] = new(
            ClusterReasons.NotHeard,
            ["2 nodes to which this node sends do not hear it over multicast, for example NODE"], null, "Allow multicast to these"),
        [StatusReasonKind.PathTooSmall] = new(
            ClusterReasons.PathTooSmall,
            ["Packets of 1472 bytes (PacketBytes) do not pass between this node and 1 node", "packets of 1252 bytes do"],
            null, "Raise the MTU"),
        [StatusReasonKind.AcknowledgementMissing] = new(
            ClusterReasons.AcknowledgementMissing,
            ["waits for the acknowledgement of node NODE1", "the only member is not known to hold packet ", "It has waited for "],
            "node NODE1", "Look at the node"),
        [StatusReasonKind.RepairMissing] = new(
            ClusterReasons.RepairMissing,
            ["waits for packet ", " of node NODE0, which no member has sent again"], "node NODE0", "Look at the network"),
        [StatusReasonKind.ReaderFull] = new(
            ClusterReasons.ReaderFull,
            ["A reader of topic \"news\" on this node has no room for messages of node NODE0"],
            "the reader of topic \"news\"", "Read faster"),
        [StatusReasonKind.ReaderElsewhereFull] = new(
            ClusterReasons.ReaderElsewhereFull,
            ["The publisher of topic \"news\" waits for a reader on node NODE1, which has room up to message "],
            "a reader on node NODE1", "Look at the reader on that node"),
        [StatusReasonKind.MemoryFull] = new(
            ClusterReasons.MemoryFull,
            ["The publisher of topic \"news\" waits for packet memory: 0 ", "blocks are free for sending, of "],
            "free packet memory", "raise Limits:BufferBytes"),
        [StatusReasonKind.ViewMissing] = new(
            ClusterReasons.ViewMissing,
            ["The publisher of topic \"news\" waits for the membership service to say who subscribes"],
            "the membership service", "Look at the membership service"),
        [StatusReasonKind.TopicOpening] = new(
            ClusterReasons.TopicOpening,
            ["Opening topic \"late\": waiting for the membership service to answer"],
            "the membership service", "the log of the membership service"),
        [StatusReasonKind.SubscribersMissing] = new(
            ClusterReasons.SubscribersMissing,
            ["The publisher of topic \"news\" waits until 2 nodes subscribe, of which there are 1 (WaitForSubscribersAsync)"],
            "subscribers of topic \"news\"", "The number counts nodes, not endpoints"),
        [StatusReasonKind.CodecBlocks] = new(
            NodeReasons.CodecBlocksAsync,
            ["All publishers wait for one message whose codec has not returned from Write"],
            "the codec to return from Write", "must not wait for anything"),
        [StatusReasonKind.StartFailed] = new(
            HostReasons.StartFailedAsync,
            ["The last attempt to start it failed: No service there."], "the next attempt", "Correct the cause"),
        [StatusReasonKind.TooFewMembers] = new(
            HostReasons.TooFewMembersAsync,
            ["has 1 member, and the host requires 3"], "2 more members", "lower Hosting:ReadyWhenMembers"),
        [StatusReasonKind.TopicNotOpen] = new(
            HostReasons.TopicNotOpenAsync,
            ["Failed to open topic \"orders\": Topic 'orders' carries int"],
            "the membership service to grant it", "make the types and options of the topic's endpoints agree"),
        [StatusReasonKind.ConsumerFailed] = new(
            HostReasons.ConsumerFailedAsync,
            ["of topic \"orders\" (System.String) has stopped", "System.FormatException: No number."], null, "Correct the consumer"),
    };

    public static TheoryData<StatusReasonKind> Kinds => [.. Enum.GetValues<StatusReasonKind>()];

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task A_reason_says_what_is_wrong_whom_it_waits_for_and_what_to_do(StatusReasonKind kind)
    {
        Assert.True(Table.TryGetValue(kind, out var row), $"{kind} is not in the table.");
        var reason = await row.Trigger();
        Assert.Equal(kind, reason.Kind);
        Assert.All(row.What, part => Assert.Contains(part, reason.Description));
        Assert.EndsWith(".", reason.Description);
        Assert.Equal(row.WaitsFor, reason.WaitsFor);
        Assert.Contains(row.WhatToDo, reason.Remedy);
        Assert.EndsWith(".", reason.Remedy);
        Assert.NotEqual(default, reason.Since);
        string said = reason.ToString();
        Assert.StartsWith($"{reason.Description} {(reason.WaitsFor is null ? "Since" : $"Waiting for {reason.WaitsFor} since")} ", said);
        Assert.EndsWith(reason.Remedy, said);
    }

    private sealed record Row(Func<Task<StatusReason>> Trigger, string[] What, string? WaitsFor, string WhatToDo);
}
