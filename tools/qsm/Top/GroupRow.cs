using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Tool.Top;

// A group that several of its members have reported. The view is the newest one that any of them reported.
internal sealed record GroupRow(string Name)
{
    // The name of the protocol of groups in contracts.
    private const string Guarantee = "Group";

    public long View { get; private init; }
    public long Members { get; private init; }
    public string Orderer { get; private init; } = "";

    /// <summary>Messages that wait for their order, at all members.</summary>
    public long Waiting { get; private init; }

    /// <summary>The members that have reported it, by rank.</summary>
    public IReadOnlyList<GroupMemberRow> Nodes { get; private init; } = [];

    /// <summary>The members that seek the state.</summary>
    public int Seeking => Nodes.Count(static one => one.Signs.State == StateStanding.Sought);

    /// <summary>The members that wait for another one.</summary>
    public int WaitingNodes => Nodes.Count(static one => one.Signs.IsWaiting);

    /// <summary>How the members stand with the state that they share.</summary>
    public string State => Nodes.All(static one => one.Signs.State == StateStanding.None)
        ? "–"
        : Seeking > 0 ? Counted.Of(Seeking, "member") + (Seeking == 1 ? " seeks it" : " seek it") : "all have it";

    /// <summary>The groups that nodes have reported, in no order.</summary>
    public static IReadOnlyCollection<GroupRow> Of(IEnumerable<NodeRow> nodes)
    {
        var groups = new Dictionary<string, GroupRow>();
        foreach (var node in nodes)
        {
            foreach (var signs in node.Signs?.ProtocolRows ?? [])
            {
                if (signs.Guarantee == Guarantee)
                {
                    groups[signs.Topic] = (groups.GetValueOrDefault(signs.Topic) ?? new GroupRow(signs.Topic))
                        .With(new GroupMemberRow(node, signs));
                }
            }
        }

        return groups.Values;
    }

    private GroupRow With(GroupMemberRow member)
    {
        bool isNewer = member.Signs.View > View;
        return this with
        {
            View = isNewer ? member.Signs.View : View,
            Members = isNewer ? member.Signs.Members : Members,
            Orderer = isNewer ? member.Signs.Orderer : Orderer,
            Waiting = Waiting + member.Signs.Waiting,
            Nodes =
            [
                .. Nodes.Append(member).OrderBy(static one => one.Signs.Rank).ThenBy(static one => one.Node.Id, StringComparer.Ordinal),
            ],
        };
    }
}

// What one member reported of a group.
internal sealed record GroupMemberRow(NodeRow Node, ProtocolSnapshot Signs)
{
    /// <summary>The name of its state for programs.</summary>
    public string State => Signs.State switch
    {
        StateStanding.Held => "has",
        StateStanding.Sought => "seeks",
        _ => "none",
    };

    /// <summary>What it waits for, or gives, as a sentence about it; null if it does neither.</summary>
    public string? Note => Signs switch
    {
        { Waiting: > 0, State: StateStanding.Sought } => $"waits for {Order} and {Sought}",
        { Waiting: > 0 } => $"waits for {Order}",
        { State: StateStanding.Sought } => $"waits for {Sought}",
        { Takers.Length: > 0 } => $"gives the state to {Signs.Takers}",
        _ => null,
    };

    private string Order =>
        $"the order of {Counted.Of(Signs.Waiting, "message")} by {(Signs.Orderer.Length > 0 ? Signs.Orderer : "the oldest member")}";

    private string Sought => $"the state from {(Signs.Donor.Length > 0 ? Signs.Donor : "a member that has it")}";
}
