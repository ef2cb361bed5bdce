using System.Globalization;
using System.Text;
using QuickSilver.Campaign.Contenders;

namespace QuickSilver.Campaign.Report;

// The page that the campaign writes: tables of medians and spreads, plots, the machine, and the commands.
internal sealed class PerformancePage(
    CampaignPlan plan, IReadOnlyList<IContender> contenders, IReadOnlyDictionary<(string Contender, Load Load), Series> results)
{
    public void Write()
    {
        string name = Path.GetFileNameWithoutExtension(plan.Output.Name);
        var folder = Directory.CreateDirectory(Path.Combine(plan.Output.DirectoryName!, name));
        string size = plan.IsQuick ? "--quick" : $"--rounds {plan.Rounds} --seconds {plan.Seconds}";
        var page = new StringBuilder();
        page.Append(CultureInfo.InvariantCulture, $"""
            # Performance

            Written by `benchmarks/QuickSilver.Campaign`, not by hand. One sender, each receiver a process of its own, network
            namespaces on one bridge; messages a second at the slowest receiver; the contenders in turn, round by round. `raw-*` and
            `ceiling` promise nothing: they are the bounds of the kernel and of managed code.

            ```
            dotnet run -c Release --project benchmarks/QuickSilver.Campaign -- --peers DIR {size}
            ```

            {string.Join('\n', MachineFacts.Lines().Select(fact => $"- {fact}"))}
            - {plan.Rounds} rounds of {plan.Seconds} s; the machine was shared, so read ratios, not rates

            """);
        foreach (var load in plan.Loads)
        {
            Section(page, folder, name, load);
        }

        File.WriteAllText(plan.Output.FullName, page.ToString());
    }

    private void Section(StringBuilder page, DirectoryInfo folder, string name, Load load)
    {
        double own = results[(OwnContender.OwnName, load)].Median;
        string receivers = load.Receivers == 1 ? "receiver" : "receivers";
        page.Append(CultureInfo.InvariantCulture, $"\n## {load.Bytes} B, {load.Receivers} {receivers}\n\n");
        page.Append("| | msg/s, median | least–most | lost | QuickSilver over it |\n|---|---|---|---|---|\n");
        var bars = new List<(string, double, double, double, bool)>();
        foreach (var contender in contenders)
        {
            var series = results[(contender.Name, load)];
            bool isOwn = contender is OwnContender;
            string note = series.Failures.FirstOrDefault() is { } failure ? $" ({series.Failures.Count()} failed: {failure})" : "";
            string ratio = isOwn || series.Median <= 0
                ? ""
                : string.Create(CultureInfo.InvariantCulture, $"{own / series.Median:F2}");
            page.Append(
                CultureInfo.InvariantCulture,
                $"| {contender.Name}{note} | {series.Median:N0} | {series.Least:N0}–{series.Most:N0} | {series.Lost} | {ratio} |\n");
            bars.Add((contender.Name, series.Median, series.Least, series.Most, isOwn));
        }

        string file = string.Create(CultureInfo.InvariantCulture, $"throughput-{load.Bytes}-{load.Receivers}.svg");
        File.WriteAllText(Path.Combine(folder.FullName, file), BarChart.Draw($"Messages a second, {load}", bars));
        page.Append(CultureInfo.InvariantCulture, $"\n![{load}]({name}/{file})\n\n```\n");
        foreach (var contender in contenders)
        {
            page.Append(CultureInfo.InvariantCulture, $"{contender.Command(load, plan.Seconds)}\n");
        }

        page.Append("```\n");
    }
}
