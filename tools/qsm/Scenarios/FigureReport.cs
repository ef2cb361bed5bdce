using System.Globalization;
using System.Text;

namespace QuickSilver.Tool.Scenarios;

// One figure with all that was measured for it. Its field names are what scripts read: they are never renamed.
internal sealed record FigureReport
{
    public const string Papers = "L: the longer report, \"Scalable Publish-Subscribe in a Managed Framework\". Q: \"Quicksilver Scalable "
        + "Multicast\". I: \"Performance of the Isis Distributed Computing Toolkit\".";

    // More would be no table that is read.
    private const int MostRows = 200;

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

        text.Append(CultureInfo.InvariantCulture, $"Machines: {points[0].Model}.\n\n");

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

        if (scenario.Traces.Count == 0)
        {
            PapersRows(text, scenario, at, points);
        }

        text.Append('\n');
        Traces(text, scenario, points);
    }

    // A row for each point that the papers give.
    private static void PapersRows(StringBuilder text, Scenario scenario, IReadOnlyList<double> at, IReadOnlyList<ScenarioReport> points)
    {
        for (int i = 0; i < scenario.Curves.Count; i++)
        {
            var curve = scenario.Curves[i];
            double? unit = curve.Paper?.Unit(x => at.ToList().IndexOf(x) is >= 0 and int index ? curve.Of(points[index]) : null);
            foreach (var (x, value) in curve.Paper?.Points ?? [])
            {
                text.Append(CultureInfo.InvariantCulture, $"| *{curve.Paper!.Label}* | {x:#,0.##} |")
                    .Insert(text.Length, " |", i)
                    .Append(CultureInfo.InvariantCulture, $" {unit * value:#,0.###} |")
                    .Insert(text.Length, " |", scenario.Curves.Count - i - 1)
                    .Append('\n');
            }
        }
    }

    private static void Traces(StringBuilder text, Scenario scenario, IReadOnlyList<ScenarioReport> points)
    {
        for (int number = 0; number < scenario.Traces.Count; number++)
        {
            var trace = scenario.Traces[number];
            var first = points[0].Traces![number];
            if (first.At.Count > MostRows)
            {
                text.Append(CultureInfo.InvariantCulture, $"{trace.Label}: {first.At.Count} values, in figures.json.\n\n");
                continue;
            }

            string values = trace.ValueLabel == trace.Label ? "" : $", {trace.ValueLabel}";
            text.Append(CultureInfo.InvariantCulture, $"{trace.Label}{values}:\n\n|")
                .Append(CultureInfo.InvariantCulture, $" {(trace.IsDistribution ? "share" : trace.AxisLabel)} |");
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
