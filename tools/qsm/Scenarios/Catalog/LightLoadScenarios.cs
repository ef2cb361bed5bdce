using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// Overheads in a lightly loaded system: section 4.4 of the longer report, 5.4 of the paper.
internal static class LightLoadScenarios
{
    private static readonly double[] Rates = [1000, 2500, 4000, 5500, 7000, 8000, 9000];

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "load-vs-rate",
            Figures = "L36, L37, L39, Q24, Q26",
            Description = "What is pending, the token round trip, what nodes keep, and how late alarms fire, over the rate of messages, "
                + "with 100 receivers.",
            PaperSays = "Section 5.4, figures 24 and 26: pending data grows linearly with the rate at the sender and hardly at receivers; "
                + "from 7,000 to 8,000 messages/s the mean delay of alarms grows from 1.5 to 3 ms on receivers and from 7 to 45 ms on the "
                + "sender (longer report, section 4.4).",
            Axis = Axis.Rate,
            Points = Rates,
            Plan = Scenario.Unpacked(101) with { Rate = 9000 },
            Curves =
            [
                PendingAcks,
                TokenRoundTrip,
                SenderKept,
                ReceiverKept,
                SenderAlarmDelay with { Paper = new("the longer report", (7000, 7), (8000, 45)) },
                ReceiverAlarmDelay with { Paper = new("the longer report", (7000, 1.5), (8000, 3)) },
            ],
        },
        new()
        {
            Name = "latency-vs-rate",
            Figures = "L38, Q25",
            Description = "From publishing to the handler, over the rate of messages, for messages of 16 to 1,000 bytes.",
            PaperSays = "Section 5.4, figure 25 (axes: 1,000 to 10,000 messages/s, 0 to 50 ms; 100 receivers): latency grows at the "
                + "highest rates, where I/O starves timers and control messages, with 1,000 bytes and not with 16.",
            NotShown = "Messages are published at even intervals, so they wait for nothing up to the limit.",
            Axis = Axis.Rate,
            Points = [1000, 4000, 7000, 8000, 9000],
            Plan = Scenario.Unpacked(101) with { Rate = 9000 },
            Variants =
            [
                new("1,000 bytes", plan => plan),
                new("250 bytes", plan => plan with { MessageBytes = 250 }),
                new("16 bytes", plan => plan with { MessageBytes = 16 }),
            ],
            Curves = [Latency with { Range = (0, 50) }, LatencyMedian, LatencyP99],
        },
    ];
}
