namespace QuickSilver.Seeds.Tests.PlantedBugs;

// The bugs that campaign MixedFaults must find. Where the code moves on, an entry's original is to be written anew, or another
// bug takes its place.
internal static class PlantedBugList
{
    private const string Dissemination = "src/QuickSilver.Multicast/Dissemination/";
    private const string Ordering = "src/QuickSilver.Multicast/Ordering/";
    private const string Recovery = "src/QuickSilver.Multicast/Recovery/";
    private const string Membership = "src/QuickSilver.Membership/";

    public static IReadOnlyList<PlantedBug> All { get; } =
    [
        new("a message is delivered across a gap", Ordering + "SenderOrder.cs",
            "Next != message.Sequence || HeldCount > 0",
            "Next > message.Sequence || Next == 0 || HeldCount > 0"),
        new("the last packet before a silence is not missed", Dissemination + "InboundStream.cs",
            "highest = Math.Min(highest, _window.Base",
            "highest = Math.Min(highest - 1, _window.Base"),
        new("a view older than the subscription is accepted", Ordering + "TopicReceiver.cs",
            " || stream.View.Configuration < ActiveFrom",
            ""),
        new("a start table is one message behind", Ordering + "TopicSender.cs",
            "node.Configuration), numbers.Next);",
            "node.Configuration), numbers.Next + 1);"),
        new("a packet that comes twice is taken twice", Dissemination + "InboundStream.cs",
            "(sequence < _window.Base || _window.Contains(sequence))",
            "sequence < _window.Base"),
        new("retention lets the first unstable packet go", Dissemination + "RegionSender.cs",
            "_packets.ReleaseThrough(stable);",
            "_packets.ReleaseThrough(stable + 1);"),
        new("a view is given up with its last other member", Dissemination + "RegionSender.cs",
            "return _live.Count > 0;",
            "return _live.Count > 1;"),
        new("the retention ring wraps over its oldest packet", Dissemination + "RetentionBuffer.cs",
            "if (Next - First == _ring.Length)",
            "if (Next - First > _ring.Length)"),
        new("the window wraps over its oldest packet", Dissemination + "PacketWindow.cs",
            "if (span <= _ring.Length)",
            "if (span <= _ring.Length + 1)"),
        new("what is held behind a gap is forgotten when the gap is filled", Ordering + "SenderOrder.cs",
            "Next != message.Sequence || HeldCount > 0",
            "Next != message.Sequence"),
        new("a message whose end came before its beginning is never put together", Dissemination + "InboundStream.cs",
            "if (packet < Highest)",
            "if (packet < Contiguous)"),
        new("a sender that went is forgotten altogether", Ordering + "TopicReceiver.cs",
            "(_aside ??= new SendersAside()).Add(order);",
            ""),
        new("one member is forgotten in what is settled", Membership + "Service/Settlement.cs",
            "if (!member.IsNew)\n",
            "if (!member.IsNew && member != _members[0])\n"),
        new("a member that comes over counts as settled", Membership + "Service/MembershipService.cs",
            "member.Confirmed = member.WasMember ? 0 : number;",
            "member.Confirmed = number;"),
        new("nodes that parted go on with each other", "src/QuickSilver.Multicast/NodeDirectory.cs",
            "removed.Contains(node) || !IsSame(info, known, company)",
            "removed.Contains(node)"),
        new("a stream of a sender that is gone is taken for alive", Recovery + "RegionReceiver.cs",
            "IsSenderGone = HasLost(sender),",
            "IsSenderGone = false,"),
        new("an acknowledgement for an earlier life counts", "src/QuickSilver.Multicast/PacketReader.cs",
            "if (ack.Origin != _context.Self)",
            "if (ack.Origin.Id == 0)"),
        new("a ring below that has not told counts as holding all", Recovery + "RingHierarchy.cs",
            "below?.HeldByAll ?? 0",
            "below?.HeldByAll ?? record.HeldByAll"),
        new("a partition that keeps packets is forgotten", Dissemination + "InboundStream.cs",
            "if (Keepers.KeeperOf(n) != OwnPartition)",
            "if (Keepers.KeeperOf(n) != OwnPartition || OwnPartition == 0)"),
        new("a member claims what it is to keep before it has it", Dissemination + "InboundStream.cs",
            "Keepers.Partitions == 1 ? Contiguous : FirstMissingToKeep() - 1;",
            "Keepers.Partitions == 1 ? Contiguous : _arrived;"),
        new("a range of what is lacked is skipped", Recovery + "RingHierarchy.cs",
            "for (int i = 0; i < settlement.Lost.Count; i++)",
            "for (int i = 1; i < settlement.Lost.Count; i++)"),
    ];
}
