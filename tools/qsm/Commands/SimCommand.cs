using System.CommandLine;
using QuickSilver.Simulation;
using QuickSilver.Simulation.Experiments;
using QuickSilver.Tool.Commands.Perf;
using QuickSilver.Tool.Scenarios;
using QuickSilver.Tool.Scenarios.Catalog;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// The papers' experiments, by name, with whole nodes in the simulator: one point, or with a report the whole curve.
internal static class SimCommand
{
    private static readonly Argument<string> ScenarioName = new("SCENARIO") { Description = $"One of {ScenarioCatalog.Names}." };

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

    private static readonly Option<int?> Senders = new Option<int?>("--senders")
    {
        Description = "The number of senders, fewer than nodes. In a group all may send. By default, the scenario's.",
        HelpName = "N",
    }.Within(1, 100);

    private static readonly Option<int?> Size = new Option<int?>("--size")
    {
        Description = "The size of a message in bytes.",
        HelpName = "BYTES",
    }.Within(4, 140_000);

    private static readonly Option<bool> Packed = new("--packed")
    {
        Description = "Let messages share packets, as nodes do. By default each has its own, as in the papers.",
    };

    private static readonly Option<TopicWeight?> Weight = CreateWeight();

    private static readonly Option<string?> VariantName = new("--variant")
    {
        Description = "Of the variants that the scenario compares, the one to run, by the beginning of its name. By default, the first; "
            + "with --report, all.",
        HelpName = "NAME",
    };

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

    private static readonly Option<HostModel?> Model = CreateModel();

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
            if (ScenarioCatalog.Find(name) is null)
            {
                result.AddError($"SCENARIO: Unknown scenario '{name}'. Valid scenarios: {ScenarioCatalog.Names}.");
            }
        });
        var run = new Command("run", "Run a scenario: one point of its curve, or the whole curve with --report.")
        {
            ScenarioName, Nodes, Senders, Topics, Size, Rate, Replicas, TokenRate, FeedbackRanges, Packed, Weight, VariantName, Seed,
            Seconds, WarmUp, Minutes, Faults, Model, Report, Json,
        };
        Bounds.Exclude(run, Seconds, Minutes);
        run.SetAction(parse => Run(parse));
        return new Command("sim", "Run the experiments of the papers in the simulator, in virtual time.")
        {
            run, SimReportCommand.Create(),
        };
    }

    private static int Run(ParseResult parse)
    {
        var scenario = ScenarioCatalog.Find(parse.GetValue(ScenarioName)!)!;
        var last = new ScenarioPoint(scenario, scenario.Variants[0], PlanOf(parse, scenario.Plan));
        var variants = scenario.Variants;
        if (parse.GetValue(VariantName) is { } name)
        {
            variants = [.. variants.Where(variant => variant.Name.StartsWith(name, StringComparison.Ordinal)).Take(1)];
            if (variants.Count == 0 || name.Length == 0)
            {
                string valid = string.Join(", ", scenario.Variants.Select(variant => $"'{variant.Name}'"));
                Terminal.Error($"--variant: {scenario.Name} has no variant '{name}'. It has {valid}.");
                return ExitCode.Usage;
            }
        }

        last = last with { Variant = variants[0] };
        if (last.Refusal(parse.GetValue(Nodes)) is { } refusal)
        {
            Terminal.Error(refusal);
            return ExitCode.Usage;
        }

        try
        {
            var report = parse.GetValue(Report) is { } file ? RunCurve(last, variants, MostOf(parse, scenario), file) : last.Run();
            report.Print(parse.GetValue(Json));
            return report.Missing > 0 ? ExitCode.Failed : ExitCode.Ok;
        }
        catch (Exception exception) when (exception is SimulationException or IOException or UnauthorizedAccessException)
        {
            Terminal.Error(exception.Message);
            return ExitCode.Failed;
        }
    }

    private static LoadPlan PlanOf(ParseResult parse, LoadPlan plan) => plan with
    {
        Nodes = parse.GetValue(Nodes) ?? plan.Nodes,
        Senders = parse.GetValue(Senders) ?? plan.Senders,
        Topics = parse.GetValue(Topics) ?? plan.Topics,
        MessageBytes = parse.GetValue(Size) ?? plan.MessageBytes,
        OnePerPacket = plan.OnePerPacket && !parse.GetValue(Packed),
        Weight = parse.GetValue(Weight) ?? plan.Weight,
        Rate = parse.GetValue(Rate) ?? plan.Rate,
        Replicas = parse.GetValue(Replicas) ?? plan.Replicas,
        TokenRate = parse.GetValue(TokenRate) ?? plan.TokenRate,
        FeedbackRanges = parse.GetValue(FeedbackRanges) ?? plan.FeedbackRanges,
        Seed = parse.GetValue(Seed),
        Duration = TimeSpan.FromSeconds(parse.GetValue(Minutes) * 60 ?? parse.GetValue(Seconds)),
        WarmUp = parse.GetValue(WarmUp) is { } warmUp ? TimeSpan.FromSeconds(warmUp) : plan.WarmUp,
        Host = parse.GetValue(Model) ?? plan.Host,
        Faults = parse.GetValue(Faults) ?? plan.Faults,
    };

    // The value of the option of the scenario's axis, if it is given.
    private static double? MostOf(ParseResult parse, Scenario scenario) => scenario.Axis.Option switch
    {
        "--topics" => parse.GetValue(Topics),
        "--size" => parse.GetValue(Size),
        "--rate" => parse.GetValue(Rate),
        "--replicas" => parse.GetValue(Replicas),
        "--token-rate" => parse.GetValue(TokenRate),
        "--feedback-ranges" => parse.GetValue(FeedbackRanges),
        _ => parse.GetValue(Nodes),
    };

    private static ScenarioReport RunCurve(ScenarioPoint last, IReadOnlyList<Variant> variants, double? most, FileInfo file)
    {
        ScenarioPoint[] points = [.. ScenarioSweep.PointsOf(last, most, variants)];
        int done = 0;
        var reports = new ScenarioSweep(jobs: 1).Run(
            points, _ => Terminal.Note($"{last.Scenario.Name}: {++done} of {points.Length} points"));
        double[] at = [.. points.Select(point => point.At)];
        File.WriteAllText(file.FullName, CurvePage.Html(last.Scenario, at, reports));
        File.WriteAllText(Path.ChangeExtension(file.FullName, ".csv"), CurvePage.Csv(reports));
        return reports[^1];
    }

    private static Option<TopicWeight?> CreateWeight() => new("--topic-weight")
    {
        Description = "What a topic weighs for the modelled collector: "
            + string.Join("; ", TopicWeight.All.Select(weight => $"{weight.Name}, {weight.Description}")) + ".",
        HelpName = "NAME",
        CustomParser = result =>
        {
            string name = result.Tokens[^1].Value;
            if (TopicWeight.All.FirstOrDefault(weight => weight.Name == name) is { } found)
            {
                return found;
            }

            result.AddError(
                $"--topic-weight: Unknown weight '{name}'. Valid: {string.Join(", ", TopicWeight.All.Select(weight => weight.Name))}.");
            return null;
        },
    };

    private static Option<HostModel?> CreateModel() => new("--model")
    {
        Description = "The model of the machines: "
            + string.Join("; ", HostModel.All.Select(model => $"{model.Name}, {model.Description}")) + ". By default, the scenario's.",
        HelpName = "NAME",
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
