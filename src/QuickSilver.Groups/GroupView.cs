using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Groups;

/// <summary>
/// The members of a group from a point between its messages on. All members get the same views in the same order. Those that get two views
/// in succession have got the same messages between them (virtual synchrony).
/// </summary>
public sealed class GroupView
{
    private readonly ImmutableArray<NodeId> _members;
    private readonly ImmutableArray<NodeId> _joined;
    private readonly ImmutableArray<NodeId> _left;

    internal GroupView(string group, MemberView view)
    {
        Group = group;
        Number = view.Configuration;
        _members = IdsOf(view.Members);
        _joined = IdsOf(view.Joined);
        _left = IdsOf(view.Left);
    }

    /// <summary>The name of the group.</summary>
    public string Group { get; }

    /// <summary>The number of the view, the same at all members. It increases from view to view, not always by one.</summary>
    public long Number { get; }

    /// <summary>The members by age, the oldest first. The index of a member is its rank, the same at all members.</summary>
    public IReadOnlyList<NodeId> Members => _members;

    /// <summary>
    /// The members that were not in the view before at this member, in the order of <see cref="Members"/>. In the first view, all of them.
    /// A node in both lists has left and come back: it begins again.
    /// </summary>
    public IReadOnlyList<NodeId> Joined => _joined;

    /// <summary>The members of the view before that are no members any more, or begin again.</summary>
    public IReadOnlyList<NodeId> Left => _left;

    /// <summary>The rank of a member, from 0 for the oldest; -1 for a node that is no member.</summary>
    /// <param name="node">The node.</param>
    public int RankOf(NodeId node) => _members.IndexOf(node);

    /// <inheritdoc/>
    public override string ToString() => $"view {Number} of group \"{Group}\": {_members.Length} members";

    private static ImmutableArray<NodeId> IdsOf(ImmutableArray<NodeKey> keys) =>
        [.. keys.Select(static key => new NodeId(key.Id, key.Incarnation))];
}
