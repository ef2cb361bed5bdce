using System.Collections.Immutable;

namespace QuickSilver.Membership.Views;

// Who is alive, as one configuration leaves it; never changed.
//
// Every node knows every other, so this is what a node's memory grows by with the cluster. The nodes of one process (a
// simulated cluster, a swarm) go through the same configurations, and all but the first of them to apply one find what the
// first made: each roster remembers the step that led on from it, and the process those that were made last. Nothing is taken
// over that is not equal, so whether one is found makes no difference but in memory; and nothing is kept that no node has.
internal sealed class NodeRoster
{
    public static readonly NodeRoster Empty = new([]);

    // Several clusters may run in one process.
    private static readonly WeakReference<NodeRoster>?[] Recent = new WeakReference<NodeRoster>?[16];

    // In ascending order of keys.
    private readonly NodeInfo[] _nodes;
    // Indices of them by the hash of their keys, plus one; open addressing, at most half full.
    private readonly int[] _places;
    private Step? _step;

    private NodeRoster(NodeInfo[] nodes)
    {
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

    /// <summary>How it is after a configuration. A snapshot says all there is; who is both removed and joined is there anew.</summary>
    public NodeRoster After(bool isSnapshot, IReadOnlyList<NodeInfo> joined, IReadOnlyList<NodeKey> removed)
    {
        if (isSnapshot)
        {
            return Share(Merge([], joined));
        }

        if (joined.Count == 0 && removed.Count == 0)
        {
            return this;
        }

        if (Volatile.Read(ref _step) is { } step && step.Leads(joined, removed) is { } known)
        {
            return known;
        }

        var gone = new HashSet<NodeKey>(removed);
        var next = Share(Merge(_nodes.Where(node => !gone.Contains(node.Key)), joined));
        Volatile.Write(ref _step, new Step([.. joined], [.. removed], next));
        return next;
    }

    private static NodeInfo[] Merge(IEnumerable<NodeInfo> kept, IReadOnlyList<NodeInfo> joined)
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

    private static NodeRoster Share(NodeInfo[] nodes)
    {
        if (nodes.Length == 0)
        {
            return Empty;
        }

        ref var slot = ref Recent[(int)((nodes[0].Key.Id ^ (ulong)nodes.Length) % (ulong)Recent.Length)];
        if (Volatile.Read(ref slot) is { } recent && recent.TryGetTarget(out var known) && known.All.SequenceEqual(nodes))
        {
            return known;
        }

        var made = new NodeRoster(nodes);
        Volatile.Write(ref slot, new WeakReference<NodeRoster>(made));
        return made;
    }

    private int Place(NodeKey node) =>
        (int)((node.Id ^ (node.Id >> 32) ^ node.Incarnation) & (ulong)(_places.Length - 1));

    private sealed class Step(ImmutableArray<NodeInfo> joined, ImmutableArray<NodeKey> removed, NodeRoster to)
    {
        private readonly WeakReference<NodeRoster> _to = new(to);

        public NodeRoster? Leads(IReadOnlyList<NodeInfo> came, IReadOnlyList<NodeKey> left) =>
            came.Count == joined.Length && left.Count == removed.Length && came.SequenceEqual(joined) && left.SequenceEqual(removed)
                && _to.TryGetTarget(out var roster)
                ? roster
                : null;
    }
}
