using QuickSilver.Simulation.Experiments;
using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// Overheads in a perturbed system: section 4.3 of the longer report, 5.3 of the paper. One receiver, the last, is perturbed.
internal static class PerturbedScenarios
{
    private static readonly LoadFaults Sleep = new() { Sleep = true };
    private static readonly LoadFaults Bursts = new() { LossBursts = true };

    // From what delays alarms by one packet to longer than the sleep, in milliseconds.
    private static readonly double[] DelayClasses = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

    // The sleep comes every 5 s, for the first time after half of that.
    private static readonly TimeSpan OneSleep = TimeSpan.FromSeconds(3.5);

    private static IReadOnlyList<Curve> Curves { get; } =
    [
        Throughput with { Range = (5500, 8500) },
        TokenRoundTrip,
        new("time to recover at the perturbed node, ms", point => point.PerturbedRecoveryMillis),
        new("time to recover, all nodes, ms", point => point.RecoveryMeanMillis),
        new("packets missed at the perturbed node, %", point => point.PerturbedLossShare * 100),
        new("kept by the perturbed node, KB", point => point.PerturbedKeptBytes / 1e3),
        PendingAcks,
    ];

    // As long as the runs of other figures, so that they are the same runs.
    private static Variant Undisturbed { get; } =
        new("undisturbed", plan => plan with { Faults = new LoadFaults(), Duration = TimeSpan.FromSeconds(1) });

    private static IReadOnlyList<Variant> AllKinds { get; } =
    [
        new("undisturbed", plan => plan),
        new("sleep", plan => plan with { Faults = Sleep }),
        new("loss", plan => plan with { Faults = Bursts }),
    ];

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "perturbed-sleep",
            Figures = "L28 to L32, Q21, Q22",
            Description = "One receiver stands still for 0.5 s every 5 s: throughput, token round trip, time to recover, what that node "
                + "missed and keeps, and what is pending.",
            PaperSays = "Section 5.3, figures 21 and 22 (axes: 0 to 200 nodes, 5,500 to 8,500 messages/s, 0 to 4 s): throughput "
                + "decreases with the number of nodes from about 80 on, and the token round trip is twice that of undisturbed runs; the "
                + "node misses 2 to 3% of the packets, and a repair takes 2 rounds of the token.",
            NotShown = "A window is half a receive buffer, so what is on the way waits in the buffer of the node that sleeps, and it "
                + "misses nothing.",
            Points = [20, 80, 200],
            Plan = Scenario.Unpacked(200) with { Faults = Sleep },
            Variants = [new("sleep", plan => plan), Undisturbed],
            Curves = Curves,
            ReportLength = OneSleep,
        },
        new()
        {
            Name = "perturbed-loss",
            Figures = "L28 to L31, L33, Q21, Q23",
            Description = "One receiver loses all that comes in for 10 ms every second: the same quantities.",
            PaperSays = "Section 5.3, figures 21 and 23 (axes: 0 to 200 nodes, 5,500 to 8,500 messages/s): throughput decreases "
                + "with the number of nodes; the resulting loss rate at that node \"is up to 2-5%\", and the token round trip doubles.",
            Points = [20, 80, 200],
            Plan = Scenario.Unpacked(200) with { Faults = Bursts },
            Variants = [new("loss", plan => plan), Undisturbed],
            Curves = Curves,
            ReportLength = TimeSpan.FromSeconds(2),
        },
        new()
        {
            Name = "alarm-delays",
            Figures = "L34, L35",
            Description = "How often the greatest delay of an alarm in a second was so large, at a sender and at receivers, without and "
                + "with a perturbed receiver.",
            PaperSays = "The longer report, figures 34 and 35: on receivers the maximum is 12 to 14 ms in unperturbed runs and 130 to 140 "
                + "ms in perturbed ones; on the sender it grows from 700 ms to 1.3 s.",
            NotShown = "The model has no pauses of the collector as such and no other processes; the node that sleeps is a receiver.",
            Points = [],
            Plan = Scenario.Unpacked(100),
            Variants = AllKinds,
            Curves = [Throughput, SenderAlarmDelay, ReceiverAlarmDelay],
            Traces =
            [
                Trace.Histogram(
                    "greatest delay in a second, receivers", traces => traces.ReceiverAlarms.GreatestPerSecond, DelayClasses),
                Trace.Histogram("greatest delay in a second, sender", traces => traces.SenderAlarms.GreatestPerSecond, DelayClasses),
            ],
            ReportLength = TimeSpan.FromSeconds(20),
        },
    ];
}
