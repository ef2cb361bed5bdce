using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Arbitration;

// The members, for code that asks members about each other.
internal interface IMemberRoll
{
    /// <summary>In the order of joining.</summary>
    IReadOnlyList<Member> Members { get; }

    Member? Find(NodeKey node);

    NamedNode Named(NodeKey node) => Find(node)?.Named ?? new NamedNode(node, "");

    /// <summary>Removes a member that datagrams do not pass to or from.</summary>
    void RemoveUnreachable(Member member, string reason);
}

internal static class MemberRoll
{
    /// <summary>A member by lot; null when there is none.</summary>
    public static Member? Draw(this IMemberRoll roll, ulong random) =>
        roll.Members.Count == 0 ? null : roll.Members[(int)(random % (ulong)roll.Members.Count)];
}
