using System.Diagnostics.Metrics;
using System.Text.Json;
using System.Text.RegularExpressions;
using QuickSilver.Architecture.Tests.Reading;
using QuickSilver.Diagnostics;

namespace QuickSilver.Architecture.Tests.Pages;

// The dashboard for Grafana asks only for metrics that exist.
public sealed class DashboardTests
{
    private const string File = "docs/grafana/quicksilver.json";
    private const string Page = "docs/watching.md";
    private static readonly Regex Metric = new(@"\b(?:quicksilver|messaging|dotnet)_[a-z_]+(?=[\[{ )>,]|$)");

    // Labels have names of the same form.
    private static readonly string[] Labels =
    [
        "messaging_destination_name", "quicksilver_cluster", "quicksilver_node_id", "quicksilver_send_limit", "quicksilver_core_queue",
        "quicksilver_reply", "quicksilver_ring_level",
    ];

    [Fact]
    public void Each_metric_of_a_query_is_an_instrument_as_prometheus_names_it()
    {
        var known = Instruments().Select(PrometheusName).ToHashSet();
        var asked = Queries().SelectMany(static query => Metrics(query)).Distinct().ToList();
        Violations.AssertNone(asked.Where(name => !known.Contains(name)).Select(name => $"{File}: {name} is no metric of a node"));
        // Most instruments are worth a panel; a query that the expression above does not read must not go unnoticed.
        Assert.InRange(asked.Count, 40, known.Count);
    }

    [Fact]
    public void Each_metric_of_an_alert_on_the_page_exists()
    {
        var known = Instruments().Select(PrometheusName).ToHashSet();
        string alerts = Repository.Read(Page).Split("Alert on these first")[1].Split("\n## ")[0];
        var asked = Metrics(alerts).ToList();
        Assert.Equal(6, asked.Count);
        Violations.AssertNone(asked.Where(name => !known.Contains(name)).Select(name => $"{Page}: {name} is no metric of a node"));
    }

    [Fact]
    public void The_panels_have_titles_descriptions_and_places_that_do_not_overlap()
    {
        var taken = new HashSet<(int X, int Y)>();
        foreach (var panel in Panels())
        {
            Assert.NotEqual("", panel.GetProperty("title").GetString());
            if (panel.GetProperty("type").GetString() != "row")
            {
                Assert.EndsWith(".", panel.GetProperty("description").GetString());
            }

            var place = panel.GetProperty("gridPos");
            for (int x = 0; x < place.GetProperty("w").GetInt32(); x++)
            {
                for (int y = 0; y < place.GetProperty("h").GetInt32(); y++)
                {
                    var cell = (place.GetProperty("x").GetInt32() + x, place.GetProperty("y").GetInt32() + y);
                    Assert.True(taken.Add(cell), $"Two panels are at {cell}.");
                    Assert.InRange(cell.Item1, 0, 23);
                }
            }
        }
    }

    [Fact]
    public void The_dashboard_shows_what_the_vital_signs_are()
    {
        string titles = string.Join('\n', Panels().Select(static panel => panel.GetProperty("title").GetString()));
        Assert.All(
            ["Rates", "Who waits for whom", "Token round trips", "Repairs", "Garbage collection beside latency", "Memory", "Views"],
            title => Assert.Contains(title, titles, StringComparison.Ordinal));
    }

    private static IEnumerable<string> Metrics(string text) =>
        Metric.Matches(text).Select(static match => match.Value).Where(static name => !Labels.Contains(name));

    private static IEnumerable<JsonElement> Panels() =>
        JsonDocument.Parse(Repository.Read(File)).RootElement.GetProperty("panels").EnumerateArray();

    private static IEnumerable<string> Queries() => Panels()
        .Where(static panel => panel.TryGetProperty("targets", out _))
        .SelectMany(static panel => panel.GetProperty("targets").EnumerateArray())
        .Select(static target => target.GetProperty("expr").GetString()!);

    private static IEnumerable<Instrument> Instruments() =>
        [.. MeterInstruments.Read(NodeMeter.Name), .. MeterInstruments.Read("System.Runtime")];

    // The rules of OpenTelemetry's document on Prometheus: dots become underscores, the unit is added unless it is a word in braces or
    // there already, and then _total to counters, _bucket to the buckets of histograms.
    private static string PrometheusName(Instrument instrument)
    {
        string unit = instrument.Unit switch { "s" => "_seconds", "By" => "_bytes", _ => "" };
        string name = instrument.Name.Replace('.', '_');
        string kind = instrument.GetType().Name;
        return (unit.Length > 0 && name.EndsWith(unit, StringComparison.Ordinal) ? name : name + unit)
            + (kind.StartsWith("Histogram", StringComparison.Ordinal) ? "_bucket"
                : kind.Contains("Counter", StringComparison.Ordinal) && !kind.Contains("UpDown", StringComparison.Ordinal) ? "_total"
                : "");
    }
}
