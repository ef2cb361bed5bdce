using QuickSilver.Diagnostics.Figures;

namespace QuickSilver.Tool.Perf;

// What a node has counted up to a moment of a measurement.
internal sealed record NodeReading(NodeCounters Counters, long KernelDrops, long Repairs)
{
    public static NodeReading Of(QuickSilverNode node) =>
        new(node.GetCounters(), node.Read(NodeFigures.KernelDrops), node.Read(NodeFigures.Repairs));
}
