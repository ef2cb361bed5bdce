using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Views;

// A view's members by rank (their place in key order, the same at every node) and which of them live: were neither removed
// since, nor have closed the view. Nothing is kept per member while all live: a node may be in many views of thousands.
internal sealed class LiveMembers(ImmutableArray<NodeKey> members)
{
    private State[]? _states;

    private enum State : byte
    {
        Live,
        Closed,
        Gone,
    }

    /// <summary>Members of the view, living or not.</summary>
    public int Ranks => members.Length;

    /// <summary>Members that live.</summary>
    public int Count { get; private set; } = members.Length;

    /// <summary>Which members were removed, as one number; one that only closed the view is not among them.</summary>
    public ulong Gone { get; private set; }

    public NodeKey this[int rank] => members[rank];

    /// <summary>Its place in the view; negative when it is no member.</summary>
    public int RankOf(NodeKey node) => members.BinarySearch(node);

    public bool IsLive(int rank) => (uint)rank < (uint)members.Length && (_states is null || _states[rank] == State.Live);

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

    /// <summary>It was removed. False when it did not live.</summary>
    public bool Lose(NodeKey node) => End(RankOf(node), State.Gone);

    /// <summary>It has closed the view. False when it did not live.</summary>
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
