using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// A curve of a plot: what of each point's report it shows.
internal sealed record Curve(string Label, Func<ScenarioReport, double?> Of);

// A curve that one run gives by itself: over time, or a distribution.
internal sealed record Trace(string Label, string AxisLabel, Func<LoadTraces, IReadOnlyList<(double At, double Value)>> Of)
{
    /// <summary>Values are the shares of all that do not exceed what is on the axis.</summary>
    public bool IsDistribution { get; private init; }

    private const double TicksPerMilli = TimeSpan.TicksPerMillisecond;

    private static readonly double[] Shares =
        [0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1];

    public static Trace Cdf(string label, string unit, Func<LoadTraces, Distribution> of, double scale = TicksPerMilli) =>
        new(label, unit, traces => [.. Shares.Select(share => (Math.Round(of(traces).Quantile(share) / scale, 4), share))])
        {
            IsDistribution = true,
        };

    public static Trace OverTime(string label, Func<LoadTraces, IReadOnlyList<double>> of) => new(
        label,
        "s",
        traces => [.. of(traces).Select((value, i) =>
            (Math.Round((i + 1) * LoadSamples.RateInterval.TotalSeconds, 3), Math.Round(value, 1)))]);
}

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
