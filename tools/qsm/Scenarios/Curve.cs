using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// A curve of a plot: what of each point's report it shows.
internal sealed record Curve(string Label, Func<ScenarioReport, double?> Of)
{
    /// <summary>What the papers' figure, or its text, gives for the same.</summary>
    public PaperCurve? Paper { get; init; }

    /// <summary>The range of the papers' axis, which the plot has at least. Without one the axis begins at 0.</summary>
    public (double From, double To)? Range { get; init; }
}

// A curve that one run gives by itself: over time, or a distribution.
internal sealed record Trace(string Label, string AxisLabel, Func<LoadTraces, IReadOnlyList<(double At, double Value)>> Of)
{
    private const double TicksPerMilli = TimeSpan.TicksPerMillisecond;

    private static readonly double[] Shares =
        [0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1];

    /// <summary>What the values are of, as the label of their axis.</summary>
    public string ValueLabel { get; private init; } = Label;

    /// <summary>Values are the shares of all that do not exceed what is on the axis, at the same shares in each run.</summary>
    public bool IsDistribution { get; private init; }

    /// <summary>Whether what is on the axis doubles from place to place.</summary>
    public bool IsLogarithmic { get; private init; }

    /// <summary>A cumulative distribution of times.</summary>
    public static Trace Cdf(string label, Func<LoadTraces, Distribution> of) =>
        OfQuantiles(label, "ms", traces => share => of(traces).Quantile(share) / TicksPerMilli);

    /// <summary>A cumulative distribution of some values.</summary>
    public static Trace Cdf(string label, string unit, Func<LoadTraces, IReadOnlyList<double>> of) => OfQuantiles(label, unit, traces =>
    {
        double[] sorted = [.. of(traces).Order()];
        return share => sorted.Length == 0 ? 0 : sorted[Math.Max(0, (int)Math.Ceiling(share * sorted.Length) - 1)];
    });

    /// <summary>How many of all values, in percent, lie in each class, in milliseconds. A class is named by its upper limit.</summary>
    public static Trace Histogram(string label, Func<LoadTraces, Distribution> of, params double[] limits) => new(
        label,
        "up to, ms",
        traces => [.. limits.Select((limit, i) => (
            limit, Math.Round(100 * (ShareUpTo(of(traces), limit) - (i == 0 ? 0 : ShareUpTo(of(traces), limits[i - 1]))), 3)))])
    {
        ValueLabel = "% of all",
        IsLogarithmic = true,
    };

    public static Trace OverTime(string label, Func<LoadTraces, IReadOnlyList<double>> of) => new(
        label,
        "s",
        traces => [.. of(traces).Select((value, i) =>
            (Math.Round((i + 1) * LoadSamples.RateInterval.TotalSeconds, 3), Math.Round(value, 1)))]);

    public static Trace OverMessages(string label, Func<LoadTraces, IReadOnlyList<double>> of) => new(
        label, "message", traces => [.. of(traces).Select((value, i) => ((double)i, Math.Round(value, 3)))]);

    private static Trace OfQuantiles(string label, string unit, Func<LoadTraces, Func<double, double>> quantileOf) =>
        new(label, unit, traces =>
        {
            var quantile = quantileOf(traces);
            return [.. Shares.Select(share => (Math.Round(quantile(share), 4), share))];
        })
        {
            IsDistribution = true,
            ValueLabel = "share of all",
        };

    private static double ShareUpTo(Distribution values, double millis) => values.ShareUpTo((long)(millis * TicksPerMilli));
}

// What the papers give where their text has numbers: (the axis, the value), with straight lines between. Relative values are shares of
// what our first curve has at the first of these points.
internal sealed record PaperCurve(string Label, params (double At, double Value)[] Points)
{
    public bool IsRelative { get; init; }

    /// <summary>What the values are to be multiplied by, if ours has this value at a point of the axis.</summary>
    public double? Unit(Func<double, double?> ours) => IsRelative ? ours(Points[0].At) / Points[0].Value : 1;

    /// <summary>Null beyond the points.</summary>
    public double? ValueAt(double at)
    {
        for (int i = 1; i < Points.Length; i++)
        {
            var (from, to) = (Points[i - 1], Points[i]);
            if (at >= from.At && at <= to.At)
            {
                return from.Value + ((to.Value - from.Value) * (at - from.At) / (to.At - from.At));
            }
        }

        return null;
    }
}
