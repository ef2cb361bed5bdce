using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Views;

// The members of a view by rank, and which of them are live. The rank is the position in key order, so it is the same at every node. A
// member is live until it is removed or has closed the view. No state is kept per member while all are live, because a node may be in many
// views of thousands of members.
internal sealed class LiveMembers(ImmutableArray<NodeKey> members)
{
    private State[]? _states;

    private enum State : byte
    {
        Live,
        Closed,
        Gone,
    }

    /// <summary>The number of members of the view, live or not.</summary>
    public int Ranks => members.Length;

    /// <summary>The number of live members.</summary>
    public int Count { get; private set; } = members.Length;

    /// <summary>A number that identifies the members that were removed. It does not include members that only closed the view.</summary>
    public ulong Gone { get; private set; }

    public NodeKey this[int rank] => members[rank];

    /// <summary>The rank of the node; negative if it is not a member.</summary>
    public int RankOf(NodeKey node) => members.BinarySearch(node);

    public bool IsLive(int rank) => (uint)rank < (uint)members.Length && (_states is null || _states[rank] == State.Live);

    /// <summary>Whether the member with this rank was removed.</summary>
    public bool IsRemoved(int rank) => _states is not null && _states[rank] == State.Gone;

    public bool Contains(NodeKey node) => IsLive(RankOf(node));

    /// <summary>The first live rank in [<paramref name="from"/>, <paramref name="end"/>), or -1.</summary>
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

    /// <summary>Marks a member as removed. Returns false if it was not live.</summary>
    public bool Lose(NodeKey node) => End(RankOf(node), State.Gone);

    /// <summary>Marks a member as having closed the view. Returns false if it was not live.</summary>
    public bool Close(NodeKey node)
    {
        int rank = RankOf(node);
        return IsLive(rank) && End(rank, State.Closed);
    }

    private bool End(int rank, State state)
    {
        if ((uint)rank >= (uint)members.Length)
        {
            return false;
        }

        _states ??= new State[members.Length];
        var before = _states[rank];
        if (state == State.Gone && before != State.Gone)
        {
            Gone ^= GoneMark.Of(members[rank]);
        }

        _states[rank] = state;
        if (before != State.Live)
        {
            return false;
        }

        Count--;
        return true;
    }

    public override string ToString() => string.Join('+', members.Where((_, rank) => IsLive(rank)));
}
