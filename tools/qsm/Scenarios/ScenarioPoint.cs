using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// One point of a scenario's curve, and how to run it.
internal sealed record ScenarioPoint(Scenario Scenario, int Nodes, int Topics, double? Rate)
{
    private const double ZipfAlpha = 1.5;
    private const double ShareOfTopics = 0.1;

    public required ulong Seed { get; init; }

    public required TimeSpan Duration { get; init; }

    public required TimeSpan WarmUp { get; init; }

    public required HostModel Host { get; init; }

    public required LoadFaults Faults { get; init; }

    public required string FaultsText { get; init; }

    public int? Replicas { get; init; }

    public int FeedbackRanges { get; init; } = 1;

    /// <summary>Null: as they go by themselves.</summary>
    public double? TokenRate { get; init; }

    public double At => Scenario.Axis switch
    {
        Axis.Topics => Topics,
        Axis.Rate => Rate ?? 0,
        Axis.Replicas => Replicas ?? 0,
        Axis.TokenRate => TokenRate ?? 0,
        Axis.FeedbackRanges => FeedbackRanges,
        _ => Nodes,
    };

    public ScenarioPoint MovedTo(double at) => Scenario.Axis switch
    {
        Axis.Topics => this with { Topics = (int)at },
        Axis.Rate => this with { Rate = at },
        Axis.Replicas => this with { Replicas = (int)at },
        Axis.FeedbackRanges => this with { FeedbackRanges = (int)at },
        Axis.TokenRate => this with { TokenRate = at > 0 ? at : null },
        _ => this with { Nodes = (int)at },
    };

    public ScenarioReport Run()
    {
        long begun = Stopwatch.GetTimestamp();
        var report = Scenario.IsAssignment ? Assign() : Load();
        return report with { WallSeconds = Math.Round(Stopwatch.GetElapsedTime(begun).TotalSeconds, 3) };
    }

    private ScenarioReport Load()
    {
        var figures = LoadRun.Measure(new LoadPlan
        {
            Nodes = Nodes,
            Topics = Topics,
            Seed = Seed,
            Duration = Duration,
            Rate = Rate,
            Replicas = Replicas,
            TokenRate = TokenRate,
            FeedbackRanges = FeedbackRanges,
            WarmUp = WarmUp,
            Host = Host,
            Faults = Faults,
        });
        return Empty() with
        {
            MessagesPerSecond = Math.Round(figures.MessagesPerSecond, 1),
            SlowestMessagesPerSecond = Math.Round(figures.SlowestMessagesPerSecond, 1),
            Published = figures.Published,
            Deliveries = figures.Deliveries,
            Gaps = figures.Gaps,
            Missing = figures.Missing,
            TokenRoundTripMillis = Math.Round(figures.TokenRoundTripMillis, 3),
            WorstTokenRoundTripMillis = Math.Round(figures.WorstTokenRoundTripMillis, 3),
            PendingAcks = Math.Round(figures.PendingAcks, 1),
            PendingBytes = Math.Round(figures.PendingBytes),
            ReceiverKeptBytes = Math.Round(figures.ReceiverKeptBytes),
            LatencyMeanMillis = Math.Round(figures.LatencyMeanMillis, 3),
            LatencyMostMillis = Math.Round(figures.LatencyMostMillis, 3),
            SenderBusyShare = Math.Round(figures.SenderBusyShare, 3),
            ReceiverBusyShare = Math.Round(figures.ReceiverBusyShare, 3),
            RepairsSent = figures.RepairsSent,
            PullsSent = figures.PullsSent,
            SenderRepairs = figures.SenderRepairs,
            PacketsLost = figures.Repair.Lost,
            RequestsPerLost = Math.Round(figures.Repair.RequestsPerLost, 4),
            RecoveryMedianMillis = Math.Round(figures.Repair.MedianMillis, 3),
            RecoveredWithinTwoMedians = Math.Round(figures.Repair.WithinTwoMedians, 4),
            AskedOfSender = Math.Round(figures.Repair.AskedOfSender, 4),
            TraceHash = figures.TraceHash.ToString("x16", CultureInfo.InvariantCulture),
            VirtualSeconds = Math.Round(figures.VirtualSeconds, 3),
        };
    }

    // Nothing is sent and no time passes: the hash is over what was found.
    private ScenarioReport Assign()
    {
        var interests = ZipfInterests.Draw(Nodes, Topics, distinct: false, ZipfAlpha, ShareOfTopics, Seed);
        var experiment = new IrregularOverlap(interests, Seed);
        experiment.Subscribe(0, Nodes);
        var figures = experiment.Measure();
        return Empty() with
        {
            RegionsPerNode = Math.Round(figures.RegionsPerNode, 3),
            RegionsPerTopic = Math.Round(figures.RegionsPerTopic, 3),
            ShareOfTwoBusiest = Math.Round(figures.ShareOfTwoBusiest, 4),
            TraceHash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(figures.ToString()))[..8]),
        };
    }

    private ScenarioReport Empty() => new()
    {
        Scenario = Scenario.Name,
        Nodes = Nodes,
        Topics = Topics,
        Seed = Seed,
        Rate = Rate,
        Replicas = Replicas,
        TokenRate = TokenRate,
        FeedbackRanges = FeedbackRanges == 1 ? null : FeedbackRanges,
        Faults = FaultsText,
        Model = Host.ToString(),
        TraceHash = "",
    };
}
