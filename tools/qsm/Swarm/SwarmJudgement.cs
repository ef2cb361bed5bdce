using System.Text.Json;
using System.Text.Json.Serialization;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Progress;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Swarm.Records;

namespace QuickSilver.Tool.Swarm;

// The records of all processes as one history, judged by the simulator's checkers. Its field names are what scripts read:
// they are never renamed.
internal sealed record SwarmJudgement
{
    public int Files { get; init; }

    public int Nodes { get; init; }

    public long Published { get; init; }

    public long Delivered { get; init; }

    public long GapsReported { get; init; }

    /// <summary>The invariants that were checked, by their names in the test plan.</summary>
    public string[] Invariants { get; init; } = [];

    public long ViolationCount { get; init; }

    /// <summary>The first ones: the rest follows from them.</summary>
    public string[] Violations { get; init; } = [];

    public static SwarmJudgement Of(IReadOnlyList<string> files)
    {
        var reader = new RecordReader();
        foreach (string file in files)
        {
            reader.Read(file);
        }

        reader.DemandAllNodes();
        HistoryChecker[] checkers =
        [
            new NoGapChecker(), new NoDuplicateChecker(), new NoPhantomChecker(), new OrderChecker(), new ViewsChecker(),
            new DeliveryViewChecker(), new IncarnationChecker(), new LivenessChecker(),
        ];
        var history = new History(checkers);
        foreach (var record in InOrder(reader.Records))
        {
            record.ReplayTo(history);
        }

        history.End();
        return new SwarmJudgement
        {
            Files = files.Count,
            Nodes = reader.NodeCount,
            Published = history.PublishedCount,
            Delivered = history.DeliveredCount,
            GapsReported = history.GapCount,
            Invariants = Array.ConvertAll(checkers, checker => checker.Invariant),
            ViolationCount = history.ViolationCount,
            Violations = [.. history.Violations.Select(violation => violation.ToString())],
        };
    }

    public void Print(bool json)
    {
        JsonElement fields = JsonSerializer.SerializeToElement(this, SwarmJudgementJson.Default.SwarmJudgement);
        if (json)
        {
            Console.Out.WriteLine(fields.GetRawText());
        }
        else
        {
            Terminal.Table(fields.EnumerateObject().Select(field => (field.Name, field.Value.ToString())));
        }
    }

    // By time, a publication before what else happened in the same instant; what happened at one node in the same instant
    // stays in the order in which it was written, for the sort is stable.
    private static IEnumerable<SwarmRecord> InOrder(List<SwarmRecord> records) =>
        records.OrderBy(record => record.AtTicks).ThenBy(record => record.Kind == RecordKind.Published ? 0 : 1);
}

[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase)]
[JsonSerializable(typeof(SwarmJudgement))]
internal sealed partial class SwarmJudgementJson : JsonSerializerContext;
