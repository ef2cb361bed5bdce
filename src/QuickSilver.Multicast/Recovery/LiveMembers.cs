using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Recovery;

// A view's members by rank (their place in key order, the same at every node) and which of them were not removed since.
// Nothing is kept per member while all live: a node may be in many views of thousands.
internal sealed class LiveMembers(ImmutableArray<NodeKey> members)
{
    private bool[]? _removed;

    /// <summary>Members of the view, living or not.</summary>
    public int Ranks => members.Length;

    /// <summary>Members that live.</summary>
    public int Count { get; private set; } = members.Length;

    public NodeKey this[int rank] => members[rank];

    /// <summary>Its place in the view; negative when it is no member.</summary>
    public int RankOf(NodeKey node) => members.BinarySearch(node);

    public bool IsLive(int rank) => (uint)rank < (uint)members.Length && (_removed is null || !_removed[rank]);

    public bool Contains(NodeKey node) => IsLive(RankOf(node));

    /// <summary>The first live one of the ranks from <paramref name="from"/> to before <paramref name="end"/>, or -1.</summary>
    public int FirstIn(int from, int end)
    {
        for (int rank = from; rank < end; rank++)
        {
            if (IsLive(rank))
            {
                return rank;
            }
        }

        return -1;
    }

    /// <summary>False when it is no member, or was removed before.</summary>
    public bool Remove(NodeKey node)
    {
        int rank = RankOf(node);
        if (!IsLive(rank))
        {
            return false;
        }

        _removed ??= new bool[members.Length];
        _removed[rank] = true;
        Count--;
        return true;
    }

    public override string ToString() => string.Join('+', members.Where((_, rank) => IsLive(rank)));
}
