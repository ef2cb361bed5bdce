using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Simulation.Experiments;
using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// The memory of the protocol stack: section 4.5 of the longer report, 5.5 of the paper. All nodes subscribe to all topics.
internal static class TopicScenarios
{
    private static IReadOnlyList<Variant> Weights { get; } =
    [
        new("light topics (ours)", plan => plan),
        new("topics of the papers' weight", plan => plan with { Weight = TopicWeight.Papers }),
        new("heavyweight topics", plan => plan with { Weight = TopicWeight.Heavyweight }),
    ];

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "topics",
            Figures = "L40 to L43, Q27 to Q29",
            Description = "Throughput, what is pending, the token round trip, live memory and the collector's time over the number of "
                + "topics, sent to in turn, all with the same subscribers; with our topics, and with topics that weigh as much as the "
                + "papers' did.",
            PaperSays = "Section 5.5, figure 28 (axes: 0 to 8,000 topics, 6,500 to 8,000 messages/s; 110 receivers): \"at 6000 "
                + "groups throughput degrades sharply\", and with \"heavyweight\" topics, which trace, it is lower still. With 8,192 "
                + "topics the process peaks at 360 MB (longer report, section 4.5).",
            NotShown = "Ten receivers, since only the load of the sender depends on topics; --nodes 111 has the papers' number. The "
                + "weights of the papers' topics are set so that throughput falls as far as the axis of their figure goes. The model "
                + "has no swapping, which the papers were close to.",
            Axis = Axis.Topics,
            Points = [1, 1024, 4096, 8192],
            Plan = Scenario.Unpacked(11) with { Topics = 8192 },
            Variants = Weights,
            Curves =
            [
                Throughput with { Range = (6500, 8000) }, PendingAcks, TokenRoundTrip, SenderLive, ReceiverLive, SenderCollector,
            ],
        },
        new()
        {
            Name = "token-distributions",
            Figures = "L44 to L46, Q30, Q31",
            Description = "Distributions with few and with many heavyweight topics: the rate in each tenth of a second, the token round "
                + "trip of a ring, and the intervals between tokens at a receiver.",
            PaperSays = "Section 5.5, figures 30 and 31: with 7,168 groups most delays come from 40% of the tokens, and the sender "
                + "delays about 10% of them; the rates of 1,024 and 8,192 topics differ at the low end (longer report, figure 44).",
            Points = [],
            Plan = Scenario.Unpacked(20),
            Variants =
            [
                new("1,024 topics", plan => plan with { Topics = 1024, Weight = TopicWeight.Heavyweight }),
                new("4,096 topics", plan => plan with { Topics = 4096, Weight = TopicWeight.Heavyweight }),
                new("7,168 topics", plan => plan with { Topics = 7168, Weight = TopicWeight.Heavyweight }),
                new("8,192 topics", plan => plan with { Topics = 8192, Weight = TopicWeight.Heavyweight }),
            ],
            Curves = [Throughput],
            Traces =
            [
                Trace.Cdf("messages/s at a receiver", "messages/s", traces => traces.RateOverTime),
                Trace.Cdf("token round trip of one ring", traces => traces.RingRoundTrips),
                Trace.Cdf("interval between tokens", traces => traces.TokenIntervals),
            ],
            ReportLength = TimeSpan.FromSeconds(2),
        },
        new()
        {
            Name = "region-per-topic",
            Figures = "(section 2)",
            Description = "Four communities of receivers, each with interests of its own, over the number of topics: where topics of the "
                + "same subscribers share a region, where each topic has a region of its own, and so its own rings, streams and "
                + "acknowledgements, and where all topics share one region and receivers drop what they did not subscribe to.",
            PaperSays = "Section 2 names two limits that systems before it had: \"systems that run separate protocols per topic and those "
                + "that treat the entire system as a single broadcast domain and filter on receive\".",
            Axis = Axis.Topics,
            Points = [4, 16, 64],
            Plan = Scenario.Unpacked(21) with { Topics = 64, Communities = 4 },
            Variants =
            [
                new("regions by interest", plan => plan),
                new("a region for each topic", plan => plan with { Sets = TopicSetRules.RegionPerTopic }),
                new("one region for all", plan => plan with { Sets = TopicSetRules.RegionForAll }),
            ],
            Curves = [Sent, SenderBusy, ReceiverBusy, PendingAcks, TimeToAcknowledge],
            ReportLength = TimeSpan.FromSeconds(3),
        },
    ];
}
