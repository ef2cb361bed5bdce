
namespace QuickSilver.Seeds.Tests.PlantedBugs;

// The bugs that campaign MixedFaults, or the one that an entry names, must find. Where the code moves on, an entry's original is to be
// written again, or another bug takes its place.
internal static class PlantedBugList
{
    private const string GroupOrders = "src/QuickSilver.Groups/Ordering/";
    private const string GroupTools = "src/QuickSilver.Groups/Tools/";
    private const string GroupStates = "src/QuickSilver.Groups/States/";
    private const string GroupProtocol = "src/QuickSilver.Groups/Protocol/";
    private const string Hybrid = "src/QuickSilver.Multicast/Hybrid/";
    private const string Ordering = "src/QuickSilver.Multicast/Ordering/";
    private const string Reassembly = "src/QuickSilver.Multicast/Reassembly/";
    private const string Receiving = "src/QuickSilver.Multicast/Receiving/";
    private const string Sending = "src/QuickSilver.Multicast/Sending/";
    private const string Stability = "src/QuickSilver.Multicast/Stability/";
    private const string Membership = "src/QuickSilver.Membership/";

    public static IReadOnlyList<PlantedBug> All { get; } =
    [
        new("a message is delivered across a gap", Ordering + "SenderOrder.cs",
            "Next != message.Sequence || HeldCount > 0",
            "Next > message.Sequence || Next == 0 || HeldCount > 0"),
        new("the last packet before a silence is not missed", Receiving + "Windows/ReceiveWindow.cs",
            "highest = Math.Min(highest, packets.Base",
            "highest = Math.Min(highest - 1, packets.Base"),
        new("a view older than the subscription is accepted", Ordering + "TopicReceiver.cs",
            "if (!IsActiveFor(stream) || stream.Class != Class)",
            "if (_isClosed || ActiveFrom == 0 || stream.Class != Class)") { FirstSeed = 5 },
        new("a start table is one message behind", Ordering + "TopicSender.cs",
            "node.Configuration), numbers.Next);",
            "node.Configuration), numbers.Next + 1);"),
        new("a packet that comes twice is taken twice", Receiving + "Windows/ReceiveWindow.cs",
            "(number < packets.Base || packets.Contains(number))",
            "number < packets.Base"),
        new("retention lets the first unstable packet go", Sending + "RegionSender.cs",
            "_packets.ReleaseThrough(stable);",
            "_packets.ReleaseThrough(stable + 1);"),
        new("a view is given up with its last other member", Sending + "RegionSender.cs",
            "return Live.Count > 0;",
            "return Live.Count > 1;"),
        new("the retention ring wraps over its oldest packet", Sending + "Packing/RetentionBuffer.cs",
            "IsTight(int packets) => Next + packets > _end;",
            "IsTight(int packets) => Next > _end;") { FirstSeed = 2 },
        new("the window wraps over its oldest packet", Receiving + "Windows/PacketWindow.cs",
            "if (span > _ring.Length)",
            "if (span > _ring.Length + 1)") { FirstSeed = 3 },
        new("what is held behind a gap is forgotten when the gap is filled", Ordering + "SenderOrder.cs",
            "Next != message.Sequence || HeldCount > 0",
            "Next != message.Sequence") { FirstSeed = 214 },
        new("a message whose end came before its beginning is never put together", Receiving + "StreamAssembler.cs",
            "if (packet < stream.Highest)",
            "if (packet < stream.Contiguous)") { FirstSeed = 3 },
        new("the memory of a message that spanned packets is not given back", Reassembly + "ReassemblyBudget.cs",
            "line.Take(-bytes);",
            "") { FirstSeed = 63 },
        new("the last loss of a best-effort topic is not reported", Ordering + "TopicReceiver.cs",
            "order.NoteSent(number);",
            "order.NoteSent(number - 1);") { FirstSeed = 7 },
        new("a sender that went is forgotten altogether", Ordering + "TopicReceiver.cs",
            "Depart(order);",
            "") { FirstSeed = 37 },
        new("one member is forgotten in what is settled", Membership + "Service/Configurations/Settlement.cs",
            "if (!member.IsNew)\n",
            "if (!member.IsNew && member != _members[0])\n") { FirstSeed = 34 },
        new("a member that comes over counts as settled", Membership + "Service/Configurations/ConfigurationIssuer.cs",
            "member.Confirmed = member.WasMember ? 0 : number;",
            "member.Confirmed = number;") { FirstSeed = 86 },
        new("nodes that parted continue with each other", "src/QuickSilver.Multicast/Nodes/NodeDirectory.cs",
            "removed.Contains(node) || !IsSame(info, known, company)",
            "removed.Contains(node)") { FirstSeed = 37 },
        new("a stream of a sender that is gone counts as alive", Receiving + "RegionReceiver.cs",
            "if (HasLost(key.Sender))",
            "if (HasLost(key.Sender) && key.Sender == default)"),
        new("an acknowledgement for an earlier life counts", "src/QuickSilver.Multicast/Stability/AckHandler.cs",
            "if (ack.Origin != context.Self)",
            "if (ack.Origin.Id == 0)") { FirstSeed = 112 },
        new("a ring below that has not reported counts as holding all", Stability + "RingRecords.cs",
            "below?.HeldByAll ?? 0",
            "below?.HeldByAll ?? record.HeldByAll") { FirstSeed = 17 },
        new("a partition that keeps packets is forgotten", Receiving + "Windows/KeptPackets.cs",
            "if (keepers.KeeperOf(n) != ownPartition)",
            "if (keepers.KeeperOf(n) != ownPartition || ownPartition == 0)") { FirstSeed = 17 },
        new("a member claims what it is to keep before it has it", Receiving + "Windows/KeptPackets.cs",
            "keepers.Partitions == 1 ? window.Contiguous : (keepers.FirstKeptBy(ownPartition, window.Missing) ?? window.Arrived + 1) - 1;",
            "keepers.Partitions == 1 ? window.Contiguous : window.Arrived;") { FirstSeed = 17 },
        new("a range of what is lacked is skipped", Stability + "RingRecords.cs",
            "for (int i = 0; i < settlement.Lost.Count; i++)",
            "for (int i = 1; i < settlement.Lost.Count; i++)"),
        new("the second region's number in a shared packet is that of the packet after it", Hybrid + "HybridSender.cs",
            "new SharedEntry(view.RegionId, view.Number, part.Next + i)",
            "new SharedEntry(view.RegionId, view.Number, part.Next + i + (entry == 1 ? 1 : 0))"),
        new("what waits for windows gets its numbers in the next view", Sending + "SocketSink.cs",
            "while (_patient is { Count: > 0 } patient)",
            "while (_patient is { Count: > 1000 } patient)") { FirstSeed = 34 },
        new("a message in a shared packet counts as stable when it was sent", Hybrid + "HybridSender.cs",
            "route.ClaimPacked(claim, wantsAck: false);",
            "claim.Release();") { FirstSeed = 17 },
        new("a shared packet is sent again as it came", Sending + "Repairs/RepairTransmission.cs",
            "if (new PacketHeader(copy).Kind == PacketKind.Shared)",
            "if (new PacketHeader(copy).Kind == PacketKind.None)") { FirstSeed = 2 },
        new("the list of a shared packet counts as messages", "src/QuickSilver.Multicast/Dispatch/DataHandler.cs",
            "Take(region, stream, header.Flags, entry.Number, lease, offset, list.Offset);",
            "Take(region, stream, header.Flags, entry.Number, lease, offset, header.Length);"),
        // Of what hardships bring, from here on.
        new("a publish that is to be stable waits for the packet after it", Sending + "Acknowledgement/StabilityClaim.cs",
            "claim.Packet <= packet)",
            "claim.Packet < packet)") { FirstSeed = 7 },
        new("a refused group port ends what is being applied", Receiving + "Ports/RegionPort.cs",
            "OnRefused(refused.Message);\n            return;",
            "throw new TransportException(refused.Message);") { FirstSeed = 17 },
        new("what best effort lost last is not reported", Ordering + "SenderOrder.cs",
            "loss.SentThrough = Math.Max(loss.SentThrough, number);",
            "loss.SentThrough = Math.Min(loss.SentThrough, number);") { FirstSeed = 7 },
        new("the last announcement of a best-effort topic is not repeated", Ordering + "BestEffort/BestEffortMarks.cs",
            "bool isMarked = topic.IsMarked || (",
            "bool isMarked = true || (") { FirstSeed = 7 },
        new("what is parked for a waiting reader is lost", Ordering + "SenderOrder.cs",
            "(_waiting.Parked ??= new ParkedMessages(budget)).TryAdd(message)",
            "budget is not null && message.Sequence > 0") { FirstSeed = 39 },
        new("nodes of another cluster are answered", Membership + "Client/Discovery/DiscoveryContext.cs",
            " || datagram.ClusterHash != ClusterHash",
            "") { FirstSeed = 32 },
        new("an echo that did not come counts as one that did", Membership + "Reachability/FaultArbitration.cs",
            "bool isReached = found.Reaches(i);",
            "bool isReached = !found.Reaches(i);") { FirstSeed = 10 },
        new("an endpoint is drained when all was sent and is not stable yet",
            "src/QuickSilver/Endpoints/Publications/TopicPublication.cs",
            "marker.Marker = () => Topic.Publisher.WhenStable(() => drained.TrySetResult(DropReason is null));",
            "marker.Marker = () => drained.TrySetResult(DropReason is null);") { FirstSeed = 26 },
        new("a feed keeps nothing for which there was no room", "src/QuickSilver/Publishing/Feeds/AttachedFeed.cs",
            "bool isKept = _kept >= 0 && !TrySendKept();",
            "bool isKept = false; _kept = -1;") { FirstSeed = 125 },
        new("announcements without an answer go to the group alone", Sending + "Announcements.cs",
            "++_unanswered >= UnansweredUntilUnicast)",
            "++_unanswered < 0)") { FirstSeed = 7 },
        new("a message of a member without the right is taken", Ordering + "TopicReceiver.cs",
            "        if (IsWithoutRight(stream.Sender))",
            "        if (_publishers is { Count: 0 } && IsWithoutRight(stream.Sender))") { FirstSeed = 4 },
        new("a sender that is not announced yet has no right", Ordering + "TopicReceiver.Rights.cs",
            "IdentityOf(sender) is not { } identity ? null",
            "IdentityOf(sender) is not { } identity ? false")
        {
            FirstSeed = 10,
            Hardships = "Sealed,SeveralServers,Rights",
        },
        new("everybody may subscribe", Membership + "Service/Access/TopicRights.cs",
            "request.Role.HasFlag(TopicRole.Subscribe) && !access.MaySubscribe(name, request.Name)",
            "request.Role == TopicRole.None") { FirstSeed = 4 },
        new("a configuration is sent before its number is claimed", Membership + "Service/Takeover/ConfigurationNumbers.cs",
            "store.Claim(number, () => onClaimed(number));",
            "store.Claim(number, static () => { }); onClaimed(number);") { FirstSeed = 26 },
        new("a packet whose tag is wrong counts as genuine", "src/QuickSilver.Core/Sealing/PacketOpener.cs",
            "if (!subkey.Subkey.TryOpen(packet))",
            "if (!subkey.Subkey.TryOpen(packet) && subkey.Failures < 0)") { FirstSeed = 8 },
        // Faults of a cluster over months, from here on.
        new("a node whose address is gone waits for it forever", Membership + "Client/AddressLoss.cs",
            "now >= _until;",
            "now >= _until && now < _until;")
        {
            Hardships = "AddressChanges",
        },
        new("a host that no stream reaches keeps all others waiting", Membership + "Client/Discovery/ServiceDiscovery.cs",
            "TimeUntilGivenUp <= TimeSpan.Zero",
            "TimeUntilGivenUp <= TimeSpan.MinValue")
        {
            FirstSeed = 16,
            Hardships = "LongNight",
        },
        new("a node that says nothing is never removed", Membership + "Service/Failures/FailureDetector.cs",
            "if (missed >= options.HeartbeatsMissed)",
            "if (missed >= options.HeartbeatsMissed && silence < TimeSpan.Zero)")
        {
            FirstSeed = 16,
            Hardships = "LongNight",
        },
        new("a configuration that a node claims is taken as it is", Membership + "Service/Takeover/ConfigurationNumbers.cs",
            "return EpochOf(configuration) <= Math.Min(most, MostClaimed);",
            "return EpochOf(configuration) <= Math.Max(most, MostClaimed) || configuration > 0;")
        {
            FirstSeed = 7,
            Hardships = "RaisedNumbers",
        },
        new("a message for which the heap has no memory counts as read", "src/QuickSilver.Multicast/Receiving/InboundStream.Shortage.cs",
            "_packets[sequence].IsParsed = false;",
            "_packets[sequence].IsParsed = true;")
        {
            Hardships = "ShortHeap",
        },
        new("a message is lost between the parked ones and the reader's buffer", Ordering + "SenderOrder.cs",
            "            parked.Remove();\n",
            "            parked.Remove();\nif (parked.Count == 5) { parked.Remove(); }\n")
        {
            FirstSeed = 2,
            Campaign = "stops",
        },
        new("a log acknowledges what is written and not yet synced", "src/QuickSilver.Core/Storage/ILogFile.cs",
            "Kind == LogOperationKind.Write && IsSynced",
            "Kind == LogOperationKind.Write")
        {
            Campaign = "logs",
        },
        new("a log that fails counts as durable what it has written", "src/QuickSilver.Core/Storage/NodeLog.cs",
            "DurableLength = done.IsSynced ? _written : DurableLength;",
            "DurableLength = _written;")
        {
            Campaign = "logs",
        },
        new("the state of a group and what follows it overlap", GroupStates + "StatePlace.cs",
            "number <= _through.GetValueOrDefault(sender));",
            "number < _through.GetValueOrDefault(sender));")
        {
            Campaign = "groupstates",
        },
        new("the view of a group's state comes again after it", GroupStates + "StatePlace.cs",
            "public bool ContainsView(long view) => view <= View;",
            "public bool ContainsView(long view) => view < View;")
        {
            Campaign = "groupstates",
        },
        new("a question in a group waits for members that have left", "src/QuickSilver.Groups/Questions/AskedQuestions.cs",
            "question.OnLeft(view.Left, view.Left.Contains(self));",
            "question.OnLeft([], view.Left.Contains(self));")
        {
            Campaign = "groups",
        },
        new("a dictionary of a group updates a key that has changed", GroupTools + "Dictionaries/DictionaryMachine.cs",
            "Find(key) is { } known && known.Version == version ?",
            "Find(key) is not null ?")
        {
            Campaign = "grouptools",
        },
        new("a lock of a group stays with a member that has left", GroupTools + "Locks/LockMachine.cs",
            "_line.RemoveOf(gone);",
            "_line.RemoveOf([]);")
        {
            Campaign = "grouptools",
        },
        new("a lock of a group is granted to the first two", GroupTools + "Locks/LockMachine.cs",
            "_line.Add(node, number);\n        GrantUnless(first, answers);",
            "_line.Add(node, number);\n        GrantUnless(_line.Count == 2 ? null : first, answers);\n        answers.Add(new Answer("
            + "node, number, ++_grants, View));")
        {
            Campaign = "grouptools",
        },
        new("a job of a group is lost with its member", GroupTools + "WorkQueues/WorkQueueMachine.cs",
            "OnAttemptFailed(item, WorkerLeft, failedAt: null);",
            "Remove(item);")
        {
            Campaign = "grouptools",
        },
        new("a group passes a message before its order", GroupOrders + "OrderedView.cs",
            "GroupFrame.Total => MayPassInOrder(message.Sender, message.Sequence, isSafe: false),",
            "GroupFrame.Total => true,")
        {
            Campaign = "groups",
        },
        new("a group counts what arrives for the view that is passed", GroupOrders + "GroupGate.cs",
            "if (Arriving is not { } view)",
            "if (Passing is not { } view)")
        {
            Campaign = "groups",
        },
        new("a causal message of a group waits for nothing", GroupOrders + "OrderedView.cs",
            "GroupFrame.Causal => ArePassed(HeadStepsOf(message, frame)),",
            "GroupFrame.Causal => true,")
        {
            Campaign = "groups",
        },
        new("a causal message of a group does not name the newest message", GroupOrders + "OrderedView.cs",
            "progress.Passed > progress.Named)",
            "progress.Passed > progress.Named + 1)")
        {
            FirstSeed = 5,
            Campaign = "groups",
        },
        new("a group forgets its orders when a view ends", GroupOrders + "ViewPlan.cs",
            "sender == _orderer || IsNextInList(sender, message.Number)",
            "false")
        {
            Campaign = "groups",
        },
        new("a group passes what is left of a view by its progress", GroupOrders + "ViewPlan.cs",
            "(queue.Sender.Rank, queue.Sender.Sender))",
            "-queue.Left)")
        {
            Campaign = "groups",
        },
        new("a group passes a view before the last message of the one before", Ordering + "Holding/HoldingSink.cs",
            "if (_leftOfTurn <= 0)\n                    {\n                        return false;",
            "if (_leftOfTurn <= 0)\n                    {\n                        return true;")
        {
            Campaign = "groups",
        },
        new("a safe message of a group does not wait for the members", GroupOrders + "OrderedView.cs",
            "(Of(sender).Stable < number || !IsMoveStable)",
            "!IsMoveStable")
        {
            FirstSeed = 3,
            Campaign = "groups",
        },
        new("a safe message of a group does not wait for its order to be stable", GroupOrders + "OrderedView.cs",
            "(!isSafe || Of(Orderer).Stable >= _listNumber)",
            "_listNumber > 0")
        {
            FirstSeed = 18,
            Campaign = "groups",
        },
        new("a message of a group that was refused counts as passed", GroupOrders + "GroupGate.cs",
            "message.Sequence - 1)",
            "message.Sequence)")
        {
            Campaign = "groups",
        },
        new("what is left of a view waits for what was passed", GroupOrders + "ViewPlan.cs",
            "!named.TryPeek(out var next) || next.Number > step.Through",
            "named.TryPeek(out var next) && next.Number > step.Through")
        {
            Campaign = "groups",
        },
        new("the orders of a group are dropped when there is no room", GroupProtocol + "OpenGroup.cs",
            "pending.Write(view, body);\n",
            "pending.Write(view, body);\n            pending.Remove(steps);\n            steps = 0;\n")
        {
            FirstSeed = 38,
            Campaign = "groups",
        },
        new("a member orders after it has handed the order of a group over", GroupOrders + "OrderedView.cs",
            "HandOver() => IsOrdering = false;",
            "HandOver() => IsOrdering = Members.Length > 0;")
        {
            FirstSeed = 2,
            Campaign = "groups",
        },
        new("the next orderer of a group does not order what waits", GroupOrders + "OrderedView.cs",
            "progress.LastToOrder() is > 0 and var last",
            "progress.LastToOrder() is < 0 and var last")
        {
            FirstSeed = 19,
            Campaign = "groups",
        },
        new("what is left of a view is ordered by the first orderer alone", GroupOrders + "ViewPlan.cs",
            "_orderer = next;",
            "_orderer = next == default ? next : _orderer;")
        {
            FirstSeed = 49,
            Campaign = "groups",
        },
        new("the next orderer of a group continues in the list of the one before", GroupOrders + "OrderedView.cs",
            "        _listNumber = 0;\n        _done = 0;\n        if (Orderer",
            "        if (Orderer")
        {
            FirstSeed = 281,
            Campaign = "groups",
        },
        new("a sender to a group is not notified of members that leave", GroupProtocol + "GroupTopics.cs",
            "if (group.Asked.IsAny)",
            "if (!group.Asked.IsAny)")
        {
            FirstSeed = 2,
            Campaign = "groups",
        },
        new("a group orders the newest of several senders alone", GroupOrders + "PendingOrders.cs",
            "last.Sender != sender",
            "last.Sender == sender")
        {
            FirstSeed = 3,
            Campaign = "groups",
        },
    ];
}
