using System.CommandLine;
using System.Globalization;
using QuickSilver.Tool.Demo;
using QuickSilver.Tool.Sessions;
using Spectre.Console;

namespace QuickSilver.Tool.Commands;

// Three nodes in one terminal, one of which is killed.
internal static class DemoCommand
{
    public const string NodeName = "demo-node";

    public const string NumberName = "--number";

    public static Command Create()
    {
        var common = new CommonOptions();
        var seconds = new Option<double>("--seconds")
        {
            Description = "How long all three nodes publish, and then the two that are left.",
            HelpName = "S",
            DefaultValueFactory = _ => 3,
        }.Within(0.2, 600);
        var rate = Rate();
        var json = new Option<bool>("--json") { Description = "Print one JSON object at the end instead of the course." };
        var command = common.AddVerbose(new Command(
            "demo",
            "Three nodes, each in a process, publish to each other over loopback. One is killed. Exits with 0 if the others have every "
            + "message of each other, once and in order.")
        {
            seconds, rate, json,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(
            session, parse.GetValue(rate), TimeSpan.FromSeconds(parse.GetValue(seconds)), parse.GetValue(json))));
        return command;
    }

    /// <summary>What the demo starts as its processes.</summary>
    public static Command CreateNode()
    {
        var common = new CommonOptions();
        var rate = Rate();
        var number = new Option<int>(NumberName) { Description = "The number of the node.", HelpName = "N" };
        var command = common.AddTo(new Command(NodeName, "A node of the demo.") { rate, number });
        command.Hidden = true;
        command.SetAction(parse => Session.RunAsync(
            parse, common, session => new DemoNode(session, parse.GetValue(number), parse.GetValue(rate)).RunAsync()));
        return command;
    }

    private static Option<double> Rate() => new Option<double>("--rate")
    {
        Description = "The messages that each node publishes a second.",
        HelpName = "MSGS",
        DefaultValueFactory = _ => 1000,
    }.Within(1, 100_000);

    private static async Task<int> RunAsync(Session session, double rate, TimeSpan phase, bool json)
    {
        var result = json ? await new DemoRun(session, rate, phase, static (_, _) => { }).RunAsync()
            : Console.IsOutputRedirected ? await RunInLinesAsync(session, rate, phase)
            : await AnsiConsole.Live(new Text("")).StartAsync(screen => new DemoRun(
                session, rate, phase, (step, nodes) => screen.UpdateTarget(DemoScreen.Of(step, nodes))).RunAsync());
        if (json)
        {
            Console.Out.WriteLine(result.ToJson());
        }
        else if (result.NothingLost)
        {
            Console.Out.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"Nothing is lost: nodes 1 and 2 have every message of each other, once and in order. ({result.Published:N0} published, "
                + $"{result.Delivered:N0} delivered, {result.Seconds:0.0} s)"));
        }
        else
        {
            Terminal.Error(result.Trouble!);
        }

        return result.NothingLost ? ExitCode.Ok : ExitCode.Failed;
    }

    private static Task<DemoResult> RunInLinesAsync(Session session, double rate, TimeSpan phase)
    {
        string last = "";
        return new DemoRun(session, rate, phase, (step, _) =>
        {
            if (step != last)
            {
                last = step;
                Console.Out.WriteLine(step + ".");
            }
        }).RunAsync();
    }
}
