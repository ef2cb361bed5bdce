using System.Collections.Immutable;

namespace QuickSilver.Membership.Views;

// The live nodes after one configuration. Its content never changes.
//
// Every node knows every other node, so a node's memory grows with the cluster by this. The nodes that share their views
// (SharedViews) apply the same configurations, and all but the first to apply one find the first one's roster: each roster
// remembers the step that led on from it, and SharedViews has the latest rosters. Only an equal roster is ever found, so sharing
// changes nothing but memory, and a roster that no node uses is not kept.
internal sealed class NodeRoster
{
    private readonly SharedViews _shared;
    // In ascending order of keys.
    private readonly NodeInfo[] _nodes;
    // Indices of them by the hash of their keys, plus one; open addressing, at most half full.
    private readonly int[] _places;
    private WeakReference<Step>? _next;
    // The step that led to this roster, kept here so that the roster before it finds it for as long as this one is in use.
    private Step? _madeBy;

    /// <param name="nodes">In ascending order of keys.</param>
    /// <param name="shared">Where the rosters that follow this one are shared.</param>
    public NodeRoster(NodeInfo[] nodes, SharedViews shared)
    {
        _shared = shared;
        _nodes = nodes;
        _places = new int[(int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)(2 * nodes.Length) + 1)];
        for (int i = 0; i < nodes.Length; i++)
        {
            int at = Place(nodes[i].Key);
            while (_places[at] != 0)
            {
                at = (at + 1) & (_places.Length - 1);
            }

            _places[at] = i + 1;
        }
    }

    public int Count => _nodes.Length;

    /// <summary>In ascending order of keys.</summary>
    public ReadOnlySpan<NodeInfo> All => _nodes;

    public bool Contains(NodeKey node) => Find(node) is not null;

    public NodeInfo? Find(NodeKey node)
    {
        for (int at = Place(node); _places[at] != 0; at = (at + 1) & (_places.Length - 1))
        {
            var found = _nodes[_places[at] - 1];
            if (found.Key == node)
            {
                return found;
            }
        }

        return null;
    }

    /// <summary>How many nodes have joined before this one; 0 for one that is not among them.</summary>
    public int RankOf(NodeKey node)
    {
        if (Find(node) is not { } self)
        {
            return 0;
        }

        int older = 0;
        foreach (var other in _nodes)
        {
            older += (other.JoinOrder, other.Key).CompareTo((self.JoinOrder, self.Key)) < 0 ? 1 : 0;
        }

        return older;
    }

    /// <summary>Those of these, which are in ascending order, that are not in it.</summary>
    public List<NodeKey> Lacking(ReadOnlySpan<NodeKey> nodes)
    {
        var lacking = new List<NodeKey>();
        bool areFew = nodes.Length < _nodes.Length / 16;
        int at = 0;
        foreach (var node in nodes)
        {
            while (!areFew && at < _nodes.Length && _nodes[at].Key.CompareTo(node) < 0)
            {
                at++;
            }

            bool isIn = areFew ? Contains(node) : at < _nodes.Length && _nodes[at].Key == node;
            if (!isIn)
            {
                lacking.Add(node);
            }
        }

        return lacking;
    }

    /// <summary>
    /// The roster after a configuration. A snapshot contains all nodes. A node that is both removed and joined is in the new roster.
    /// </summary>
    public NodeRoster After(bool isSnapshot, ImmutableArray<NodeInfo> joined, ImmutableArray<NodeKey> removed)
    {
        if (isSnapshot)
        {
            return _shared.NoNodes.After(isSnapshot: false, joined, []);
        }

        if (joined.IsEmpty && removed.IsEmpty)
        {
            return this;
        }

        if (Volatile.Read(ref _next) is { } next && next.TryGetTarget(out var step) && step.Leads(joined, removed))
        {
            return step.To;
        }

        var gone = new HashSet<NodeKey>(removed);
        var to = _shared.Share(Merge(_nodes.Where(node => !gone.Contains(node.Key)), joined));
        step = new Step(joined, removed, to);
        to._madeBy = step;
        Volatile.Write(ref _next, new WeakReference<Step>(step));
        return to;
    }

    private static NodeInfo[] Merge(IEnumerable<NodeInfo> kept, ImmutableArray<NodeInfo> joined)
    {
        var all = new Dictionary<NodeKey, NodeInfo>();
        foreach (var node in kept.Concat(joined))
        {
            all[node.Key] = node;
        }

        NodeInfo[] nodes = [.. all.Values];
        Array.Sort(nodes, static (a, b) => a.Key.CompareTo(b.Key));
        return nodes;
    }

    private int Place(NodeKey node) =>
        (int)((node.Id ^ (node.Id >> 32) ^ node.Incarnation) & (ulong)(_places.Length - 1));

    private sealed class Step(ImmutableArray<NodeInfo> joined, ImmutableArray<NodeKey> removed, NodeRoster to)
    {
        public NodeRoster To => to;

        public bool Leads(ImmutableArray<NodeInfo> came, ImmutableArray<NodeKey> left) =>
            (came == joined || came.AsSpan().SequenceEqual(joined.AsSpan()))
            && (left == removed || left.AsSpan().SequenceEqual(removed.AsSpan()));
    }
}
