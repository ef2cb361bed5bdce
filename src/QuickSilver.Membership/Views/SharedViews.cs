namespace QuickSilver.Membership.Views;

// The rosters and region views that the nodes of one cluster in one process have in common: a simulated cluster, a swarm. The code that
// creates the nodes passes one of these to each of them. All nodes get the same configurations, so all but the first find what the first
// made. Only an equal object is ever found, so sharing changes nothing but the memory that the nodes take.
//
// The references are weak: an object that no node uses any more is not kept. Nodes with their own threads may share one of these, without
// a lock: a node that misses an object creates it again.
internal sealed class SharedViews
{
    private const int RegionSlots = 64;
    private const int RosterSlots = 16;

    private readonly WeakReference<RegionView>?[] _regions = new WeakReference<RegionView>?[RegionSlots];
    private readonly WeakReference<NodeRoster>?[] _rosters = new WeakReference<NodeRoster>?[RosterSlots];

    public SharedViews()
    {
        NoNodes = new NodeRoster([], this);
    }

    /// <summary>The roster before the first configuration.</summary>
    public NodeRoster NoNodes { get; }

    /// <summary>This view, or an equal one that another node has.</summary>
    public RegionView Share(RegionView view)
    {
        ref var slot = ref _regions[(int)((view.RegionId ^ view.Number) % RegionSlots)];
        if (Volatile.Read(ref slot) is { } recent && recent.TryGetTarget(out var known) && view.HasContentOf(known))
        {
            return known;
        }

        Volatile.Write(ref slot, new WeakReference<RegionView>(view));
        return view;
    }

    /// <summary>The roster of these nodes, which are in ascending order of keys.</summary>
    public NodeRoster Share(NodeInfo[] nodes)
    {
        if (nodes.Length == 0)
        {
            return NoNodes;
        }

        ref var slot = ref _rosters[(int)((nodes[0].Key.Id ^ (ulong)nodes.Length) % RosterSlots)];
        if (Volatile.Read(ref slot) is { } recent && recent.TryGetTarget(out var known) && known.All.SequenceEqual(nodes))
        {
            return known;
        }

        var created = new NodeRoster(nodes, this);
        Volatile.Write(ref slot, new WeakReference<NodeRoster>(created));
        return created;
    }
}
