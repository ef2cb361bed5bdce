using QuickSilver.Groups;
using QuickSilver.Simulation.Experiments;
using QuickSilver.Tool.Scenarios.Groups;
using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// Process groups: the report on Isis.
internal static class GroupScenarios
{
    private static readonly int[] MemberCounts = [2, 4, 6, 8];

    // The paper has no figure for the oldest member, whose abcast goes as a cbcast. So another one sends.
    private static readonly GroupLoad Causal = new(GroupOrder.Causal);
    private static readonly GroupLoad Total = new(GroupOrder.Total);

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "isis-throughput",
            Figures = "I4, I5, I8, I9, I12, I13, I16, I17",
            Description = "x",
            PaperSays = "x",
            Axis = Axis.MessageBytes,
            Points = [4, 100, 1000, 5000, 20_000, 60_000, 140_000],
            Plan = Members(8),
            Variants =
            [
                .. MemberCounts.Select(count => Of("causal", count, Causal)),
                .. MemberCounts.Select(count => Of("total", count, Total)),
                Of("total, the sender orders", 8, Total with { OrderMoves = true }),
            ],
            Curves = [Kilobytes, Throughput, SenderBusy, ReceiverBusy],
            ReportLength = TimeSpan.FromSeconds(5),
        },
        new()
        {
            Name = "isis-sync-throughput",
            Figures = "I6, I7, I10, I11, I14, I15, I18, I19",
            Description = "x",
            PaperSays = "x",
            Axis = Axis.MessageBytes,
            Points = [4, 100, 1000, 5000, 20_000, 60_000, 140_000],
            Plan = Members(8),
            Variants =
            [
                .. MemberCounts.Select(count => Of("causal", count, Causal with { IsAsked = true })),
                .. MemberCounts.Select(count => Of("total", count, Total with { IsAsked = true })),
                Of("total, the sender orders", 8, Total with { IsAsked = true, OrderMoves = true }),
            ],
            Curves = [Kilobytes, Throughput, SenderBusy, ReceiverBusy],
            ReportLength = TimeSpan.FromSeconds(5),
        },
        new()
        {
            Name = "isis-latency",
            Figures = "I20",
            Description = "x",
            PaperSays = "x",
            Points = [2, 3, 4, 5, 6, 7, 8],
            Plan = Members(8) with { Rate = 50 },
            Variants =
            [
                new("causal", plan => plan) { Group = Causal },
                new("total", plan => plan) { Group = Total },
                new("total, the sender orders", plan => plan) { Group = Total with { OrderMoves = true } },
            ],
            Curves = [LatencyMedian, Latency, LatencyP99],
            ReportLength = TimeSpan.FromSeconds(10),
        },
        new()
        {
            Name = "isis-churn",
            Figures = "I21",
            Description = "x",
            PaperSays = "x",
            Points = [],
            Plan = Members(4) with { Rate = 250 },
            Variants =
            [
                new("a fourth member joins and leaves", plan => plan)
                {
                    Group = Causal with { OldestSends = true, ChurnInterval = TimeSpan.FromSeconds(1) },
                },
                new("three members", plan => plan with { Nodes = 3 }) { Group = Causal with { OldestSends = true } },
                new("four members", plan => plan) { Group = Causal with { OldestSends = true } },
            ],
            Curves = [LatencyMedian, Latency, LatencyP99],
            Traces = [Trace.OverMessages("latency of each message, ms", traces => traces.LatencyOfEach)],
            ReportLength = TimeSpan.FromSeconds(20),
        },
    ];

    private static LoadPlan Members(int count) => new() { Nodes = count, Host = HostModel.Isis };

    private static Variant Of(string order, int members, GroupLoad load) =>
        new($"{order}, {members} members", plan => plan with { Nodes = members }) { LeastNodes = members, Group = load };
}
