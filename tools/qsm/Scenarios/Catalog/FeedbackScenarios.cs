using QuickSilver.Simulation.Experiments;
using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// More feedback to the sender, and memory overheads on receivers: sections 4.1 and 4.2 of the longer report, 5.1 and 5.2 of the paper.
internal static class FeedbackScenarios
{
    // Members of a partition, by default.
    private const int Replicas = 5;

    private static readonly LoadFaults Lossy = new() { Loss = 0.01 };

    private static IReadOnlyList<Variant> NumberOrRanges { get; } =
    [
        new("one number", plan => plan),
        new("a range for each partition", plan => plan with { FeedbackRanges = Math.Max(2, (plan.Nodes - 1) / Replicas) }),
    ];

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "feedback-ranges",
            Figures = "L23 (over ranges)",
            Description = "Throughput, and what the sender keeps, over the ranges in which an acknowledgement says what all hold, from one "
                + "number to a range for each partition; 1% lost by each receiver on its own, as without losses there is but one range.",
            PaperSays = "Section 5.1, figure 18: \"causing tokens to carry larger amounts of feedback per round by making this amount "
                + "proportional to the region size increases processing complexity, and despite memory saving, it is counterproductive\".",
            Axis = Axis.FeedbackRanges,
            Points = [1, 5, 40],
            Plan = Scenario.Unpacked(200) with { FeedbackRanges = 40, Faults = Lossy },
            Curves = [Throughput, PendingAcks, SenderKept, ReceiverKept],
        },
        new()
        {
            Name = "feedback-vs-nodes",
            Figures = "L23, L24, Q18",
            Description = "Throughput, and packets pending acknowledgement, over the number of nodes, where acknowledgements say one "
                + "number and where they say a range for each partition; 1% lost by each receiver on its own.",
            PaperSays = "Section 5.1, figure 18 (axes: 0 to 200 nodes, 7,600 to 8,200 messages/s): with ranges the unacknowledged data is "
                + "30% less, throughput is lower, and flow control becomes unstable.",
            NotShown = "A token with more ranges costs our model no more processor time than its bytes.",
            Points = [20, 60, 120, 200],
            Plan = Scenario.Unpacked(200) with { Faults = Lossy },
            Variants = NumberOrRanges,
            Curves = [Throughput with { Range = (7600, 8200) }, PendingAcks],
        },
        new()
        {
            Name = "feedback-over-time",
            Figures = "L25",
            Description = "Throughput in each tenth of a second with 200 nodes, where acknowledgements say one number and where they say a "
                + "range for each partition; 1% lost by each receiver on its own.",
            PaperSays = "The longer report, figure 25: \"the system now tends to behave in an unstable manner\".",
            Points = [],
            Plan = Scenario.Unpacked(200) with { Faults = Lossy },
            Variants = NumberOrRanges,
            Curves = [Throughput],
            Traces = [Trace.OverTime("messages/s at a receiver", traces => traces.RateOverTime)],
            ReportLength = TimeSpan.FromSeconds(3),
        },
        new()
        {
            Name = "replication-factor",
            Figures = "L26, L27, Q19, Q20",
            Description = "Throughput over the number of receivers that keep each packet until all hold it, up to all.",
            PaperSays = "Section 5.2, figures 19 and 20 (axes: 0 to 70 replicas in a region of 192 nodes, 6,700 to 7,600 messages/s, "
                + "0.3 to 2.7 s of token round trip, 0 to 180 MB kept by a receiver, 0 to 60,000 messages pending ACK): \"a super-linear "
                + "increase of the token roundtrip time and a slow increase of the number of messages pending ACK on the sender, causing "
                + "a sharp decrease in throughput\"; from 5 to all nodes of the region the token round trip grows 3-fold.",
            NotShown = "Our receivers keep so little, as everything is stable within milliseconds, that the factor hardly matters.",
            Axis = Axis.Replicas,
            Points = [5, 20, 65, 192],
            Plan = Scenario.Unpacked(193) with { Replicas = 192 },
            Curves =
            [
                Throughput with { Range = (6700, 7600) },
                TokenRoundTrip with { Paper = new("the papers' growth, from our first point", (5, 1), (192, 3)) { IsRelative = true } },
                PendingAcks,
                ReceiverKept,
            ],
        },
    ];
}
