using System.Globalization;

namespace QuickSilver.Campaign;

/// <summary>One run: messages a second at the slowest receiver, and messages it lost. Failed: null, with the reason.</summary>
internal sealed record Measurement(double MessagesPerSecond, long Lost, string? Failure = null)
{
    public static Measurement Failed(string reason) => new(0, 0, reason);

    public override string ToString() =>
        Failure ?? string.Create(CultureInfo.InvariantCulture, $"{MessagesPerSecond,12:N0} msg/s, {Lost} lost");
}

/// <summary>The runs of one contender under one load.</summary>
internal sealed class Series
{
    private readonly List<Measurement> _runs = [];

    public void Add(Measurement run) => _runs.Add(run);

    public IEnumerable<Measurement> Good => _runs.Where(run => run.Failure is null);

    public IEnumerable<string> Failures => _runs.Where(run => run.Failure is not null).Select(run => run.Failure!);

    public long Lost => Good.Sum(run => run.Lost);

    public double Median => Percentile(0.5);

    public double Least => Good.Select(run => run.MessagesPerSecond).DefaultIfEmpty(0).Min();

    public double Most => Good.Select(run => run.MessagesPerSecond).DefaultIfEmpty(0).Max();

    private double Percentile(double share)
    {
        double[] sorted = [.. Good.Select(run => run.MessagesPerSecond).Order()];
        if (sorted.Length == 0)
        {
            return 0;
        }

        double at = share * (sorted.Length - 1);
        int below = (int)at;
        int above = Math.Min(below + 1, sorted.Length - 1);
        return sorted[below] + ((at - below) * (sorted[above] - sorted[below]));
    }
}
