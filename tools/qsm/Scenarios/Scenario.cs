using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// What a curve is drawn over.
internal enum Axis
{
    Nodes,
    Topics,
    Rate,
    Replicas,
    TokenRate,
    FeedbackRanges,
}

// A curve of a plot: what of each point's report it shows.
internal sealed record Curve(string Label, Func<ScenarioReport, double?> Of);

// The paper's own curve where its text gives numbers, relative to our first point: (the axis, the share).
internal sealed record PaperCurve(string Label, params (double At, double Share)[] Points)
{
    /// <summary>On the straight line between the two points that it lies between; null beyond them.</summary>
    public double? ShareAt(double at)
    {
        for (int i = 1; i < Points.Length; i++)
        {
            var (from, to) = (Points[i - 1], Points[i]);
            if (at >= from.At && at <= to.At)
            {
                return from.Share + ((to.Share - from.Share) * (at - from.At) / (to.At - from.At));
            }
        }

        return null;
    }
}

// One of the papers' experiments: a sender, receivers, and what is varied; as data, since all but one are run alike.
internal sealed record Scenario
{
    public required string Name { get; init; }

    public required string Description { get; init; }

    /// <summary>The figures and words of the paper ("Quicksilver Scalable Multicast"), as its text has them.</summary>
    public required string PaperSays { get; init; }

    public Axis Axis { get; init; } = Axis.Nodes;

    /// <summary>The points of a whole curve.</summary>
    public IReadOnlyList<double> Points { get; init; } = [2, 10, 20, 40, 80, 120, 160, 200];

    public int Nodes { get; init; } = 200;

    public int Topics { get; init; } = 1;

    public double? Rate { get; init; }

    public int? Replicas { get; init; }

    /// <summary>Null: tokens go when there is something to tell, as they do by themselves; 0 on the axis.</summary>
    public double? TokenRate { get; init; }

    public int FeedbackRanges { get; init; } = 1;

    public LoadFaults Faults { get; init; } = new();

    /// <summary>Before it is measured.</summary>
    public TimeSpan WarmUp { get; init; } = TimeSpan.FromSeconds(1);

    public required IReadOnlyList<Curve> Curves { get; init; }

    public PaperCurve? Paper { get; init; }

    /// <summary>Assigns nodes to regions and sends nothing.</summary>
    public bool IsAssignment { get; init; }

    private static Curve Throughput { get; } = new("messages/s at a receiver", point => point.MessagesPerSecond);

    private static Curve TokenRoundTrip { get; } = new("token round trip, ms", point => point.TokenRoundTripMillis);

    private static Curve PendingAcks { get; } = new("packets pending ACK", point => point.PendingAcks);

    private static Curve ReceiverKept { get; } = new("kept by a receiver, KB", point => point.ReceiverKeptBytes / 1e3);

    private static Curve SenderKept { get; } = new("kept by the sender, KB", point => point.PendingBytes / 1e3);

    private static Curve Latency { get; } = new("mean latency, ms", point => point.LatencyMeanMillis);

    public static IReadOnlyList<Scenario> All { get; } =
    [
        new()
        {
            Name = "throughput-vs-nodes",
            Description = "The most messages a second, over the number of nodes.",
            PaperSays = "Section 5.1, figure 14 (axes: 0 to 200 nodes, 7,500 to 10,000 messages/s; 1,000-byte messages, one group): "
                + "\"Throughput falls by 5% as group size increases to 200 nodes\".",
            Curves = [Throughput],
            Paper = new("the paper's fall, from our first point", (2, 1), (200, 0.95)),
        },
        new()
        {
            Name = "token-rtt-vs-nodes",
            Description = "How long a token takes round the region at full speed, over the number of nodes.",
            PaperSays = "Section 5.1: the time to circulate a token grows with the region, and \"just a 500ms increase in token RTT "
                + "resulted in 10MB extra memory usage, inflated overhead by 10-15%, and degraded throughput by 5%\".",
            Curves = [TokenRoundTrip],
        },
        new()
        {
            Name = "pending-acks-vs-nodes",
            Description = "Packets that the sender keeps until all hold them, over the number of nodes.",
            PaperSays = "Section 5.1: the sender's memory \"is used mostly by the multicast messages pending ACK\"; figures 17 and 20, "
                + "of 192 to 200 nodes, have axes up to 25,000 and 60,000 of them.",
            Curves = [PendingAcks],
        },
        new()
        {
            Name = "replication-factor",
            Description = "Throughput over the number of receivers that keep each packet until all hold it, up to all.",
            PaperSays = "Section 5.2, figures 19 and 20 (axes: 0 to 70 replicas in a region of 192 nodes, 6,700 to 7,600 messages/s, "
                + "0.3 to 2.7 s of token round trip, 0 to 120 MB kept by a receiver, 0 to 40,000 messages pending ACK): \"a super-linear "
                + "increase of the token roundtrip time and a slow increase of the number of messages pending ACK on the sender, causing "
                + "a sharp decrease in throughput\"; from 5 to all nodes of the region the token round trip grows 3-fold, and the "
                + "longer report adds that where all cache all messages \"the system can no longer run without rate control\".",
            Axis = Axis.Replicas,
            Points = [5, 10, 20, 35, 50, 65, 96, 192],
            Nodes = 193,
            Replicas = 192,
            Curves = [Throughput, TokenRoundTrip, PendingAcks, ReceiverKept],
        },
        new()
        {
            Name = "token-rate",
            Description = "Throughput over the tokens that each ring's leader releases in a second; at 0 as they go by themselves, when "
                + "there is something to tell.",
            PaperSays = "Section 5.1, figure 17 (axes: 0 to 5 tokens a second, 7,500 to 10,000 messages/s, 5,000 and more messages pending "
                + "ACK): \"simply increasing the token rates helps only up to a point\"; the longer report says: beyond 1.25 a second "
                + "more than one aggregation is in progress, and from 1 to 5 a second unacknowledged data shrinks by 30% while "
                + "throughput grows by less than 1%.",
            Axis = Axis.TokenRate,
            Points = [0, 0.5, 1, 1.25, 2, 3, 4, 5],
            WarmUp = TimeSpan.FromSeconds(20),
            Curves = [Throughput, PendingAcks, SenderKept],
        },
        new()
        {
            Name = "feedback-ranges",
            Description = "Throughput, and what the sender keeps, over the ranges in which an acknowledgement says what all hold, from one "
                + "number to a range for each partition; 1% lost by each receiver on its own, as without losses there is but one range.",
            PaperSays = "Section 5.1, figure 18 (one value, and as many ranges as partitions; 0 to 200 nodes): \"causing tokens to carry "
                + "larger amounts of feedback per round by making this amount proportional to the region size increases processing "
                + "complexity, and despite memory saving, it is counterproductive\"; the longer report says that the unacknowledged data "
                + "is 30% less, that throughput is lower, and that flow control becomes unstable.",
            Axis = Axis.FeedbackRanges,
            Points = [1, 2, 5, 10, 20, 40],
            FeedbackRanges = 40,
            Faults = new() { Loss = 0.01 },
            Curves = [Throughput, PendingAcks, SenderKept, ReceiverKept],
        },
        new()
        {
            Name = "perturbed-sleep",
            Description = "Throughput while one receiver stands still for 0.5 s every 5 s.",
            PaperSays = "Section 5.3, figures 21 and 22 (axes: 0 to 200 nodes, 5,500 to 8,500 messages/s, 0 to 4 s): throughput "
                + "decreases with the number of nodes, and the token round trip is twice that of undisturbed runs.",
            Faults = new() { Sleep = true },
            Curves = [Throughput, TokenRoundTrip],
        },
        new()
        {
            Name = "perturbed-loss",
            Description = "Throughput while one receiver loses all that comes in for 10 ms every second.",
            PaperSays = "Section 5.3, figures 21 and 23 (axes: 0 to 200 nodes, 5,500 to 8,500 messages/s): throughput decreases "
                + "with the number of nodes; the resulting loss rate at that node \"is up to 2-5%\", and the token round trip doubles.",
            Faults = new() { LossBursts = true },
            Curves = [Throughput, TokenRoundTrip],
        },
        new()
        {
            Name = "topics",
            Description = "Throughput over the number of topics, sent to in turn, all with the same subscribers.",
            PaperSays = "Section 5.5, figure 28 (axes: 0 to 8,000 topics, 6,500 to 8,000 messages/s; 110 receivers): \"at 6000 "
                + "groups throughput degrades sharply\".",
            Axis = Axis.Topics,
            Points = [1, 64, 256, 1024, 2048, 4096, 6144, 8192],
            Nodes = 111,
            Curves = [Throughput, TokenRoundTrip],
        },
        new()
        {
            Name = "latency-vs-rate",
            Description = "From publishing to the handler, over the rate of messages.",
            PaperSays = "Section 5.4, figure 25 (axes: 1,000 to 10,000 messages/s, 0 to 50 ms; 100 receivers): latency grows at the "
                + "highest rates, where I/O starves timers and control messages.",
            Axis = Axis.Rate,
            Points = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000],
            Nodes = 101,
            Rate = 1000,
            Curves = [Latency],
        },
        new()
        {
            Name = "irregular-overlap",
            Description = "Regions of nodes whose interests are all their own (Zipf 1.5, a tenth of the topics), over the number of "
                + "topics.",
            PaperSays = "Section 3, figures 5 and 6 (250 to 2,000 nodes, 1,000 to 10,000 groups): \"an average node belongs to "
                + "between 4 and 14 regions\", and 95% of its packets come through 2 of these.",
            Axis = Axis.Topics,
            Points = [1000, 2500, 5000, 7500, 10_000],
            Nodes = 250,
            Topics = 1000,
            IsAssignment = true,
            Curves = [new("regions of a node", point => point.RegionsPerNode), new("regions of a topic", point => point.RegionsPerTopic)],
        },
    ];

    public static string Names => string.Join(", ", All.Select(scenario => scenario.Name));

    public static Scenario? Find(string name) => All.FirstOrDefault(scenario => scenario.Name == name);
}
