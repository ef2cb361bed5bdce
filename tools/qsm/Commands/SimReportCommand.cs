using System.CommandLine;
using System.Diagnostics;
using System.Globalization;
using System.Text;
using System.Text.Json;
using QuickSilver.Simulation;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Scenarios;
using QuickSilver.Tool.Scenarios.Catalog;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// Many figures, or all, at once: figures.json for scripts, figures.md to read, and figures.html with the plots.
internal static class SimReportCommand
{
    private static readonly string[] FileNames = ["figures.json", "figures.md", "figures.html"];

    private static readonly Argument<string[]> Names = new("SCENARIO")
    {
        Description = "The scenarios whose figures are wanted; none with --all.",
        Arity = ArgumentArity.ZeroOrMore,
    };

    private static readonly Option<bool> All = new("--all") { Description = "The figures of all scenarios." };

    private static readonly Option<DirectoryInfo> Folder = new("--out")
    {
        Description = "The folder for figures.json, figures.md and figures.html. It is created if it does not exist.",
        HelpName = "DIR",
        DefaultValueFactory = _ => new DirectoryInfo("figures"),
    };

    private static readonly Option<int> Jobs = new Option<int>("--jobs")
    {
        Description = "How many points run at the same time. By default, as many as there are processors.",
        HelpName = "N",
        DefaultValueFactory = _ => Environment.ProcessorCount,
    }.Within(1, 256);

    private static readonly Option<ulong> Seed = new Option<ulong>("--seed")
    {
        Description = "The random seed of all runs. The same seed gives the same figures.",
        HelpName = "S",
        DefaultValueFactory = _ => 1,
    }.Within(0UL, ulong.MaxValue);

    private static readonly Option<double> Times = new Option<double>("--times")
    {
        Description = "Measures each point so many times as long as by default.",
        HelpName = "X",
        DefaultValueFactory = _ => 1,
    }.Within(0.1, 100);

    private static readonly Option<int?> MostNodes = new Option<int?>("--most-nodes")
    {
        Description = "Uses no more nodes than this in any point, for a quick look.",
        HelpName = "N",
    }.Within(4, 10_000);

    public static Command Create()
    {
        var report = new Command("report", "Run whole figures, several points at a time, and write them as JSON, Markdown and one page.")
        {
            Names, All, Folder, Jobs, Seed, Times, MostNodes,
        };
        report.Validators.Add(result =>
        {
            string[] names = [.. result.GetResult(Names)?.Tokens.Select(token => token.Value) ?? []];
            bool isAll = result.GetResult(All) is { Implicit: false };
            if (isAll == names.Length > 0)
            {
                result.AddError(isAll ? "Use either names of scenarios or --all, not both." : "Name scenarios, or use --all.");
            }

            foreach (string name in names.Where(name => ScenarioCatalog.Find(name) is null))
            {
                result.AddError($"SCENARIO: Unknown scenario '{name}'. Valid scenarios: {ScenarioCatalog.Names}.");
            }
        });
        report.SetAction(parse => Run(parse));
        return report;
    }

    private static int Run(ParseResult parse)
    {
        long begun = Stopwatch.GetTimestamp();
        IReadOnlyList<Scenario> scenarios = parse.GetValue(All)
            ? ScenarioCatalog.All
            : [.. parse.GetValue(Names)!.Distinct().Select(name => ScenarioCatalog.Find(name)!)];
        ScenarioPoint[] points = [.. scenarios.SelectMany(scenario => PointsOf(parse, scenario))];
        var folder = parse.GetValue(Folder)!;
        try
        {
            folder.Create();
            string[] files = [.. FileNames.Select(name => Path.Combine(folder.FullName, name))];
            Array.ForEach(files, OutputFile.Check);
            int done = 0;
            var reports = new ScenarioSweep(parse.GetValue(Jobs)).Run(points, report =>
            {
                int number = Interlocked.Increment(ref done);
                string variant = report.Variant is { } name ? $", {name}" : "";
                Terminal.Note($"{number} of {points.Length}: {report.Scenario}, {report.Nodes} nodes{variant}");
            });
            Write(files, scenarios, points, reports);
            var cpu = Process.GetCurrentProcess().TotalProcessorTime;
            Terminal.Note(string.Create(
                CultureInfo.InvariantCulture,
                $"{scenarios.Count} figures in {folder.FullName}: {Stopwatch.GetElapsedTime(begun).TotalMinutes:0.0} minutes, "
                + $"{cpu.TotalMinutes:0.0} minutes of processor time"));
            var missing = reports.Where(report => report.Missing > 0).Select(report => report.Scenario).Distinct().ToList();
            if (missing.Count > 0)
            {
                Terminal.Error($"Messages are missing in {string.Join(", ", missing)}.");
                return ExitCode.Failed;
            }

            return ExitCode.Ok;
        }
        catch (Exception exception) when (exception is SimulationException or IOException or UnauthorizedAccessException or ToolException)
        {
            Terminal.Error(exception.Message);
            return ExitCode.Failed;
        }
    }

    private static IEnumerable<ScenarioPoint> PointsOf(ParseResult parse, Scenario scenario)
    {
        int most = parse.GetValue(MostNodes) ?? int.MaxValue;
        var plan = scenario.Plan with
        {
            Seed = parse.GetValue(Seed),
            Duration = scenario.ReportLength * parse.GetValue(Times),
            Nodes = Math.Min(scenario.Plan.Nodes, most),
        };
        var last = new ScenarioPoint(scenario, scenario.Variants[0], plan);
        return ScenarioSweep.PointsOf(last, most: null, scenario.Variants).Where(point => point.Plan.Nodes <= most);
    }

    private static void Write(
        string[] files, IReadOnlyList<Scenario> scenarios, ScenarioPoint[] points, IReadOnlyList<ScenarioReport> reports)
    {
        var json = new List<FigureReport>();
        var pages = new List<(Scenario, IReadOnlyList<double>, IReadOnlyList<ScenarioReport>)>();
        var text = new StringBuilder($"# The papers' figures\n\n{FigureReport.Papers}\n\n");
        text.Append(CultureInfo.InvariantCulture, $"Seed {reports[0].Seed}.\n\n");
        foreach (var scenario in scenarios)
        {
            var indices = Enumerable.Range(0, points.Length).Where(i => points[i].Scenario == scenario).ToList();
            double[] at = [.. indices.Select(i => points[i].At)];
            ScenarioReport[] mine = [.. indices.Select(i => reports[i])];
            json.Add(FigureReport.Of(scenario, mine));
            pages.Add((scenario, at, mine));
            FigureReport.Markdown(text, scenario, at, mine);
        }

        File.WriteAllText(files[0], JsonSerializer.Serialize([.. json], ScenarioJson.Default.FigureReportArray));
        File.WriteAllText(files[1], text.ToString());
        File.WriteAllText(files[2], CurvePage.Html("all figures", pages));
    }
}
