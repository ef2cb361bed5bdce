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
    private WeakReference<Step>? _next;
    // What made this one, kept here so that the one before it finds it for as long as this one is in use.
    private Step? _madeBy;

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

    /// <summary>How it is after a configuration. A snapshot says all there is; who is both removed and joined is there anew.</summary>
    public NodeRoster After(bool isSnapshot, ImmutableArray<NodeInfo> joined, ImmutableArray<NodeKey> removed)
    {
        if (isSnapshot)
        {
            return Empty.After(isSnapshot: false, joined, []);
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
        var to = Share(Merge(_nodes.Where(node => !gone.Contains(node.Key)), joined));
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
        public NodeRoster To => to;

        public bool Leads(ImmutableArray<NodeInfo> came, ImmutableArray<NodeKey> left) =>
            (came == joined || came.AsSpan().SequenceEqual(joined.AsSpan()))
            && (left == removed || left.AsSpan().SequenceEqual(removed.AsSpan()));
    }
}
