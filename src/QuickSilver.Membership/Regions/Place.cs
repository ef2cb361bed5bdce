namespace QuickSilver.Membership.Regions;

// A node in one set of topics: what it is to subscribe to of that set from the next configuration on, and the region of the
// set that it lies in until then.
internal sealed class Place(MappedNode node, int set, Func<ulong, TopicSetKey> keyOfTopic)
{
    public MappedNode Node { get; } = node;

    public int Set { get; } = set;

    public TopicSet Wanted { get; } = new(keyOfTopic);

    // Of the topics that it wants, together.
    public long Weight { get; set; }

    // The nodes that want the same; null while it wants nothing.
    public Overlap? Overlap { get; set; }

    public Region? Region { get; set; }

    // Where it lay before the configuration that moved it last.
    public Region? Previous { get; set; }

    // What happens to it at the next configuration.
    public bool IsMoved { get; set; }
    // The node closed a topic of its region and opened it again: the region needs a new view even with the same members, since
    // nobody may begin to receive in the middle of one.
    public bool IsRenewed { get; set; }
}
