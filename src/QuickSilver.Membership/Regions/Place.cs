using QuickSilver.Membership.Regions.Sets;

namespace QuickSilver.Membership.Regions;

// A node in one set of topics: the topics of the set to which it subscribes from the next configuration on, and the region of the set of
// which it is a member until then.
internal sealed class Place(MappedNode node, int set, Func<ulong, TopicSetKey> keyOfTopic)
{
    public MappedNode Node { get; } = node;

    public int Set { get; } = set;

    public TopicSet Wanted { get; } = new(keyOfTopic);

    // The topics whose messages the node gets in its region: those that it wants or, where one region is for all, those that any node
    // wants.
    public TopicSet Received => Common ?? Wanted;

    public TopicSet? Common { get; init; }

    // The sum of the weights of the topics in Wanted.
    public long Weight { get; set; }

    // The nodes that subscribe to the same topics of the set; null while Wanted is empty.
    public Overlap? Overlap { get; set; }

    public Region? Region { get; set; }

    // Its region before the configuration that last moved it.
    public Region? Previous { get; set; }

    // What happens to the place in the next configuration.
    public bool IsMoved { get; set; }
    // The node closed a topic of its region and opened it again. The region then needs a new view even if its members are the same, because
    // no node may begin to receive in the middle of a view.
    public bool IsRenewed { get; set; }
}
