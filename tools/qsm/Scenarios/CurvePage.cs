using System.Globalization;
using System.Net;
using System.Text;
using System.Text.Json;

namespace QuickSilver.Tool.Scenarios;

// A scenario's whole curve: a table of comma-separated values, and one page that needs nothing but a browser.
internal static class CurvePage
{
    private static readonly string[] Colors = ["#2f6fb2", "#b2572f", "#5b8c3a", "#888", "#7a4fa3", "#b28f2f", "#2f9f9f", "#c04f7f", "#444"];

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
            <p>{{Text(FigureReport.Papers)}}</p>

            """);
        if (figures.Count > 1)
        {
            page.AppendJoin(" · ", figures.Select((figure, i) => $"<a href=\"#figure{i}\">{figure.Scenario.Name}</a>")).Append('\n');
        }

        for (int i = 0; i < figures.Count; i++)
        {
            var (scenario, at, points) = figures[i];
            page.Append(CultureInfo.InvariantCulture, $"<div id=\"figure{i}\"></div>\n");
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
                    [.. stretch.Select(each => at[each.i])],
                    [.. stretch.Select(each => curve.Of(each.point))]))
                .ToList();
            if (curve.Paper is { } paper)
            {
                series.Add(Series.Of(paper, series[0]));
            }

            Plot(page, $"{id}c{i}", curve.Label, (scenario.Axis.Label, curve.Label), curve.Range, series);
        }

        for (int i = 0; i < scenario.Traces.Count; i++)
        {
            var trace = scenario.Traces[i];
            var series = points
                .Select(point => (point.Variant, Trace: point.Traces![i]))
                .Select(each => new Series(
                    each.Variant ?? trace.Label, each.Trace.At, [.. each.Trace.Values.Select(value => (double?)value)]))
                .ToList();
            Plot(page, $"{id}t{i}", trace.Label, (trace.AxisLabel, trace.ValueLabel), range: null, series, trace.IsLogarithmic);
        }

        Table(page, scenario.Axis.Label, scenario.Curves, at, points);
    }

    // Series over different values of the axis are joined: where one has no value, its line continues.
    private static void Plot(
        StringBuilder page, string id, string title, (string X, string Y) labels, (double From, double To)? range,
        IReadOnlyList<Series> series, bool isLogarithmic = false)
    {
        double[] xs = [.. series.SelectMany(one => one.At).Distinct().Order()];
        string all = string.Join(", ", series.Select((one, i) =>
            $"{{ label: {Quoted(one.Label)}, stroke: \"{Colors[i % Colors.Length]}\", width: 2, spanGaps: true, points: {{ show: true }}"
            + $"{(one.IsPapers ? ", dash: [6, 4]" : "")} }}"));
        string values = string.Join(", ", series.Select(one => Numbers(xs.Select(one.ValueAt))));
        var (from, to) = range ?? (0, 0);
        string bounds = range is null
            ? "[0, b * 1.1 || 1]"
            : string.Create(CultureInfo.InvariantCulture, $"[Math.min(a, {from}), Math.max(b, {to})]");
        page.Append(CultureInfo.InvariantCulture, $$"""
            <h2>{{Text(title)}}</h2><div id="{{id}}"></div>
            <script>new uPlot({ width: 860, height: 340,
              scales: { x: { time: false, distr: {{(isLogarithmic ? 3 : 1)}} }, y: { range: (u, a, b) => {{bounds}} } },
              axes: [{ label: {{Quoted(labels.X)}} }, { label: {{Quoted(labels.Y)}}, size: 70 }],
              series: [{ label: {{Quoted(labels.X)}} }, {{all}}] },
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

    private static string Quoted(string text) => $"\"{JsonEncodedText.Encode(text)}\"";

    private static string Text(string text) => WebUtility.HtmlEncode(text);

    private static string Resource(string name)
    {
        using var stream = typeof(CurvePage).Assembly.GetManifestResourceStream($"uPlot/{name}")!;
        using var reader = new StreamReader(stream);
        return reader.ReadToEnd();
    }

    private sealed record Series(string Label, IReadOnlyList<double> At, IReadOnlyList<double?> Values)
    {
        public bool IsPapers { get; private init; }

        /// <summary>At the points of the paper, and at ours that lie between them.</summary>
        public static Series Of(PaperCurve paper, Series ours)
        {
            double? unit = paper.Unit(ours.ValueAt);
            double[] at = [.. paper.Points.Select(point => point.At).Concat(ours.At).Distinct().Order()];
            return new Series(paper.Label, at, [.. at.Select(x => unit * paper.ValueAt(x))]) { IsPapers = true };
        }

        public double? ValueAt(double at)
        {
            // The last: a distribution may have several shares at one value.
            for (int i = At.Count - 1; i >= 0; i--)
            {
                if (At[i] == at)
                {
                    return Values[i];
                }
            }

            return null;
        }
    }
}
