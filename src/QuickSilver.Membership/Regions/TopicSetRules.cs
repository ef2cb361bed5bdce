namespace QuickSilver.Membership.Regions;

// What weighs how much when topics are parted into sets; see TopicSets.
internal sealed record TopicSetRules
{
    // The bound on the regions of a node without those of pinned topics, since it lies in one region of each set at most. The paper's
    // nodes lie in up to 14; a host joins 20 multicast groups by default (igmp_max_memberships), and views that are not settled yet
    // keep theirs.
    public int MaxSets { get; init; } = 14;

    // Topics stay together in the first set while it has no more regions than this: so few are no trouble, and a node that
    // lies in one region has one ring and one group. A topic spans about half of a set's regions, some 5 in the paper.
    public int RegularOverlaps { get; init; } = 8;

    // A region with fewer members has no group outside the first set: its packets go to each member, as many sends as
    // members. The paper's regions have 5 to 10.
    public int SmallRegion { get; init; } = 5;

    // A node's place in one more region (a ring's tokens, a group, views to be told) weighs as much as one more send for each
    // message of a topic to which a quarter of all nodes subscribes. With much less of it there are more regions than the traffic
    // needs, with much more the topics crowd in few sets and fall apart into small regions there.
    public int NodesToMembershipCost { get; init; } = 4;

    // A topic's message weighs so many sends more outside the first two sets. A node's busiest topics crowd in these two then, and it
    // has two rings that work, while the others hardly turn; the price is what the crowding costs in sends. It counts most
    // where nodes are few: in large clusters a topic that breaks up a set costs more sends than this anyway.
    public int FarSetCost { get; init; } = 100;

    public long FarCost(int set, int subscribers) => set < 2 ? 0 : (long)FarSetCost * subscribers;

    public long MembershipCost(int nodes) => Math.Max(1, nodes / NodesToMembershipCost);

    /// <summary>How many sends carry a packet to a region of so many members.</summary>
    public int Sends(int members) => members < SmallRegion ? members : 1;
}
