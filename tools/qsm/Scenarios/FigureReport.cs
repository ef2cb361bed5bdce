using System.Globalization;
using System.Text;

namespace QuickSilver.Tool.Scenarios;

// One figure with all that was measured for it. Its field names are what scripts read: they are never renamed.
internal sealed record FigureReport
{
    public required string Scenario { get; init; }

    public required string Figures { get; init; }

    public required string Description { get; init; }

    public required string PaperSays { get; init; }

    public string? NotShown { get; init; }

    public required string Axis { get; init; }

    public required IReadOnlyList<ScenarioReport> Points { get; init; }

    public static FigureReport Of(Scenario scenario, IReadOnlyList<ScenarioReport> points) => new()
    {
        Scenario = scenario.Name,
        Figures = scenario.Figures,
        Description = scenario.Description,
        PaperSays = scenario.PaperSays,
        NotShown = scenario.NotShown,
        Axis = scenario.Axis.Label,
        Points = points,
    };

    /// <summary>A section of Markdown: what it is of, and a table of all points.</summary>
    public static void Markdown(StringBuilder text, Scenario scenario, IReadOnlyList<double> at, IReadOnlyList<ScenarioReport> points)
    {
        text.Append(CultureInfo.InvariantCulture, $"## {scenario.Name}: figures {scenario.Figures}\n\n{scenario.Description}\n\n")
            .Append(CultureInfo.InvariantCulture, $"The papers: {scenario.PaperSays}\n\n");
        if (scenario.NotShown is { } notShown)
        {
            text.Append(CultureInfo.InvariantCulture, $"Not shown: {notShown}\n\n");
        }

        text.Append(CultureInfo.InvariantCulture, $"| | {scenario.Axis.Label} |");
        foreach (var curve in scenario.Curves)
        {
            text.Append(CultureInfo.InvariantCulture, $" {curve.Label} |");
        }

        text.Append('\n').Append("|---|").Insert(text.Length, "---|", scenario.Curves.Count + 1).Append('\n');
        for (int i = 0; i < points.Count; i++)
        {
            text.Append(CultureInfo.InvariantCulture, $"| {points[i].Variant} | {at[i]:#,0.##} |");
            foreach (var curve in scenario.Curves)
            {
                text.Append(CultureInfo.InvariantCulture, $" {curve.Of(points[i]):#,0.###} |");
            }

            text.Append('\n');
        }

        text.Append('\n');
        Traces(text, scenario, points);
    }

    private static void Traces(StringBuilder text, Scenario scenario, IReadOnlyList<ScenarioReport> points)
    {
        for (int number = 0; number < scenario.Traces.Count; number++)
        {
            var trace = scenario.Traces[number];
            var first = points[0].Traces![number];
            text.Append(CultureInfo.InvariantCulture, $"{trace.Label}, by {(trace.IsDistribution ? "share of all values" : "time")}:\n\n|")
                .Append(trace.IsDistribution ? " share |" : " s |");
            foreach (var point in points)
            {
                text.Append(CultureInfo.InvariantCulture, $" {point.Variant}{(trace.IsDistribution ? $", {trace.AxisLabel}" : "")} |");
            }

            text.Append("\n|").Insert(text.Length, "---|", points.Count + 1).Append('\n');
            for (int i = 0; i < first.At.Count; i++)
            {
                double left = trace.IsDistribution ? first.Values[i] : first.At[i];
                text.Append(CultureInfo.InvariantCulture, $"| {left} |");
                foreach (var point in points)
                {
                    var mine = point.Traces![number];
                    text.Append(CultureInfo.InvariantCulture, $" {(trace.IsDistribution ? mine.At[i] : mine.Values[i]):#,0.###} |");
                }

                text.Append('\n');
            }

            text.Append('\n');
        }
    }
}
