using System.Collections.Immutable;
using System.Text.Json.Nodes;
using QuickSilver.Diagnostics.Figures;

namespace QuickSilver.Tool.Perf;

// The papers' vital signs of the node that was measured, since it started, under the names of its instruments. A time is in seconds. A
// figure with a tag has a value for each value of the tag, and a distribution its count, mean and percentiles: those of rings by their
// level, and null where this node leads none. The class of a percentile is exact, and its limits differ by a factor of two.
internal static class VitalSigns
{
    private static readonly NodeFigure[] Shown =
    [
        NodeFigures.TokenRoundTrip,
        NodeFigures.TimeToAggregate,
        NodeFigures.TimeToAcknowledge,
        NodeFigures.AlarmLateness,
        NodeFigures.LateAlarms,
        NodeFigures.LongSteps,
        NodeFigures.QuantaExceeded,
        NodeFigures.CoreQueues,
        NodeFigures.CollectorPauseTime,
        NodeFigures.PacketMemory,
        NodeFigures.UnacknowledgedBytes,
        NodeFigures.PendingPackets,
        NodeFigures.SendLimits,
        NodeFigures.RepairRequests,
        NodeFigures.CollectiveNaksSent,
        NodeFigures.CollectiveNaksReceived,
        NodeFigures.Views,
        NodeFigures.SupersededViews,
        NodeFigures.OldestSupersededView,
        NodeFigures.ConfigurationAge,
    ];

    public static JsonObject Of(QuickSilverNode node)
    {
        var signs = new JsonObject();
        foreach (var figure in Shown)
        {
            signs[figure.Name] = Of(node, figure);
        }

        return signs;
    }

    private static JsonNode? Of(QuickSilverNode node, NodeFigure figure) => figure switch
    {
        NodeFigure<long> number => node.Read(number),
        NodeFigure<TimeSpan> time => Seconds(node.Read(time)),
        FigureByTag<TimeSpan> times => new JsonObject(
            node.Read(times).Select(static one => KeyValuePair.Create<string, JsonNode?>(one.Tag, Seconds(one.Value)))),
        NodeFigure<ImmutableArray<TimeHistogram>> samples => Of(node.Read(samples)),
        _ => throw new ArgumentException($"{figure.Name} has no form in a report.", nameof(figure)),
    };

    private static JsonNode? Of(ImmutableArray<TimeHistogram> levels) =>
        levels.Length == 1 ? Of(levels[0]) : new JsonArray([.. levels.Select(Of)]);

    private static JsonObject? Of(TimeHistogram times) => times.Count == 0 ? null : new JsonObject
    {
        ["count"] = times.Count,
        ["meanMicros"] = Micros(times.Mean),
        ["p50Micros"] = Micros(times.Percentile(0.5)),
        ["p99Micros"] = Micros(times.Percentile(0.99)),
    };

    private static double Seconds(TimeSpan time) => Math.Round(time.TotalSeconds, 3);

    private static double Micros(TimeSpan time) => Math.Round(time.TotalMicroseconds, 1);
}
