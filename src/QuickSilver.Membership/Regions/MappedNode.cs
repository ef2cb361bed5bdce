using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A node as the region map sees it: what it has open, and its place in each set of topics.
internal sealed class MappedNode(NodeKey key)
{
    private readonly List<Place?> _places = [];

    public NodeKey Key { get; } = key;

    public Dictionary<ulong, Opener> Open { get; } = [];

    public Horizon Horizon { get; } = new();

    // It was a member before, was away, and may have sent in views of regions that have not changed since.
    public bool HasReturned { get; init; }
    // The first configuration that it is in; 0 before.
    public long AdmittedAt { get; set; }

    public bool IsRemoved { get; set; }

    /// <summary>By the number of the set; null where it never was in that set.</summary>
    public IReadOnlyList<Place?> Places => _places;

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

// One node's access to one topic.
internal sealed class Opener(MappedNode node, MappedTopic topic)
{
    public MappedNode Node { get; } = node;

    public MappedTopic Topic { get; } = topic;

    public bool Subscribes { get; set; }

    public bool Publishes { get; set; }

    // What the last view that the node was told says.
    public bool ToldSubscribed { get; set; }

    // The topic's regions are in the node's sight through this: from when it publishes until it closes.
    public bool IsRouted { get; set; }

    // The node has no view of the topic yet.
    public bool IsFresh { get; set; } = true;
}
