using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A node as the region map sees it: what it has open, and its place in each set of topics.
internal sealed class MappedNode(NodeKey key)
{
    private readonly List<Place?> _places = [];

    public NodeKey Key { get; } = key;

    public Dictionary<ulong, Opener> Open { get; } = [];

    public VisibleRegions VisibleRegions { get; } = new();

    // It was a member before, was away, and may have sent in views of regions that have not changed since.
    public bool HasReturned { get; init; }
    // The first configuration that it is in; 0 before.
    public long AdmittedAt { get; set; }

    public bool IsRemoved { get; set; }

    /// <summary>By the number of the set; null where it never was in that set.</summary>
    public IReadOnlyList<Place?> Places => _places;

    /// <summary>Removes a reason for which the region is visible. Without a reason, the node is told only the end of this view.</summary>
    public void RemoveReasonFor(Region region)
    {
        if (VisibleRegions.RemoveReason(region))
        {
            region.AwaitingViewEnd.Add(this);
        }
    }

    public Place? PlaceIn(int set) => set < _places.Count ? _places[set] : null;

    public Place AddPlace(int set, Func<ulong, TopicSetKey> keyOfTopic)
    {
        while (_places.Count <= set)
        {
            _places.Add(null);
        }

        return _places[set] = new Place(this, set, keyOfTopic);
    }
}

// One node's access to one topic. There is one for each topic of each node, so it is kept small.
internal sealed class Opener(MappedNode node, MappedTopic topic)
{
    private Traits _traits = Traits.Fresh;

    public MappedNode Node { get; } = node;

    public MappedTopic Topic { get; } = topic;

    // Where it lies among the topic's openers, by which alone it is set; -1: the topic is not open here any more.
    public int Index { get; set; } = -1;

    public bool IsOpen => Index >= 0;

    public bool Subscribes
    {
        get => Has(Traits.Subscribes);
        set => Set(Traits.Subscribes, value);
    }

    public bool Publishes
    {
        get => Has(Traits.Publishes);
        set => Set(Traits.Publishes, value);
    }

    // What the last view that the node was told says.
    public bool ToldSubscribed
    {
        get => Has(Traits.ToldSubscribed);
        set => Set(Traits.ToldSubscribed, value);
    }

    // The topic's regions are visible to the node because of this opener: from when it publishes until it closes.
    public bool IsRouted
    {
        get => Has(Traits.Routed);
        set => Set(Traits.Routed, value);
    }

    // The node has no view of the topic yet.
    public bool IsFresh
    {
        get => Has(Traits.Fresh);
        set => Set(Traits.Fresh, value);
    }

    private bool Has(Traits trait) => (_traits & trait) != 0;

    private void Set(Traits trait, bool has) => _traits = has ? _traits | trait : _traits & ~trait;

    [Flags]
    private enum Traits : byte
    {
        None = 0,
        Subscribes = 1,
        Publishes = 2,
        ToldSubscribed = 4,
        Routed = 8,
        Fresh = 16,
    }
}
