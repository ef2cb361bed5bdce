using System.Globalization;
using System.Net;
using System.Text;

namespace QuickSilver.Tool.Scenarios;

// A scenario's whole curve: a table of comma-separated values, and one page that needs nothing but a browser.
internal static class CurvePage
{
    private static readonly string[] Colors = ["#2f6fb2", "#b2572f", "#5b8c3a", "#888", "#7a4fa3", "#b28f2f"];

    public static string Csv(IReadOnlyList<ScenarioReport> points)
    {
        var text = new StringBuilder().Append(points[0].Csv().Names).Append('\n');
        foreach (var point in points)
        {
            text.Append(point.Csv().Values).Append('\n');
        }

        return text.ToString();
    }

    /// <summary>A page of one figure.</summary>
    public static string Html(Scenario scenario, IReadOnlyList<double> at, IReadOnlyList<ScenarioReport> points) =>
        Html(scenario.Name, [(scenario, at, points)]);

    /// <summary>A page of many figures.</summary>
    public static string Html(
        string title, IReadOnlyList<(Scenario Scenario, IReadOnlyList<double> At, IReadOnlyList<ScenarioReport> Points)> figures)
    {
        var page = new StringBuilder();
        page.Append(CultureInfo.InvariantCulture, $$"""
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>qsm sim: {{title}}</title>
            <!--
            The plots are drawn by uPlot:
            {{Resource("LICENSE")}}
            -->
            <style>{{Resource("uPlot.min.css")}}
            body { font-family: sans-serif; max-width: 900px; margin: 2em auto; color: #222 }
            table { border-collapse: collapse } td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd }
            </style>
            <script>{{Resource("uPlot.iife.min.js")}}</script></head><body>

            """);
        for (int i = 0; i < figures.Count; i++)
        {
            var (scenario, at, points) = figures[i];
            Figure(page, $"plot{i}", scenario, at, points);
        }

        return page.Append("</body></html>\n").ToString();
    }

    private static void Figure(
        StringBuilder page, string id, Scenario scenario, IReadOnlyList<double> at, IReadOnlyList<ScenarioReport> points)
    {
        page.Append(CultureInfo.InvariantCulture, $$"""
            <h1>{{scenario.Name}}</h1>
            <p>Figures {{Text(scenario.Figures)}}. {{Text(scenario.Description)}}</p>
            <p><b>The paper says:</b> {{Text(scenario.PaperSays)}}</p>

            """);
        if (scenario.NotShown is { } notShown)
        {
            page.Append(CultureInfo.InvariantCulture, $"<p><b>Not shown:</b> {Text(notShown)}</p>\n");
        }

        page.Append(CultureInfo.InvariantCulture, $$"""
            <p><b>Machines:</b> {{Text(points[0].Model)}}. Faults: {{Text(points[0].Faults)}}. Seed {{points[0].Seed}}.</p>

            """);
        // Of each variant a stretch of the points.
        var stretches = points.Select((point, i) => (point, i)).GroupBy(each => each.point.Variant ?? "").ToList();
        bool isCurve = scenario.Traces.Count == 0;
        for (int i = 0; isCurve && i < scenario.Curves.Count; i++)
        {
            var curve = scenario.Curves[i];
            var series = stretches
                .Select(stretch => new Series(
                    stretch.Key.Length == 0 ? $"ours: {curve.Label}" : stretch.Key,
                    [.. stretch.Select(each => curve.Of(each.point))]))
                .ToList();
            double[] xs = [.. stretches[0].Select(each => at[each.i])];
            if (i == 0 && scenario.Paper is { } paper && series[0].Values[0] is { } first)
            {
                series.Add(new Series(paper.Label, [.. xs.Select(x => first * paper.ShareAt(x))]));
            }

            Plot(page, $"{id}c{i}", scenario.Axis.Label, curve.Label, xs, series);
        }

        for (int i = 0; i < scenario.Traces.Count; i++)
        {
            foreach (var point in points)
            {
                var trace = point.Traces![i];
                string label = point.Variant is { } variant ? $"{trace.Label}, {variant}" : trace.Label;
                string what = scenario.Traces[i].IsDistribution ? "share of all" : trace.Label;
                var series = new Series(label, [.. trace.Values.Select(value => (double?)value)]);
                Plot(page, $"{id}t{i}{points.ToList().IndexOf(point)}", scenario.Traces[i].AxisLabel, what, trace.At, [series]);
            }
        }

        Table(page, scenario.Axis.Label, scenario.Curves, at, points);
    }

    private static void Plot(
        StringBuilder page, string id, string axis, string label, IReadOnlyList<double> xs, IReadOnlyList<Series> series)
    {
        string all = string.Join(", ", series.Select((one, i) =>
            $"{{ label: \"{one.Label}\", stroke: \"{Colors[i % Colors.Length]}\", width: 2, points: {{ show: true }} }}"));
        string values = string.Join(", ", series.Select(one => Numbers(one.Values)));
        page.Append(CultureInfo.InvariantCulture, $$"""
            <h2>{{Text(label)}}</h2><div id="{{id}}"></div>
            <script>new uPlot({ width: 860, height: 340, scales: { x: { time: false }, y: { range: (u, a, b) => [0, b * 1.1 || 1] } },
              axes: [{ label: "{{axis}}" }, { label: "{{label}}", size: 70 }],
              series: [{ label: "{{axis}}" }, {{all}}] },
              [{{Numbers(xs.Select(x => (double?)x))}}, {{values}}], document.getElementById("{{id}}"));</script>

            """);
    }

    private static void Table(
        StringBuilder page, string axis, IReadOnlyList<Curve> curves, IReadOnlyList<double> at, IReadOnlyList<ScenarioReport> points)
    {
        page.Append("<table><tr><th></th><th>").Append(axis);
        foreach (var curve in curves)
        {
            page.Append("</th><th>").Append(Text(curve.Label));
        }

        page.Append("</th><th>gaps</th><th>missing</th><th>trace</th></tr>\n");
        for (int i = 0; i < points.Count; i++)
        {
            page.Append(CultureInfo.InvariantCulture, $"<tr><td>{Text(points[i].Variant ?? "")}</td><td>{at[i]}");
            foreach (var curve in curves)
            {
                page.Append(CultureInfo.InvariantCulture, $"</td><td>{curve.Of(points[i]):0.###}");
            }

            page.Append(CultureInfo.InvariantCulture, $"</td><td>{points[i].Gaps}</td><td>{points[i].Missing}</td>")
                .Append(CultureInfo.InvariantCulture, $"<td>{points[i].TraceHash}</td></tr>\n");
        }

        page.Append("</table>\n");
    }

    private static string Numbers(IEnumerable<double?> values) =>
        $"[{string.Join(", ", values.Select(value => value?.ToString("R", CultureInfo.InvariantCulture) ?? "null"))}]";

    private static string Text(string text) => WebUtility.HtmlEncode(text);

    private static string Resource(string name)
    {
        using var stream = typeof(CurvePage).Assembly.GetManifestResourceStream($"uPlot/{name}")!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }

    private sealed record Series(string Label, IReadOnlyList<double?> Values);
}
