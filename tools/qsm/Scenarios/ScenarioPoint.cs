using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using QuickSilver.Simulation.Experiments;
using QuickSilver.Tool.Scenarios.Groups;

namespace QuickSilver.Tool.Scenarios;

// One point of a scenario's curve, and how to run it.
internal sealed record ScenarioPoint(Scenario Scenario, Variant Variant, LoadPlan Plan)
{
    private const double ZipfAlpha = 1.5;
    private const double ShareOfTopics = 0.1;
    // A message to topics has a packet of its own.
    private const int MostTopicBytes = 60_000;

    public double At => Scenario.Axis.Of(Plan);

    /// <summary>A variant has the last word, so that what it varies by the number of nodes follows the axis.</summary>
    public LoadPlan Applied => Variant.Apply(Plan);

    /// <summary>Why it cannot run; null: it can.</summary>
    /// <param name="nodes">How many nodes were asked for; null: as many as the scenario has.</param>
    public string? Refusal(int? nodes)
    {
        var plan = Applied;
        int most = Variant.Group?.MostSenders(plan.Nodes) ?? plan.Nodes - 1;
        return this switch
        {
            _ when nodes is { } asked && asked != plan.Nodes =>
                $"--nodes: The variant '{Variant.Name}' of {Scenario.Name} has {plan.Nodes} nodes, not {asked}. Use --variant.",
            { Variant.Group: not null } when plan.Faults with { Loss = 0 } != new LoadFaults() =>
                $"--faults: {Scenario.Name} supports loss only.",
            { Variant.Group: null } when plan.MessageBytes is < LoadRun.StampBytes or > MostTopicBytes =>
                $"--size: A message of {Scenario.Name} has {LoadRun.StampBytes} to {MostTopicBytes} bytes, not {plan.MessageBytes}.",
            _ when plan.Senders > most =>
                $"--senders: {plan.Senders} of {plan.Nodes} nodes leave no receiver. Use fewer senders.",
            _ when plan.Nodes < Variant.LeastNodes =>
                $"--nodes: The variant '{Variant.Name}' of {Scenario.Name} has {Variant.LeastNodes} nodes at least.",
            _ => null,
        };
    }

    public ScenarioPoint MovedTo(double at) => this with { Plan = Scenario.Axis.Move(Plan, at) };

    public ScenarioReport Run() => Run(LoadRun.Trace);

    /// <param name="measure">Gives a run's outcome, perhaps one that is known already.</param>
    public ScenarioReport Run(Func<LoadPlan, LoadOutcome> measure)
    {
        long begun = Stopwatch.GetTimestamp();
        var report = Scenario.IsAssignment ? Assign() : Load(measure);
        return report with { WallSeconds = Math.Round(Stopwatch.GetElapsedTime(begun).TotalSeconds, 3) };
    }

    private ScenarioReport Load(Func<LoadPlan, LoadOutcome> measure)
    {
        var (figures, traces) = Variant.Group is { } group ? GroupRun.Trace(Applied, group) : measure(Applied);
        return Empty() with
        {
            MessageBytes = Variant.Group is null ? null : Plan.MessageBytes,
            KilobytesPerSecond = Variant.Group is null ? null : Math.Round(figures.MessagesPerSecond * Plan.MessageBytes / 1e3, 2),
            MessagesPerSecond = Math.Round(figures.MessagesPerSecond, 1),
            RemovedMembers = Variant.Group is null ? null : figures.RemovedNodes,
            SlowestMessagesPerSecond = Math.Round(figures.SlowestMessagesPerSecond, 1),
            SentPerSecond = Math.Round(figures.PublishedPerSecond, 1),
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
            LatencyMedianMillis = Millis(traces.Latency.Quantile(0.5)),
            LatencyP99Millis = Millis(traces.Latency.Quantile(0.99)),
            MessagesPerPacket = Math.Round(figures.MessagesPerPacket, 3),
            AckMillis = traces.Ack.Count == 0 ? null : Math.Round(figures.AckMillis, 3),
            RingRoundTripMillis = Math.Round(traces.RingRoundTrips.Mean / TimeSpan.TicksPerMillisecond, 3),
            SenderCardShare = Math.Round(figures.SenderCardShare, 3),
            SenderLiveBytes = Math.Round(figures.Collector.SenderLiveBytes),
            ReceiverLiveBytes = Math.Round(figures.Collector.ReceiverLiveBytes),
            SenderCollectorShare = Math.Round(figures.Collector.SenderShare, 4),
            ReceiverCollectorShare = Math.Round(figures.Collector.ReceiverShare, 4),
            SenderAlarmDelayMillis = Math.Round(traces.SenderAlarms.MeanMillis, 4),
            ReceiverAlarmDelayMillis = Math.Round(traces.ReceiverAlarms.MeanMillis, 4),
            PerturbedLossShare = Math.Round(figures.Perturbed.LossShare, 5),
            PerturbedKeptBytes = Math.Round(figures.Perturbed.KeptBytes),
            PerturbedRecoveryMillis = Math.Round(figures.Perturbed.RecoveryMeanMillis, 3),
            RecoveryMeanMillis = Math.Round(figures.Repair.MeanMillis, 3),
            Traces = Scenario.Traces.Count == 0 ? null : [.. Scenario.Traces.Select(trace => TraceOf(trace, traces))],
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
        var interests = ZipfInterests.Draw(Plan.Nodes, Plan.Topics, Variant.Distinct, ZipfAlpha, ShareOfTopics, Plan.Seed);
        var addresses = Variant.KnowsTraffic
            ? Variant.Addresses! with { TrafficOf = topic => interests.Traffic(IrregularOverlap.RankOf(topic)) }
            : Variant.Addresses;
        var experiment = new IrregularOverlap(interests, Plan.Seed, Variant.Sets, addresses);
        experiment.Subscribe(0, Plan.Nodes);
        var figures = experiment.Measure();
        return Empty() with
        {
            TopicsPerNode = Math.Round(figures.TopicsPerNode, 1),
            RegionsPerNode = Math.Round(figures.RegionsPerNode, 3),
            RegionsPerTopic = Math.Round(figures.RegionsPerTopic, 3),
            ShareOfTwoBusiest = Math.Round(figures.ShareOfTwoBusiest, 4),
            RegionsOfMostTraffic = Math.Round(figures.RegionsOfMostTraffic, 3),
            ShareWanted = Math.Round(figures.ShareWanted, 4),
            SendsPerMessage = Math.Round(figures.SendsPerMessage, 2),
            TopicAddresses = figures.TopicAddresses,
            TopicAddressesPerNode = Math.Round(figures.TopicAddressesPerNode, 1),
            TraceHash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(figures.ToString()))[..8]),
        };
    }

    private static double Millis(long ticks) => Math.Round((double)ticks / TimeSpan.TicksPerMillisecond, 3);

    private static ReportedTrace TraceOf(Trace trace, LoadTraces traces)
    {
        var points = trace.Of(traces);
        return new ReportedTrace(trace.Label, [.. points.Select(point => point.At)], [.. points.Select(point => point.Value)]);
    }

    private ScenarioReport Empty()
    {
        var plan = Applied;
        return new ScenarioReport
        {
            Scenario = Scenario.Name,
            Nodes = plan.Nodes,
            Topics = plan.Topics,
            Seed = plan.Seed,
            Variant = Variant.Name.Length == 0 ? null : Variant.Name,
            Rate = plan.Rate,
            Replicas = plan.Replicas,
            TokenRate = plan.TokenRate,
            FeedbackRanges = plan.FeedbackRanges == 1 ? null : plan.FeedbackRanges,
            Faults = FaultList.Say(plan.Faults),
            Model = plan.Host.ToString(),
            TraceHash = "",
        };
    }
}
