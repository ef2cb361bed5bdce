using System.Globalization;
using OpenTelemetry;
using OpenTelemetry.Metrics;

namespace QuickSilver.OpenTelemetry.Tests;

// What a provider exported last: a point for each series.
internal sealed class ExportedMetrics : IDisposable
{
    private readonly List<MetricSnapshot> _snapshots = [];
    private readonly MeterProvider _provider;

    public ExportedMetrics(Action<MeterProviderBuilder> add)
    {
        var builder = Sdk.CreateMeterProviderBuilder();
        add(builder);
        _provider = builder.AddInMemoryExporter(_snapshots).Build();
    }

    /// <summary>Collects, and returns all that this collection exported.</summary>
    public IReadOnlyList<MetricSnapshot> Collect()
    {
        _snapshots.Clear();
        Assert.True(_provider.ForceFlush());
        return [.. _snapshots];
    }

    /// <summary>The points of one instrument, collected now.</summary>
    public IReadOnlyList<MetricPoint> Points(string instrument) =>
        [.. Collect().Where(one => one.Name == instrument).SelectMany(static one => one.MetricPoints)];

    public static string? Tag(MetricPoint point, string name)
    {
        foreach (var tag in point.Tags)
        {
            if (tag.Key == name)
            {
                return Convert.ToString(tag.Value, CultureInfo.InvariantCulture);
            }
        }

        return null;
    }

    public void Dispose() => _provider.Dispose();
}
