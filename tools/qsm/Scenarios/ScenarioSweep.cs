using System.Collections.Concurrent;
using System.Runtime.ExceptionServices;
using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// Runs many points, several at a time: each run has one thread, and shares nothing with others. Figures that are of the same runs have
// them once.
internal sealed class ScenarioSweep(int jobs)
{
    private readonly ConcurrentDictionary<LoadPlan, Lazy<LoadOutcome>> _outcomes = [];

    /// <summary>All points of the figure up to this one, of each variant.</summary>
    public static IEnumerable<ScenarioPoint> PointsOf(ScenarioPoint last, double? most, IReadOnlyList<Variant> variants)
    {
        var scenario = last.Scenario;
        var at = scenario.Points.Where(x => x < (most ?? double.MaxValue)).ToList();
        if (most is { } end || at.Count == 0)
        {
            at.Add(most ?? last.At);
        }

        return variants.SelectMany(variant => at.Select(x => last.MovedTo(x) with { Variant = variant }))
            .Where(point => point.Plan.Nodes >= point.Variant.LeastNodes);
    }

    /// <summary>The reports in the order of the points.</summary>
    public IReadOnlyList<ScenarioReport> Run(IReadOnlyList<ScenarioPoint> points, Action<ScenarioReport> done)
    {
        var reports = new ScenarioReport[points.Count];
        // The largest first, so that none is left alone at the end.
        var order = Enumerable.Range(0, points.Count).OrderByDescending(i => points[i].Plan.Nodes * (double)points[i].Plan.Topics);
        try
        {
            Parallel.ForEach(
                Partitioner.Create(order, EnumerablePartitionerOptions.NoBuffering),
                new ParallelOptions { MaxDegreeOfParallelism = jobs },
                i => done(reports[i] = points[i].Run(Measure)));
        }
        catch (AggregateException exception)
        {
            ExceptionDispatchInfo.Throw(exception.InnerExceptions[0]);
        }

        return reports;
    }

    private LoadOutcome Measure(LoadPlan plan) => _outcomes.GetOrAdd(plan, static plan => new(() => LoadRun.Trace(plan))).Value;
}
