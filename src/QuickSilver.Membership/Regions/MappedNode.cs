using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Adoption;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A node in the region map: its open topics, and its place in each set of topics.
internal sealed class MappedNode(NodeKey key)
{
    private readonly List<Place?> _places = [];

    public NodeKey Key { get; } = key;

    public Dictionary<ulong, Opener> Open { get; } = [];

    public VisibleRegions VisibleRegions { get; } = new();

    /// <summary>The addresses of topics to which the node subscribes.</summary>
    public NodeAddresses Addresses => field ??= new NodeAddresses();

    // Whether the node was a member before and returned. It may have sent in views of regions that have not changed since.
    public bool HasReturned { get; init; }
    // Where it came from then.
    public Origin Origin { get; init; }
    // How many nodes it knew there, itself included.
    public int KnownNodes { get; init; }
    // What it holds from there, until the first configuration of this service is made.
    public AdoptableViews? Held { get; set; }
    // The first configuration that contains the node; 0 before it.
    public long AdmittedAt { get; set; }

    public bool IsRemoved { get; set; }

    /// <summary>By set number; null for a set in which the node never was.</summary>
    public IReadOnlyList<Place?> Places => _places;

    /// <summary>Removes a reason for which the region is visible. Without a reason, the node gets only the end of this view.</summary>
    public void RemoveReasonFor(Region region)
    {
        if (VisibleRegions.RemoveReason(region))
        {
            region.AwaitingViewEnd.Add(this);
        }
    }

    public Place? PlaceIn(int set) => set < _places.Count ? _places[set] : null;

    /// <param name="set">The set.</param>
    /// <param name="keyOfTopic">The keys of topics.</param>
    /// <param name="common">The topics that all nodes of the set get; null: each gets what it wants.</param>
    public Place AddPlace(int set, Func<ulong, TopicSetKey> keyOfTopic, TopicSet? common = null)
    {
        while (_places.Count <= set)
        {
            _places.Add(null);
        }

        return _places[set] = new Place(this, set, keyOfTopic) { Common = common };
    }
}

// One node's access to one topic. There is one for each topic of each node, so it is kept small.
internal sealed class Opener(MappedNode node, MappedTopic topic)
{
    private Traits _traits = Traits.Fresh;

    public MappedNode Node { get; } = node;

    public MappedTopic Topic { get; } = topic;

    // The index in the topic's table of openers, which alone sets it; -1 if the topic is no longer open at this node.
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

    // Whether the node subscribes in the last view that it got.
    public bool SentSubscribed
    {
        get => Has(Traits.SentSubscribed);
        set => Set(Traits.SentSubscribed, value);
    }

    // Whether the topic's regions are visible to the node because of this opener: from when the node publishes until it closes the topic.
    public bool IsRouted
    {
        get => Has(Traits.Routed);
        set => Set(Traits.Routed, value);
    }

    // Whether the node has the views of all of the topic's regions from the earlier service.
    public bool WasRouted
    {
        get => Has(Traits.WasRouted);
        set => Set(Traits.WasRouted, value);
    }

    // Whether the node has no view of the topic yet.
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
        SentSubscribed = 4,
        Routed = 8,
        Fresh = 16,
        WasRouted = 32,
    }
}
