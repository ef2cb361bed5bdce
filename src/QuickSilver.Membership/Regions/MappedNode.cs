using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// A node as the region map sees it: what it has open, what it is to subscribe to from the next configuration on, and the
// region that it lies in until then.
internal sealed class MappedNode(NodeKey key, Func<ulong, TopicSetKey> keyOfTopic)
{
    public NodeKey Key { get; } = key;

    public TopicSet Wanted { get; } = new(keyOfTopic);

    public Dictionary<ulong, Opener> Open { get; } = [];

    public Horizon Horizon { get; } = new();

    // It was a member before, was away, and may have sent in views of regions that have not changed since.
    public bool HasReturned { get; init; }
    // The first configuration that it is in; 0 before.
    public long AdmittedAt { get; set; }

    public Region? Region { get; set; }

    // Where it lay before the configuration that moved it last.
    public Region? Previous { get; set; }

    // What happens to the node at the next configuration.
    public bool IsMoved { get; set; }
    public bool IsRemoved { get; set; }
    // It closed a topic of its region and opened it again: the region needs a new view even with the same members, since
    // nobody may begin to receive in the middle of one.
    public bool IsRenewed { get; set; }
}

// One node's access to one topic.
internal sealed class Opener(MappedNode node, MappedTopic topic)
{
    public MappedNode Node { get; } = node;

    public MappedTopic Topic { get; } = topic;

    public bool Subscribes { get; set; }

    // What the last view that the node was told says.
    public bool ToldSubscribed { get; set; }

    // The node has no view of the topic yet.
    public bool IsFresh { get; set; } = true;
}
