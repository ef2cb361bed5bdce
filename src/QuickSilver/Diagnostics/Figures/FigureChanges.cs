using System.Collections.Immutable;

namespace QuickSilver.Diagnostics.Figures;

/// <summary>
/// How figures of a node have changed since they were last read here. What is read for the first time has not changed. One thread.
/// </summary>
internal sealed class FigureChanges(IFigureSource node)
{
    private readonly Dictionary<NodeFigure, long> _numbers = [];
    private readonly Dictionary<NodeFigure, ImmutableArray<TimeHistogram>> _samples = [];

    public long Of(NodeFigure<long> figure) => Change(figure, figure.Read(node));

    public TimeSpan Of(NodeFigure<TimeSpan> figure) => TimeSpan.FromTicks(Change(figure, figure.Read(node).Ticks));

    /// <summary>The change of the sum over all values of the tag.</summary>
    public TimeSpan OfAll(FigureByTag<TimeSpan> figure) =>
        TimeSpan.FromTicks(Change(figure, figure.Read(node).Sum(static one => one.Value.Ticks)));

    /// <summary>The new samples, by level.</summary>
    public ImmutableArray<TimeHistogram> Of(NodeFigure<ImmutableArray<TimeHistogram>> figure)
    {
        var now = figure.Read(node);
        var before = _samples.GetValueOrDefault(figure, now);
        _samples[figure] = now;
        return [.. now.Select((one, level) => one.Since(before[level]))];
    }

    public void Forget()
    {
        _numbers.Clear();
        _samples.Clear();
    }

    private long Change(NodeFigure figure, long now)
    {
        long before = _numbers.GetValueOrDefault(figure, now);
        _numbers[figure] = now;
        return now - before;
    }
}
