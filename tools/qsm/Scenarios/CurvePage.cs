using System.Globalization;
using System.Net;
using System.Text;

namespace QuickSilver.Tool.Scenarios;

// A scenario's whole curve: a table of comma-separated values, and one page that needs nothing but a browser.
internal static class CurvePage
{
    private static readonly string[] Colors = ["#2f6fb2", "#b2572f", "#5b8c3a"];

    public static string Csv(IReadOnlyList<ScenarioReport> points)
    {
        var text = new StringBuilder().Append(points[0].Csv().Names).Append('\n');
        foreach (var point in points)
        {
            text.Append(point.Csv().Values).Append('\n');
        }

        return text.ToString();
    }

    public static string Html(Scenario scenario, IReadOnlyList<double> at, IReadOnlyList<ScenarioReport> points)
    {
        string axis = scenario.Axis switch
        {
            Axis.Topics => "topics",
            Axis.Rate => "messages/s",
            Axis.Replicas => "replicas",
            Axis.TokenRate => "tokens/s",
            Axis.FeedbackRanges => "ranges",
            _ => "nodes",
        };
        var page = new StringBuilder();
        page.Append(CultureInfo.InvariantCulture, $$"""
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>qsm sim: {{scenario.Name}}</title>
            <!--
            The plots are drawn by uPlot:
            {{Resource("LICENSE")}}
            -->
            <style>{{Resource("uPlot.min.css")}}
            body { font-family: sans-serif; max-width: 900px; margin: 2em auto; color: #222 }
            table { border-collapse: collapse } td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid #ddd }
            </style>
            <script>{{Resource("uPlot.iife.min.js")}}</script></head><body>
            <h1>{{scenario.Name}}</h1>
            <p>{{Text(scenario.Description)}}</p>
            <p><b>The paper says:</b> {{Text(scenario.PaperSays)}}</p>
            <p><b>Machines:</b> {{Text(points[0].Model)}}. Faults: {{Text(points[0].Faults)}}. Seed {{points[0].Seed}}. Where a message is
            smaller than a packet, parts of several share one; the paper's had one each.</p>

            """);
        for (int i = 0; i < scenario.Curves.Count; i++)
        {
            Plot(page, i, axis, scenario.Curves[i], at, points, i == 0 ? scenario.Paper : null);
        }

        Table(page, axis, scenario.Curves, at, points);
        return page.Append("</body></html>\n").ToString();
    }

    private static void Plot(
        StringBuilder page,
        int number,
        string axis,
        Curve curve,
        IReadOnlyList<double> at,
        IReadOnlyList<ScenarioReport> points,
        PaperCurve? paper)
    {
        string xs = Numbers(at.Select(x => (double?)x));
        string ours = Numbers(points.Select(curve.Of));
        string color = Colors[number % Colors.Length];
        string theirs = "", series = "";
        if (paper is not null && curve.Of(points[0]) is { } first)
        {
            theirs = ", " + Numbers(at.Select(x => first * paper.ShareAt(x)));
            series = $", {{ label: \"{paper.Label}\", stroke: \"#888\", dash: [6, 4] }}";
        }

        page.Append(CultureInfo.InvariantCulture, $$"""
            <h2>{{Text(curve.Label)}}</h2><div id="plot{{number}}"></div>
            <script>new uPlot({ width: 860, height: 340, scales: { x: { time: false }, y: { range: (u, a, b) => [0, b * 1.1 || 1] } },
              axes: [{ label: "{{axis}}" }, { label: "{{curve.Label}}", size: 70 }],
              series: [{ label: "{{axis}}" },
                { label: "ours: {{curve.Label}}", stroke: "{{color}}", width: 2, points: { show: true } }{{series}}] },
              [{{xs}}, {{ours}}{{theirs}}], document.getElementById("plot{{number}}"));</script>

            """);
    }

    private static void Table(
        StringBuilder page, string axis, IReadOnlyList<Curve> curves, IReadOnlyList<double> at, IReadOnlyList<ScenarioReport> points)
    {
        page.Append("<table><tr><th>").Append(axis);
        foreach (var curve in curves)
        {
            page.Append("</th><th>").Append(Text(curve.Label));
        }

        page.Append("</th><th>gaps</th><th>missing</th><th>trace</th></tr>\n");
        for (int i = 0; i < points.Count; i++)
        {
            page.Append(CultureInfo.InvariantCulture, $"<tr><td>{at[i]}");
            foreach (var curve in curves)
            {
                page.Append(CultureInfo.InvariantCulture, $"</td><td>{curve.Of(points[i])}");
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
}
