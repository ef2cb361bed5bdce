using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Endpoints;
using QuickSilver.Nodes.Measures;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Diagnostics;

public sealed class FigureChangesTests : IAsyncDisposable
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private readonly FakeParts _parts = new();
    private readonly NodeCounterCells _cells = new();
    private readonly FigureChanges _changes;

    public FigureChangesTests()
    {
        var logs = GuardedLoggers.Of(NullLoggerFactory.Instance);
        _changes = new FigureChanges(new NodeReadings(_parts, _cells, new EndpointRegistry(), logs));
    }

    private LayerCounters Below => _parts.Counters;

    [Fact]
    public void A_figure_that_is_read_for_the_first_time_has_not_changed()
    {
        (_cells.Published, Below.Core.GcPauseTicks, Below.Core.AlarmTicks) = (5, Second.Ticks, Second.Ticks);
        Below.Core.AlarmLateness.Add(Second);
        Assert.Equal(0, _changes.Of(NodeFigures.Published));
        Assert.Equal(TimeSpan.Zero, _changes.Of(NodeFigures.CollectorPauseTime));
        Assert.Equal(TimeSpan.Zero, _changes.OfAll(NodeFigures.CoreQueues));
        Assert.Equal(0, Assert.Single(_changes.Of(NodeFigures.AlarmLateness)).Count);
    }

    [Fact]
    public void Later_readings_give_what_has_come_since_the_one_before()
    {
        A_figure_that_is_read_for_the_first_time_has_not_changed();
        _cells.Published += 3;
        Below.Core.GcPauseTicks += Second.Ticks;
        Below.Core.AlarmTicks += 2 * Second.Ticks;
        Below.Core.RequestTicks += Second.Ticks;
        Below.Core.AlarmLateness.Add(Second);
        Assert.Equal((3, Second), (_changes.Of(NodeFigures.Published), _changes.Of(NodeFigures.CollectorPauseTime)));
        Assert.Equal(3 * Second, _changes.OfAll(NodeFigures.CoreQueues));
        var late = Assert.Single(_changes.Of(NodeFigures.AlarmLateness));
        Assert.Equal((1, Second), (late.Count, late.Total));
        Assert.Equal(0, _changes.Of(NodeFigures.Published));
    }

    [Fact]
    public void Readings_from_before_Forget_do_not_count()
    {
        _ = _changes.Of(NodeFigures.Published);
        _cells.Published = 7;
        _changes.Forget();
        Assert.Equal(0, _changes.Of(NodeFigures.Published));
    }

    public ValueTask DisposeAsync() => _parts.DisposeAsync();
}
