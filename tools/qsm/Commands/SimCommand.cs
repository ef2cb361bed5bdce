using System.CommandLine;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Experiments;
using QuickSilver.Tool.Scenarios;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// The papers' experiments, by name, with whole nodes in the simulator: one point, or with a report the whole curve.
internal static class SimCommand
{
    private static readonly Argument<string> ScenarioName = new("SCENARIO") { Description = $"One of {Scenario.Names}." };

    private static readonly Option<int?> Nodes = new Option<int?>("--nodes")
    {
        Description = "The number of nodes: one sender, and the rest receivers. By default, that of the scenario's last point.",
        HelpName = "N",
    }.Within(2, 10_000);

    private static readonly Option<int?> Topics = new Option<int?>("--topics")
    {
        Description = "The number of topics that the sender sends to in turn. All other nodes subscribe to all of them.",
        HelpName = "T",
    }.Within(1, 100_000);

    private static readonly Option<double?> Rate = new Option<double?>("--rate")
    {
        Description = "Messages per second. By default, the scenario's rate, or as many as flow control allows.",
        HelpName = "MSGS",
    }.Within(0.1, 1e6);

    private static readonly Option<int?> Replicas = new Option<int?>("--replicas")
    {
        Description = "The minimum number of receivers that keep each packet until all hold it.",
        HelpName = "K",
    }.Within(1, 1000);

    private static readonly Option<double?> TokenRate = new Option<double?>("--token-rate")
    {
        Description = "Tokens per second that each ring leader releases. By default, a leader releases a token when there is news.",
        HelpName = "TOKENS",
    }.Within(0.1, 1000);

    private static readonly Option<int?> FeedbackRanges = new Option<int?>("--feedback-ranges")
    {
        Description = "The number of ranges in an acknowledgement. By default, only the highest contiguous packet that all hold.",
        HelpName = "K",
    }.Within(1, 100);

    private static readonly Option<ulong> Seed = new Option<ulong>("--seed")
    {
        Description = "The random seed. The same command line gives the same trace hash.",
        HelpName = "S",
        DefaultValueFactory = _ => 1,
    }.Within(0UL, ulong.MaxValue);

    private static readonly Option<double> Seconds = new Option<double>("--seconds")
    {
        Description = "The virtual time to measure, after the warm-up.",
        HelpName = "S",
        DefaultValueFactory = _ => 10,
    }.Within(0.1, 86_400);

    private static readonly Option<double?> WarmUp = new Option<double?>("--warm-up")
    {
        Description = "The virtual time under load before measuring: 1 s by default, or 20 s with few tokens.",
        HelpName = "S",
    }.Within(0, 3600);

    private static readonly Option<double?> Minutes = new Option<double?>("--minutes")
    {
        Description = "The same in minutes.",
        HelpName = "M",
    }.Within(0.01, 1440);

    private static readonly Option<LoadFaults?> Faults = FaultList.Option();

    private static readonly Option<HostModel> Model = CreateModel();

    private static readonly Option<FileInfo?> Report = new("--report")
    {
        Description = "Run the whole curve, up to the value of the option for its axis (--nodes, --topics, …), and write it as an HTML "
            + "page and a CSV file.",
        HelpName = "FILE.html",
    };

    private static readonly Option<bool> Json = PerfCommand.Json();

    public static Command Create()
    {
        ScenarioName.Validators.Add(result =>
        {
            string name = result.Tokens[^1].Value;
            if (Scenario.Find(name) is null)
            {
                result.AddError($"SCENARIO: Unknown scenario '{name}'. Valid scenarios: {Scenario.Names}.");
            }
        });
        var run = new Command("run", "Run a scenario: one point of its curve, or the whole curve with --report.")
        {
            ScenarioName, Nodes, Topics, Rate, Replicas, TokenRate, FeedbackRanges, Seed,
            Seconds, WarmUp, Minutes, Faults, Model, Report, Json,
        };
        Bounds.Exclude(run, Seconds, Minutes);
        run.SetAction(parse => Run(parse));
        return new Command("sim", "Run the experiments of the papers in the simulator, in virtual time.") { run };
    }

    private static int Run(ParseResult parse)
    {
        var scenario = Scenario.Find(parse.GetValue(ScenarioName)!)!;
        int? nodes = parse.GetValue(Nodes);
        int? topics = parse.GetValue(Topics);
        double? rate = parse.GetValue(Rate);
        int? replicas = parse.GetValue(Replicas);
        double? tokenRate = parse.GetValue(TokenRate);
        int? ranges = parse.GetValue(FeedbackRanges);
        double seconds = parse.GetValue(Minutes) * 60 ?? parse.GetValue(Seconds);
        var faults = parse.GetValue(Faults) ?? scenario.Faults;
        var last = new ScenarioPoint(scenario, nodes ?? scenario.Nodes, topics ?? scenario.Topics, rate ?? scenario.Rate)
        {
            Replicas = replicas ?? scenario.Replicas,
            TokenRate = tokenRate ?? scenario.TokenRate,
            FeedbackRanges = ranges ?? scenario.FeedbackRanges,
            Seed = parse.GetValue(Seed),
            Duration = TimeSpan.FromSeconds(seconds),
            WarmUp = parse.GetValue(WarmUp) is { } warmUp ? TimeSpan.FromSeconds(warmUp) : scenario.WarmUp,
            Host = parse.GetValue(Model)!,
            Faults = faults,
            FaultsText = FaultList.Say(faults),
        };
        double? most = scenario.Axis switch
        {
            Axis.Topics => topics,
            Axis.Rate => rate,
            Axis.Replicas => replicas,
            Axis.TokenRate => tokenRate,
            Axis.FeedbackRanges => ranges,
            _ => nodes,
        };
        try
        {
            var report = parse.GetValue(Report) is { } file ? RunCurve(last, most, file) : last.Run();
            report.Print(parse.GetValue(Json));
            return report.Missing > 0 ? ExitCode.Failed : ExitCode.Ok;
        }
        catch (Exception exception) when (exception is SimulationException or IOException or UnauthorizedAccessException)
        {
            Terminal.Error(exception.Message);
            return ExitCode.Failed;
        }
    }

    private static ScenarioReport RunCurve(ScenarioPoint last, double? most, FileInfo file)
    {
        var at = last.Scenario.Points.Where(x => x < (most ?? double.MaxValue)).ToList();
        if (most is { } end)
        {
            at.Add(end);
        }

        var points = new List<ScenarioReport>();
        foreach (double x in at)
        {
            points.Add(last.MovedTo(x).Run());
            Terminal.Note($"{last.Scenario.Name}: {points.Count} of {at.Count} points");
        }

        File.WriteAllText(file.FullName, CurvePage.Html(last.Scenario, at, points));
        File.WriteAllText(Path.ChangeExtension(file.FullName, ".csv"), CurvePage.Csv(points));
        return points[^1];
    }

    private static Option<HostModel> CreateModel() => new("--model")
    {
        Description = "The model of the machines: "
            + string.Join("; ", HostModel.All.Select(model => $"{model.Name}, {model.Description}")) + ".",
        HelpName = "NAME",
        DefaultValueFactory = _ => HostModel.Papers,
        CustomParser = result =>
        {
            string name = result.Tokens[^1].Value;
            if (HostModel.All.FirstOrDefault(model => model.Name == name) is { } found)
            {
                return found;
            }

            result.AddError($"--model: Unknown model '{name}'. Valid: {string.Join(", ", HostModel.All.Select(model => model.Name))}.");
            return null;
        },
    };
}
