#!/usr/bin/env bash
# Two observable counters of one name, from two meters of one name that differ in a tag of their measurements, and a view that drops this tag.
#
# Guess:    the view adds both values, as it does for an ordinary counter whose tags are dropped.
# Behavior: one of the two values is exported, and the other one is lost without a word. An ordinary counter is summed.
# Seen:     OpenTelemetry 1.20.1, .NET 10.0.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cat > "$folder/app.cs" <<'CS'
#:package OpenTelemetry@1.20.1
#:package OpenTelemetry.Exporter.InMemory@1.20.1
using System.Diagnostics.Metrics;
using OpenTelemetry;
using OpenTelemetry.Metrics;

var exported = new List<Metric>();
using var meter = new Meter("nodes");
using var provider = Sdk.CreateMeterProviderBuilder()
    .AddMeter("nodes")
    .AddView("*", new MetricStreamConfiguration { TagKeys = [] })
    .AddInMemoryExporter(exported)
    .Build();
meter.CreateObservableCounter("observed", () => new Measurement<long>[]
{
    new(3, new KeyValuePair<string, object?>("node", "a")),
    new(5, new KeyValuePair<string, object?>("node", "b")),
});
var counter = meter.CreateCounter<long>("counted");
counter.Add(3, new KeyValuePair<string, object?>("node", "a"));
counter.Add(5, new KeyValuePair<string, object?>("node", "b"));
provider.ForceFlush();
foreach (var metric in exported.OrderBy(one => one.Name, StringComparer.Ordinal))
{
    foreach (ref readonly var point in metric.GetMetricPoints())
    {
        Console.WriteLine($"{metric.Name} {point.GetSumLong()}");
    }
}
CS
seen=$(cd "$folder" && dotnet run app.cs)
echo "$seen"
if [ "$seen" = $'counted 8\nobserved 5' ]; then
    echo "as found: the ordinary counter is 8, and the observable one is the last value, 5"
else
    echo "changed: expected 'counted 8' and 'observed 5'"
    exit 1
fi
