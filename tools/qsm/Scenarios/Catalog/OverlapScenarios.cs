using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios.Catalog;

// Irregular overlap: section 3 of the paper. Nodes are assigned to regions, and nothing is sent.
internal static class OverlapScenarios
{
    private const string PaperSays = "Section 3, figures 5 and 6 (250 to 2,000 nodes, 1,000 to 10,000 groups): \"an average node "
        + "belongs to between 4 and 14 regions\", and 95% of its packets come through 2 of these; \"no group is ever fragmented "
        + "into more than ~5 regions\", and regions \"generally contained 5-10 members\".";

    private const string TwoReadings = "\"Some 10% of the groups\" has two readings: as many draws as a tenth, or so many different "
        + "topics. Topics are divided into sets by our rule, by the papers' greedy one, or not at all: each has a region of its own, or "
        + "all share one, which brings nodes what they did not subscribe to. In the hybrid mode, the topics that need it most have "
        + "addresses of their own, to which a message is sent once: up to 64 or 16 at a node. \"By traffic\" is as if the service knew "
        + "the traffic of each topic.";

    private static readonly TopicAddressRules Few = new() { MostOfNode = 16 };

    private static IReadOnlyList<Variant> Rules { get; } =
    [
        new("drawn, our rule", plan => plan),
        new("distinct, our rule", plan => plan) { Distinct = true },
        new("drawn, our rule, hybrid", plan => plan) { Addresses = new TopicAddressRules() },
        new("distinct, our rule, hybrid", plan => plan) { Distinct = true, Addresses = new TopicAddressRules() },
        new("drawn, our rule, hybrid, 16 addresses a node", plan => plan) { Addresses = Few },
        new("distinct, our rule, hybrid, 16 addresses a node", plan => plan) { Distinct = true, Addresses = Few },
        new("drawn, our rule, hybrid, 16 by traffic", plan => plan) { Addresses = Few, KnowsTraffic = true },
        new("distinct, our rule, hybrid, 16 by traffic", plan => plan) { Distinct = true, Addresses = Few, KnowsTraffic = true },
        new("drawn, the papers' greedy rule", plan => plan) { Sets = TopicSetRules.PapersGreedy },
        new("distinct, the papers' greedy rule", plan => plan) { Distinct = true, Sets = TopicSetRules.PapersGreedy },
        new("drawn, a region for each topic", plan => plan) { Sets = TopicSetRules.RegionPerTopic },
        new("distinct, a region for each topic", plan => plan) { Distinct = true, Sets = TopicSetRules.RegionPerTopic },
        new("drawn, one region for all", plan => plan) { Sets = TopicSetRules.RegionForAll },
        new("distinct, one region for all", plan => plan) { Distinct = true, Sets = TopicSetRules.RegionForAll },
    ];

    private static IReadOnlyList<Curve> Curves { get; } =
    [
        new("regions of a node", point => point.RegionsPerNode),
        new("sends of a message", point => point.SendsPerMessage),
        new("topics with an address to which a node subscribes", point => point.TopicAddressesPerNode),
        new("regions of a topic", point => point.RegionsPerTopic),
        new("share of a node's traffic in two regions", point => point.ShareOfTwoBusiest),
        new("regions that bring 95% of a node's traffic", point => point.RegionsOfMostTraffic),
        new("share of a node's traffic that it subscribed to", point => point.ShareWanted),
        new("topics of a node", point => point.TopicsPerNode),
    ];

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "irregular-overlap",
            Figures = "Q5, Q6",
            Description = "Regions of nodes whose interests are all their own (Zipf 1.5, a tenth of the topics), over the number of "
                + "topics. " + TwoReadings,
            PaperSays = PaperSays,
            Axis = Axis.Topics,
            Points = [1000, 2500, 5000, 10_000],
            Plan = new LoadPlan { Nodes = 250, Topics = 1000 },
            IsAssignment = true,
            Variants = Rules,
            Curves = Curves,
        },
        new()
        {
            Name = "irregular-overlap-vs-nodes",
            Figures = "Q5, Q6",
            Description = "The same over the number of nodes, with 10,000 topics. " + TwoReadings,
            PaperSays = PaperSays,
            Points = [250, 500, 1000, 2000],
            Plan = new LoadPlan { Nodes = 2000, Topics = 10_000 },
            IsAssignment = true,
            Variants = Rules,
            Curves = Curves,
        },
    ];
}
