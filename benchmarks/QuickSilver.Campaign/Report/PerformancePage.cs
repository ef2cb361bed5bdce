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
        string options = $"{(plan.Lab is null ? "" : "--lab DIR ")}{(plan.IsQuick ? "--quick " : "")}"
            + $"{string.Concat(plan.Only.Select(only => $"--only {only} "))}--rounds {plan.Rounds} --seconds {plan.Seconds}";
        var page = new StringBuilder();
        page.Append(CultureInfo.InvariantCulture, $"""
            # Performance

            Written by `benchmarks/QuickSilver.Campaign`, not by hand. One sender, each receiver a process of its own, network
            namespaces on one bridge; messages a second at the slowest receiver; the contenders in turn, round by round. `raw-*` and
            `ceiling` promise nothing: they are the bounds of the kernel and of managed code.

            A figure is the median of its rounds, with the least and the most in brackets. A ratio is taken within a round, and the
            median of those is shown; a round in which one of the two failed has none. CPU is all that the machine was busy with
            while it was measured (user, system and interrupt time; for a peer, as its script counts it), what others did on it
            included, for each million of messages, counted at each receiver. A bar is what the median of the figure beside it is held to.

            ```
            dotnet run -c Release --project benchmarks/QuickSilver.Campaign -- --peers DIR {options}
            ```

            {string.Join('\n', MachineFacts.Lines().Select(fact => $"- {fact}"))}
            - load average (1, 5, 15 minutes) {loadAtStart} at the start, {MachineFacts.LoadAverage()} at the end
            - {plan.Rounds} rounds of {plan.Seconds} s; the machine was shared, so read ratios, not rates

            """);
        AppendBars(page);
        foreach (var section in sections)
        {
            Append(page, section);
            File.WriteAllText(Path.Combine(folder.FullName, $"{section.Slug}.svg"), Plot(section));
        }

        File.WriteAllText(plan.Output.FullName, page.ToString());
    }

    // All that is held to a bar in one table, before the sections that it comes from.
    private void AppendBars(StringBuilder page)
    {
        page.Append("\n## Bars\n\n| section | row | measured | bar |\n|---|---|---|---|\n");
        foreach (var section in sections)
        {
            foreach (var row in section.Rows)
            {
                foreach (var claim in row.Claims.Where(claim => claim.Bar is not null))
                {
                    page.Append(
                        CultureInfo.InvariantCulture, $"| {section.Title} | {row.Contender.Name} | {claim.Text} | {claim.Verdict} |\n");
                }
            }
        }
    }

    private void Append(StringBuilder page, Section section)
    {
        page.Append(CultureInfo.InvariantCulture, $"\n## {section.Title}\n\n");
        if (section.Text.Length > 0)
        {
            page.Append(CultureInfo.InvariantCulture, $"{section.Text}\n\n");
        }

        bool hasBars = section.Rows.SelectMany(row => row.Claims).Any(claim => claim.Bar is not null);
        string heads = string.Join(" | ", section.Figures.Select(figure => figure.Title));
        page.Append(CultureInfo.InvariantCulture, $"| | {heads} | {section.ClaimTitle} |{(hasBars ? " bar |" : "")}\n");
        page.Append("|---|").Insert(page.Length, "---|", section.Figures.Count + (hasBars ? 2 : 1)).Append('\n');
        foreach (var row in section.Rows)
        {
            var runs = row.Runs;
            string failed = runs.Failed == 0 ? "" : $" ({runs.Failed} of {runs.Count} failed)";
            string cells = string.Join(" | ", section.Figures.Select(figure => figure.CellOf(runs)));
            string claims = string.Join("<br>", row.Claims.Select(claim => claim.Text));
            string bars = hasBars ? $" {string.Join("<br>", row.Claims.Select(claim => claim.Verdict))} |" : "";
            page.Append(CultureInfo.InvariantCulture, $"| {row.Contender.Name}{failed} | {cells} | {claims} |{bars}\n");
        }

        page.Append(CultureInfo.InvariantCulture, $"\n![{section.Title}]({_name}/{section.Slug}.svg)\n\n```\n");
        foreach (var row in section.Rows)
        {
            page.Append(CultureInfo.InvariantCulture, $"{row.Contender.Command(section.Load, plan.Seconds)}\n");
        }

        page.Append("```\n");
    }

    private static string Plot(Section section)
    {
        var plotted = section.Figures[0];
        return BarChart.Draw(
            $"{section.Title}: {plotted.Title}",
            plotted.Format,
            [.. section.Rows
                .Select(row => (Runs: row.Runs.Of(plotted.Of), row.Contender))
                .Where(bar => bar.Runs.IsKnown)
                .Select(bar => (bar.Contender.Name, bar.Runs, bar.Contender.IsOwn))]);
    }
}
