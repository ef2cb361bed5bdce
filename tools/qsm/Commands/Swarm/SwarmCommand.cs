using System.CommandLine;
using QuickSilver.Tool.Commands.Perf;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Swarm;
using QuickSilver.Tool.Swarm.Records;

namespace QuickSilver.Tool.Commands.Swarm;

// Many nodes in one process, each with ports and a thread of its own, on real sockets: what a cluster of many does, on one
// machine. Several such processes make up a larger swarm.
internal static class SwarmCommand
{
    // Many nodes share a machine's memory: what one asks for is what a swarm's modest rates need.
    private const long BufferBytes = 32L << 20;
    private const int ReceiveBufferBytes = 1 << 20;

    private static readonly TimeSpan StartTimeout = TimeSpan.FromMinutes(1);

    public static Command Create()
    {
        var common = new CommonOptions();
        var nodes = Count("--nodes", "The number of nodes in this process.", "N", 10, 1, 1000);
        var total = new Option<int?>("--of")
        {
            Description = "The number of nodes in all processes of the swarm. By default, those of this process.",
            HelpName = "N",
        }.Within(1, 100_000);
        var first = Count("--first", "The zero-based index of this process's first node in the swarm.", "I", 0, 0, 99_999);
        var topics = Count("--topics", "The number of topics in the swarm.", "T", 10, 1, 65_536);
        var each = Count("--each", "The topics per node, chosen by the seed. It publishes and subscribes to each.", "K", 2, 1, 65_536);
        var rate = new Option<double>("--rate")
        {
            Description = "Messages per second that each node publishes to its topics in turn.",
            HelpName = "MSGS",
            DefaultValueFactory = _ => 10,
        }.Within(0.1, 1e6);
        var seconds = PerfCommand.Seconds();
        var size = PerfCommand.Size(100);
        var seed = Count("--seed", "The seed that chooses the topics of each node. Use the same for all processes.", "S", 1, 0, 1_000_000);
        var limit = new Option<double>("--limit")
        {
            Description = "Fail if the other processes are not ready, or nothing arrives, for this time.",
            HelpName = "S",
            DefaultValueFactory = _ => 60,
        }.Within(1, 86_400);
        var records = new Option<string?>("--records")
        {
            Description = "A file to record what each node published, received and was notified of, for 'qsm swarm check'.",
            HelpName = "FILE",
        };
        var json = PerfCommand.Json();
        var command = common.AddTo(new Command(
            "swarm", "Run many nodes in one process that publish and subscribe. Writes 'ready' to standard error when all nodes are ready.")
        {
            nodes, total, first, topics, each, rate, seconds, size, seed, limit, records, json, SwarmCheckCommand.Create(),
        });
        command.Validators.Add(result =>
        {
            int last = result.GetValue(first) + result.GetValue(nodes);
            if (result.GetValue(total) is { } all && last > all)
            {
                result.AddError($"--of: '{all}' is less than the sum of --first and --nodes, {last}.");
            }
        });
        command.SetAction(parse =>
        {
            var plan = new SwarmPlan
            {
                Nodes = parse.GetValue(nodes),
                First = parse.GetValue(first),
                Total = parse.GetValue(total) ?? parse.GetValue(first) + parse.GetValue(nodes),
                Topics = parse.GetValue(topics),
                TopicsPerNode = parse.GetValue(each),
                Rate = parse.GetValue(rate),
                Seconds = parse.GetValue(seconds),
                PayloadBytes = parse.GetValue(size),
                Seed = parse.GetValue(seed),
                Limit = TimeSpan.FromSeconds(parse.GetValue(limit)),
            };
            return Session.RunAsync(parse, common, session => RunAsync(session, plan, parse.GetValue(records), parse.GetValue(json)));
        });
        return command;
    }

    private static async Task<int> RunAsync(Session session, SwarmPlan plan, string? path, bool json)
    {
        session.Options.Limits.BufferBytes = BufferBytes;
        session.Options.Limits.ReceiveBufferBytes = ReceiveBufferBytes;
        session.Options.StartTimeout = StartTimeout;
        using var records = path is null ? null : new RecordFile(path, plan.Total);
        await using var run = new SwarmRun(session, plan, records);
        var report = await run.RunAsync();
        report.Print(json);
        return report.Holds ? ExitCode.Ok : ExitCode.Failed;
    }

    private static Option<int> Count(string name, string description, string helpName, int otherwise, int least, int most) =>
        new Option<int>(name) { Description = description, HelpName = helpName, DefaultValueFactory = _ => otherwise }.Within(least, most);
}
