using static QuickSilver.Tool.Scenarios.Catalog.Quantities;

namespace QuickSilver.Tool.Scenarios.Catalog;

// Memory overheads on the sender: section 4.1 of the longer report, section 5.1 of the paper.
internal static class SenderScenarios
{
    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "throughput-vs-nodes",
            Figures = "L15, Q14",
            Description = "The most messages a second, over the number of nodes, of one sender and of two together.",
            PaperSays = "Section 5.1, figure 14 (axes: 0 to 200 nodes, 7,500 to 10,000 messages/s; 1,000-byte messages, one group): "
                + "\"Throughput falls by 5% as group size increases to 200 nodes\". With two senders, the longer report shows the highest "
                + "combined rate that the system could sustain.",
            Variants =
            [
                new("one sender", plan => plan),
                new("two senders", plan => plan with { Senders = 2 }) { LeastNodes = 3 },
                new("one sender, packed", plan => plan with { OnePerPacket = false }),
            ],
            Curves =
            [
                Throughput with
                {
                    Range = (7500, 10_000),
                    Paper = new("the paper's fall, from our first point", (2, 1), (200, 0.95)) { IsRelative = true },
                },
                SenderBusy,
                ReceiverBusy,
            ],
        },
        new()
        {
            Name = "processor-vs-rate",
            Figures = "L16, Q15",
            Description = "The processor time of the sender and of a receiver, over the rate of messages, with 100 receivers.",
            PaperSays = "Section 4.1 of the longer report: at very high rates the sender requires more of its processor than the "
                + "receivers; load on receivers grows roughly linearly, load on the sender super-linearly, with the data that waits for "
                + "acknowledgements (section 4.4).",
            NotShown = "Our data does not wait: it is acknowledged within milliseconds, so the sender's load is linear too.",
            Axis = Axis.Rate,
            Points = [1000, 2500, 4000, 5500, 7000, 8000, 9000],
            Plan = Scenario.Unpacked(101) with { Rate = 9000 },
            Curves = [SenderBusy, ReceiverBusy],
        },
        new()
        {
            Name = "token-rtt-vs-nodes",
            Figures = "L21",
            Description = "How long a token takes round a ring at full speed, the sum over all levels of rings, and how long an "
                + "acknowledgement takes, over the number of nodes. Rings turn independently, so the sum is not the time to acknowledge.",
            PaperSays = "Section 5.1: the time to circulate a token grows with the region, and \"just a 500ms increase in token RTT "
                + "resulted in 10MB extra memory usage, inflated overhead by 10-15%, and degraded throughput by 5%\". The time to "
                + "acknowledge is slightly more than half a second and a round trip.",
            Curves = [TimeToAcknowledge, RingRoundTrip, TokenRoundTrip],
        },
        new()
        {
            Name = "pending-acks-vs-nodes",
            Figures = "L20",
            Description = "Packets that the sender keeps until all hold them, and what its collector traces, over the number of nodes.",
            PaperSays = "Section 5.1: the sender's memory \"is used mostly by the multicast messages pending ACK\"; figures 17 and 20, "
                + "of 192 to 200 nodes, have axes up to 25,000 and 60,000 of them.",
            Curves = [PendingAcks, SenderLive],
        },
        new()
        {
            Name = "token-rate",
            Figures = "L22, Q17",
            Description = "Throughput over the tokens that each ring's leader releases in a second; at 0 as they go by themselves, when "
                + "there is something to report.",
            PaperSays = "Section 5.1, figure 17 (axes: 0 to 5 tokens a second, 7,500 to 7,900 messages/s, 5,000 to 25,000 messages pending "
                + "ACK): \"simply increasing the token rates helps only up to a point\"; the longer report says: beyond 1.25 a second "
                + "more than one aggregation is in progress, and from 1 to 5 a second unacknowledged data shrinks by 30% while "
                + "throughput grows by less than 1%.",
            Axis = Axis.TokenRate,
            Points = [0, 1, 2, 5],
            Plan = Scenario.Unpacked(100) with { WarmUp = TimeSpan.FromSeconds(20) },
            Curves =
            [
                Throughput with
                {
                    Range = (7500, 7900),
                    Paper = new("the papers' growth, at most, from our 1/s", (1, 1), (5, 1.01)) { IsRelative = true },
                },
                PendingAcks with
                {
                    Paper = new("the papers' fall, from our 1/s", (1, 1), (5, 0.7)) { IsRelative = true },
                },
                SenderKept,
            ],
        },
    ];
}
