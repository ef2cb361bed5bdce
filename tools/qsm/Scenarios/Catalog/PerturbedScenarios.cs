using QuickSilver.Simulation.Experiments;
using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// Overheads in a perturbed system: section 4.3 of the longer report, 5.3 of the paper. One receiver, the last, is perturbed.
internal static class PerturbedScenarios
{
    private static readonly LoadFaults Sleep = new() { Sleep = true };
    private static readonly LoadFaults Bursts = new() { LossBursts = true };

    // The sleep comes every 5 s, for the first time after half of that.
    private static readonly TimeSpan OneSleep = TimeSpan.FromSeconds(3.5);

    private static IReadOnlyList<Curve> Curves { get; } =
    [
        Throughput,
        TokenRoundTrip,
        new("time to recover at the perturbed node, ms", point => point.PerturbedRecoveryMillis),
        new("time to recover, all nodes, ms", point => point.RecoveryMeanMillis),
        new("packets missed at the perturbed node, %", point => point.PerturbedLossShare * 100),
        new("kept by the perturbed node, KB", point => point.PerturbedKeptBytes / 1e3),
        PendingAcks,
    ];

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
            Points = [20, 80, 200],
            Plan = Scenario.Unpacked(200) with { Faults = Sleep },
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
            Curves = Curves,
            ReportLength = TimeSpan.FromSeconds(2),
        },
        new()
        {
            Name = "alarm-delays",
            Figures = "L34, L35",
            Description = "The greatest delay of an alarm in each second at a sender and at receivers, its distribution, without and with "
                + "a perturbed receiver.",
            PaperSays = "The longer report, figures 34 and 35: on receivers the maximum is 12 to 14 ms in unperturbed runs and 130 to 140 "
                + "ms in perturbed ones; on the sender it grows from 700 ms to 1.3 s.",
            NotShown = "The model has no pauses of the collector as such and no other processes; the node that sleeps is a receiver.",
            Points = [],
            Plan = Scenario.Unpacked(100),
            Variants = AllKinds,
            Curves = [Throughput, SenderAlarmDelay, ReceiverAlarmDelay],
            Traces =
            [
                Trace.Cdf("greatest delay in a second, receivers", "ms", traces => traces.ReceiverAlarms.GreatestPerSecond),
                Trace.Cdf("greatest delay in a second, sender", "ms", traces => traces.SenderAlarms.GreatestPerSecond),
            ],
            ReportLength = TimeSpan.FromSeconds(4),
        },
    ];
}
