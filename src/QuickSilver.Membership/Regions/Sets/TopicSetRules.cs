namespace QuickSilver.Membership.Regions.Sets;

// By which rule a topic gets its set. All but the first exist for experiments that compare with them.
internal enum TopicSetPolicy
{
    // Where it costs least, in one of at most MaxSets sets.
    LeastCost,
    // The papers' greedy rule: the largest topic first, each in the first set where it makes no region of fewer than SmallRegion members
    // of larger ones, or else in a new set. The number of sets is what it needs. The papers do not say what becomes of a topic with fewer
    // subscribers than that: here it joins a set if it is exactly one of its regions, or has no subscriber in common with it.
    FirstRegular,
    // Each topic in a set of its own, so that it has one region: one limit that the papers name, "separate protocol instances per topic"
    // (000, section 1).
    OneEach,
    // All topics in one set, and all nodes that subscribe to anything in one region, where each drops what it did not subscribe to: the
    // other limit, "a single broadcast domain and filter on receive" (000, section 2).
    OneForAll,
}

// The weights for the partition of topics into sets; see TopicSets.
internal sealed record TopicSetRules
{
    // One set more than a service may have topics of all nodes, so that the sets of pinned topics come after all others.
    private const int NoBound = 1 << 20;

    /// <summary>The papers' rule, where it needs as many sets as it needs.</summary>
    public static TopicSetRules PapersGreedy { get; } = new() { Policy = TopicSetPolicy.FirstRegular, MaxSets = NoBound };

    /// <summary>One region for each topic, which always has a group.</summary>
    public static TopicSetRules RegionPerTopic { get; } =
        new() { Policy = TopicSetPolicy.OneEach, MaxSets = NoBound, SmallRegion = 1 };

    /// <summary>One region for all topics and all their subscribers.</summary>
    public static TopicSetRules RegionForAll { get; } = new() { Policy = TopicSetPolicy.OneForAll, MaxSets = 1 };

    public TopicSetPolicy Policy { get; init; }

    // The maximum number of regions of a node, without those of pinned topics, because a node is a member of at most one region of each
    // set. An average node of the paper is a member of 4 to 14 regions (001, section 3).
    public int MaxSets { get; init; } = 14;

    // Topics stay together in the first set while it has no more regions than this. So few regions cost little, and a node that is a member
    // of one region has one ring and one group. A topic spans about half of the regions of a set, some 5 in the paper.
    public int RegularOverlaps { get; init; } = 8;

    // Outside the first set, a region with fewer members than this has no group: its packets are sent to each member, which takes as many
    // sends as there are members. The paper's regions have 5 to 10 members.
    public int SmallRegion { get; init; } = 5;

    // The region of a pinned topic has a group with this many members or more, if each of them has fewer than SmallGroups in such regions
    // of fewer than SmallRegion members. A group of processes is often that small, and with three members a copy to each costs a sender
    // three times the system's work. A host filters only some dozens of groups in its interface.
    public int SmallPinnedRegion { get; init; } = 3;

    public int SmallGroups { get; init; } = 16;

    // The membership of a node in one more region (a ring's tokens, a group, views to be sent) weighs as much as one more send for each
    // message of a topic to which a quarter of all nodes subscribe. With a much lower weight there are more regions than the traffic needs.
    // With a much higher weight the topics crowd in few sets, where they break up into small regions.
    public int NodesToMembershipCost { get; init; } = 4;

    // Outside the first two sets, a message of a topic weighs this many sends more. The busiest topics of a node then crowd in the first
    // two sets, so the node has two busy rings, and the others are almost idle; the price is the additional sends that the crowding causes.
    // The weight matters most if there are few nodes: in large clusters, a topic that breaks up a set costs more sends than this anyway.
    public int FarSetCost { get; init; } = 100;

    public long FarCost(int set, int subscribers) => set < 2 ? 0 : (long)FarSetCost * subscribers;

    public long MembershipCost(int nodes) => Math.Max(1, nodes / NodesToMembershipCost);

    /// <summary>The number of sends for a packet to a region of so many members.</summary>
    public int Sends(int members) => members < SmallRegion ? members : 1;
}
