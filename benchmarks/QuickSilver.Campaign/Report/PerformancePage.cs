using System.Globalization;
using System.Text;

namespace QuickSilver.Campaign.Report;

// The page that the campaign writes: tables of medians and spreads, plots, the machine, and the commands.
internal sealed class PerformancePage(CampaignPlan plan, IReadOnlyList<Section> sections, string loadAtStart)
{
    private readonly string _name = Path.GetFileNameWithoutExtension(plan.Output.Name);

    public void Write()
    {
        var folder = Directory.CreateDirectory(Path.Combine(plan.Output.DirectoryName!, _name));
        string size = $"{(plan.IsQuick ? "--quick " : "")}--rounds {plan.Rounds} --seconds {plan.Seconds}";
        var page = new StringBuilder();
        page.Append(CultureInfo.InvariantCulture, $"""
            # Performance

            Written by `benchmarks/QuickSilver.Campaign`, not by hand. One sender, each receiver a process of its own, network
            namespaces on one bridge; messages a second at the slowest receiver; the contenders in turn, round by round. `raw-*` and
            `ceiling` promise nothing: they are the bounds of the kernel and of managed code.

            A figure is the median of its rounds, with the least and the most in brackets. A ratio is taken within a round, and the
            median of those is shown; a round in which one of the two failed has none. CPU is all that the machine was busy with
            while it was measured (user, system and interrupt time; for a peer, as its script counts it), what others did on it
            included, for each million of messages, counted at each receiver.

            ```
            dotnet run -c Release --project benchmarks/QuickSilver.Campaign -- --peers DIR {size}
            ```

            {string.Join('\n', MachineFacts.Lines().Select(fact => $"- {fact}"))}
            - load average (1, 5, 15 minutes) {loadAtStart} at the start, {MachineFacts.LoadAverage()} at the end
            - {plan.Rounds} rounds of {plan.Seconds} s; the machine was shared, so read ratios, not rates

            """);
        foreach (var section in sections)
        {
            Append(page, section);
            File.WriteAllText(Path.Combine(folder.FullName, $"{section.Slug}.svg"), Plot(section));
        }

        File.WriteAllText(plan.Output.FullName, page.ToString());
    }

    private void Append(StringBuilder page, Section section)
    {
        page.Append(CultureInfo.InvariantCulture, $"\n## {section.Title}\n\n");
        if (section.Text.Length > 0)
        {
            page.Append(CultureInfo.InvariantCulture, $"{section.Text}\n\n");
        }

        string figures = section.IsRoundTrip ? "p50, µs | p99, µs" : "msg/s | lost | CPU s per million delivered";
        page.Append(CultureInfo.InvariantCulture, $"| | {figures} | {section.RatioTitle} |\n");
        page.Append(section.IsRoundTrip ? "|---|---|---|---|\n" : "|---|---|---|---|---|\n");
        foreach (var row in section.Rows)
        {
            var runs = row.Runs;
            string failed = runs.Failed == 0 ? "" : $" ({runs.Failed} of {runs.Count} failed)";
            string figure = Cell(runs.Of(Figure(section)), Format(section));
            string cells = section.IsRoundTrip
                ? $"{figure} | {Cell(runs.Of(run => run.P99Micros), Format(section))}"
                : $"{figure} | {runs.Lost} | {Cell(runs.Of(run => run.CpuSecondsPerMillion), "F2")}";
            page.Append(CultureInfo.InvariantCulture, $"| {row.Contender.Name}{failed} | {cells} | {Ratio(section, row)} |\n");
        }

        page.Append(CultureInfo.InvariantCulture, $"\n![{section.Title}]({_name}/{section.Slug}.svg)\n\n```\n");
        foreach (var row in section.Rows)
        {
            page.Append(CultureInfo.InvariantCulture, $"{row.Contender.Command(section.Load, plan.Seconds)}\n");
        }

        page.Append("```\n");
    }

    private static string Ratio(Section section, Row row)
    {
        Series? Of(Contenders.IContender? contender) => section.Rows.FirstOrDefault(other => other.Contender == contender)?.Runs;
        return Of(row.Over) is { } over && Of(row.Under) is { } under ? Cell(over.Over(under, Figure(section)), "F2") : "";
    }

    private static string Plot(Section section) => BarChart.Draw(
        section.IsRoundTrip ? "Median round trip, µs" : $"Messages a second, {section.Title}",
        Format(section),
        [.. section.Rows
            .Select(row => (Runs: row.Runs.Of(Figure(section)), row.Contender))
            .Where(bar => bar.Runs.IsKnown)
            .Select(bar => (bar.Contender.Name, bar.Runs, bar.Contender.IsOwn))]);

    private static Func<Measurement, double> Figure(Section section) =>
        section.IsRoundTrip ? run => run.P50Micros : run => run.MessagesPerSecond;

    private static string Format(Section section) => section.IsRoundTrip ? "N1" : "N0";

    private static string Cell(Spread spread, string format)
    {
        string Text(double figure) => figure.ToString(format, CultureInfo.InvariantCulture);
        return spread.IsKnown ? $"{Text(spread.Median)} ({Text(spread.Least)}–{Text(spread.Most)})" : "";
    }
}
