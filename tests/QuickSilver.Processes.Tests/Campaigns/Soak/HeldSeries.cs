using System.Globalization;

namespace QuickSilver.Processes.Tests.Campaigns.Soak;

// What one process held, minute by minute, and how fast each figure grows: the slope of the least squares line.
internal sealed class HeldSeries(string name)
{
    private readonly List<(double Minute, HeldSample Sample)> _samples = [];

    public string Name => name;

    public HeldSample Last => _samples[^1].Sample;

    public void Add(double minute, HeldSample sample) => _samples.Add((minute, sample));

    /// <summary>In MB per minute.</summary>
    public double BytesSlope(double fromMinute) => Slope(fromMinute, static sample => sample.Bytes / 1e6);

    public double DescriptorsSlope(double fromMinute) => Slope(fromMinute, static sample => sample.Descriptors);

    public double ThreadsSlope(double fromMinute) => Slope(fromMinute, static sample => sample.Threads);

    /// <summary>Whether the last figure is at most so much above the least of the others.</summary>
    public bool IsLevel(Func<HeldSample, int> figure, int slack) =>
        figure(Last) <= _samples[..^1].Min(one => figure(one.Sample)) + slack;

    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture, $"{name} {Last.Bytes / 1e6:0.00} MB {Last.Descriptors} fd {Last.Threads} threads");

    private double Slope(double fromMinute, Func<HeldSample, double> figure)
    {
        var points = _samples.Where(sample => sample.Minute >= fromMinute).ToList();
        double x = points.Average(static point => point.Minute);
        double y = points.Average(point => figure(point.Sample));
        double square = points.Sum(point => (point.Minute - x) * (point.Minute - x));
        return square == 0 ? 0 : points.Sum(point => (point.Minute - x) * (figure(point.Sample) - y)) / square;
    }
}
