using QuickSilver.Groups;
using QuickSilver.Simulation.Experiments;
using QuickSilver.Tool.Scenarios.Groups;
using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// Process groups: sections 3.2 to 3.4 of the report on Isis. Its cbcast is our causal order, and its abcast our total order.
internal static class GroupScenarios
{
    private static readonly int[] MemberCounts = [2, 4, 6, 8];
    private static readonly double[] Sizes = [4, 100, 1000, 5000, 20_000, 60_000, 140_000];

    // The report has no figure for the oldest member, whose abcast goes as a cbcast. So another one sends.
    private static readonly GroupLoad Causal = new(GroupOrder.Causal);
    private static readonly GroupLoad Total = new(GroupOrder.Total);
    private static readonly GroupLoad Oldest = Causal with { OldestSends = true };

    private static readonly Curve[] Rates = [Kilobytes, Throughput, SenderBusy, ReceiverBusy];
    private static readonly Curve[] Latencies = [Latency, LatencyMedian, LatencyP99];

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "isis-throughput",
            Figures = "I4, I5, I8, I9, I12, I13, I16, I17",
            Description = "The most messages and bytes a second that one member sends, over the size of a message, in groups of 2 to 8 "
                + "members, in causal and in total order. All our multicasts go to the region, so the figures over UDP and over IP "
                + "multicast are one.",
            PaperSays = "Section 3.2 (axes: 0 to 140,000 bytes, to 900 and 800 KB/s): totally ordered messages have \"comparable "
                + "throughput except for very small messages\". At 4 bytes 1,632 cbcasts and 836 abcasts a second (figures 8 and 9). "
                + "Section 3.3: over IP multicast \"980KB/second from one sender to five destinations\" at best.",
            NotShown = NotLost,
            Axis = Axis.MessageBytes,
            Points = Sizes,
            Plan = Members(8) with { WarmUp = TimeSpan.FromSeconds(5) },
            Variants = OfAllCounts(Causal, Total),
            Curves = Rates,
            ReportLength = TimeSpan.FromSeconds(10),
        },
        new()
        {
            Name = "isis-sync-throughput",
            Figures = "I6, I7, I10, I11, I14, I15, I18, I19",
            Description = "The same where each message asks the youngest member for an answer, and the sender waits for it before it "
                + "sends the next.",
            PaperSays = "Section 3.2 (axes: 0 to 140,000 bytes, to 800 KB/s): \"a multicast in which one reply is requested, from a "
                + "single destination other than the sender\". At 4 bytes 318 cbcasts a second (figure 10).",
            NotShown = NotLost,
            Axis = Axis.MessageBytes,
            Points = Sizes,
            Plan = Members(8) with { WarmUp = TimeSpan.FromSeconds(5) },
            Variants = OfAllCounts(Causal with { IsAsked = true }, Total with { IsAsked = true }),
            Curves = Rates,
            ReportLength = TimeSpan.FromSeconds(10),
        },
        new()
        {
            Name = "isis-latency",
            Figures = "I20",
            Description = "From sending a message of 1,000 bytes to its delivery at another member, over the number of members, at 50 "
                + "messages a second.",
            PaperSays = "Section 3.2, figure 20 (axes: 2 to 8 members, 2 to 16 ms, over UDP): \"the more ordered protocol has "
                + "significantly greater end-to-end latency\", and \"IP multicast latency was found to be constant and comparable to the "
                + "two-member UDP case\".",
            Points = [2, 3, 4, 5, 6, 7, 8],
            Plan = Members(8) with { Rate = 50 },
            Variants =
            [
                new("causal", plan => plan) { Group = Causal },
                new("total", plan => plan) { Group = Total },
                new("total, the sender orders", plan => plan) { Group = Total with { OrderMoves = true } },
            ],
            Curves = Latencies,
            ReportLength = TimeSpan.FromSeconds(10),
        },
        new()
        {
            Name = "isis-churn",
            Figures = "I21",
            Description = "From sending to the delivery at the last of the other two, of each causal message of the oldest of three "
                + "members, 250 a second of 1,000 bytes, while a fourth is in the group for one second and out of it for one second, over "
                + "and over.",
            PaperSays = "Section 3.4, figure 21 (axes: messages 0 to 5,000, 0 to 30 ms): a join or leave is \"to significantly perturb "
                + "latency during a period of about 20ms, while the flush protocol runs, after which a discrete 'step' in average latency "
                + "occurs\", from 4 ms with three members to 5 ms with four.",
            NotShown = "The report's member sends as fast as it can. Ours would then queue messages at the sender, and their latency be "
                + "that of the queue.",
            Points = [],
            Plan = Members(4) with { Rate = 250 },
            Variants =
            [
                new("a fourth joins and leaves", plan => plan)
                {
                    LeastNodes = 3,
                    Group = Oldest with { ChurnInterval = TimeSpan.FromSeconds(1) },
                },
                new("three members", plan => plan with { Nodes = 3 }) { Group = Oldest },
                new("four members", plan => plan with { Nodes = 4 }) { Group = Oldest },
            ],
            Curves = Latencies,
            Traces = [Trace.OverMessages("latency of each message, ms", traces => traces.LatencyOfEach)],
            ReportLength = TimeSpan.FromSeconds(20),
        },
        new()
        {
            Name = "isis-senders",
            Figures = "(section 3.3)",
            Description = "What a member gets of all others together, over the number of members, where one member sends messages of "
                + "1,000 bytes as fast as it can, where three do, and where all do, with and without three tokens that they take in turn "
                + "for 50 messages each.",
            PaperSays = "Section 3.3: \"very high rates of loss resulted if many senders transmit simultaneously\", and 3 or 4 tokens for "
                + "senders cured it.",
            NotShown = "The interfaces, which lost what came in close succession, and a cable that all share: each member has a card of "
                + "its own. Tokens pass without a message.",
            Points = [2, 3, 4, 6, 8],
            // Until the buffers of all senders are full.
            Plan = Members(8) with { WarmUp = TimeSpan.FromSeconds(20) },
            Variants =
            [
                new("one sends, causal", plan => plan) { Group = Causal },
                new("one sends, total", plan => plan) { Group = Total },
                new("three send, causal", plan => plan with { Senders = 3 }) { LeastNodes = 4, Group = Causal },
                new("three send, total", plan => plan with { Senders = 3 }) { LeastNodes = 4, Group = Total },
                AllSend("three tokens, causal", Causal with { Tokens = 3 }) with { LeastNodes = 4 },
                AllSend("three tokens, total", Total with { Tokens = 3 }) with { LeastNodes = 4 },
                AllSend("all send, causal", Causal),
                AllSend("all send, total", Total),
            ],
            Curves = [Sent, Kilobytes, PacketsLost, MembersRemoved, ReceiverBusy],
            ReportLength = TimeSpan.FromSeconds(10),
        },
    ];

    private const string NotLost = "The spikes: the system lost packets for want of memory, which the model has. A member's own multicasts "
        + "come back to it and cost a packet.";

    private static LoadPlan Members(int count) => new() { Nodes = count, Host = HostModel.Isis };

    private static Variant AllSend(string name, GroupLoad load) => new(name, plan => plan with { Senders = plan.Nodes }) { Group = load };

    private static IReadOnlyList<Variant> OfAllCounts(GroupLoad causal, GroupLoad total) =>
    [
        .. MemberCounts.Select(count => Of("causal", count, causal)),
        .. MemberCounts.Select(count => Of("total", count, total)),
        Of("total, the sender orders", MemberCounts[^1], total with { OrderMoves = true }),
    ];

    private static Variant Of(string order, int members, GroupLoad load) =>
        new($"{order}, {members} members", plan => plan with { Nodes = members }) { LeastNodes = members, Group = load };
}
