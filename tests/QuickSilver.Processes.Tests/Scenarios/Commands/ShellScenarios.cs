using System.Diagnostics;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// A user watches a cluster of processes from a shell, on the loopback interface.
public sealed class ShellScenarios : IDisposable
{
    private const int Failed = 1;
    private const int Interrupted = 130;
    private const string Kill = "/bin/kill";

    private readonly string _cluster = $"shell {Guid.NewGuid():N}";
    private readonly ToolProcesses _processes = new();
    private readonly string _service;

    public ShellScenarios() => _service = _processes.StartService(_cluster);

    [Fact]
    public void Topics_and_nodes_are_listed_for_people_and_for_scripts()
    {
        ToolProcesses.Await(Join("perf", "receive", "typed", "--typed-text").StandardError, "ready");
        ToolProcesses.Await(Join("sub", "raw").StandardError, "ready");
        var (code, output, _) = Run("topics", "--json");
        Assert.Equal(0, code);
        var topics = Objects(output).ToDictionary(static topic => topic.GetProperty("topic").GetString()!);
        Assert.Equal(["raw", "typed", "typed/ready"], topics.Keys);
        var typed = topics["typed"];
        Assert.Equal(
            ("QuickSilver.Tool.Perf.Payloads.TextDeparture", "message", "Reliable", 1),
            (Text(typed, "type"), Text(typed, "kind"), Text(typed, "guarantee"), Number(typed, "subscribers")));

        var (_, table, _) = Run("topics", "--filter", "departure");
        string[] lines = table.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(2, lines.Length);
        Assert.StartsWith("topic  type ", lines[0]);
        Assert.StartsWith("typed  QuickSilver.Tool.Perf.Payloads.TextDeparture  Reliable ", lines[1]);

        var nodes = Objects(Run("nodes", "--json").Output);
        Assert.Equal(2, nodes.Count);
        Assert.All(nodes, static node => Assert.Equal("up", Text(node, "state")));
        Assert.All(nodes, static node => Assert.Equal("qsm", Text(node, "process")));
        Assert.All(nodes, static node => Assert.Equal(Environment.MachineName, Text(node, "machine")));
        Assert.Equal(
            [$"qsm-perf-receive@{Environment.MachineName}", $"qsm-sub@{Environment.MachineName}"],
            nodes.Select(static node => Text(node, "name")).Order());
        Assert.Contains(Text(nodes[0], "address"), Run("nodes").Output);
    }

    [Fact]
    public void A_topic_is_described_for_people_and_for_scripts_and_one_that_is_not_open_is_named()
    {
        ToolProcesses.Await(Join("perf", "receive", "typed", "--typed-text").StandardError, "ready");
        var (code, output, _) = Run("topic", "describe", "typed", "--json");
        Assert.Equal(0, code);
        var version = Assert.Single(Assert.Single(Objects(output)).GetProperty("versions").EnumerateArray());
        var first = version.GetProperty("fields")[0];
        Assert.Equal((1, "Number", "int64"), (Number(first, "number"), Text(first, "name"), Text(first, "type")));
        Assert.Contains("  1  Number                int64", Run("topic", "describe", "typed").Output);

        string id = version.GetProperty("nodeIds")[0].GetString()!;
        string name = $"qsm-perf-receive@{Environment.MachineName}";
        Assert.Equal(name, version.GetProperty("nodeNames")[0].GetString());
        Assert.Contains($"1 node: {name} ({id})", Run("topic", "describe", "typed").Output);

        var (missing, _, errors) = Run("topic", "describe", "typde");
        Assert.Equal(Failed, missing);
        Assert.Contains($"No node of cluster '{_cluster}' has the topic 'typde' open. Did you mean 'typed'?", errors);
    }

    [Fact]
    public void Groups_and_their_members_are_listed_for_people_and_for_scripts()
    {
        ToolProcesses.Await(Join("group", "join", "orders").StandardError, "ready");
        ToolProcesses.Await(Join("group", "join", "orders").StandardError, "ready");
        ToolProcesses.Await(Join("sub", "raw").StandardError, "ready");
        var listed = Assert.Single(Objects(Run("group", "list", "--json").Output));
        Assert.Equal(("orders", "messages", 2), (Text(listed, "group"), Text(listed, "keeps"), Number(listed, "members")));
        string[] lines = Run("group", "list").Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(2, lines.Length);
        Assert.StartsWith("orders  ", lines[1], StringComparison.Ordinal);

        var described = Assert.Single(Objects(Run("group", "describe", "orders", "--json").Output));
        string name = $"qsm-group-join@{Environment.MachineName}";
        string[] ids = [.. described.GetProperty("nodes").EnumerateArray().Select(static node => Text(node, "node")!)];
        Assert.Equal(2, ids.Distinct().Count());
        string text = Run("group", "describe", "orders").Output;
        Assert.All(ids, id => Assert.Contains($"{name} ({id})", text));

        var (topic, _, why) = Run("group", "describe", "raw");
        Assert.Equal(Failed, topic);
        Assert.Contains("raw: this topic is no group. 'qsm topic describe raw' shows it.", why);
        var (missing, _, errors) = Run("group", "describe", "order");
        Assert.Equal(Failed, missing);
        Assert.Contains($"No node of cluster '{_cluster}' is in the group 'order'. Did you mean 'orders'?", errors);
    }

    [Fact]
    public void Source_text_says_which_version_of_the_contract_it_is_and_another_one_can_be_chosen()
    {
        ToolProcesses.Await(Join("perf", "receive", "typed", "--typed-text").StandardError, "ready");
        Assert.StartsWith("using ", Run("topic", "describe", "typed", "--csharp").Output);
        ToolProcesses.Await(Join("sub", "typed").StandardError, "ready");
        foreach (string language in (string[])["--csharp", "--proto"])
        {
            var (code, output, _) = Run("topic", "describe", "typed", language);
            Assert.Equal(0, code);
            Assert.StartsWith("// Version 1 of 2 of the contract, 1 node. ", output);
            Assert.Equal(output, Run("topic", "describe", "typed", language, "--contract", "1").Output);
            var (refused, _, why) = Run("topic", "describe", "typed", language, "--contract", "2");
            Assert.Equal(Failed, refused);
            Assert.Contains("--contract 2: it takes any payload, so it has no type.", why);
            Assert.Contains("has 2 versions.", Run("topic", "describe", "typed", language, "--contract", "3").Errors);
        }

        string list = Run("topic", "describe", "typed").Output;
        Assert.Contains("\n1: QuickSilver.Tool.Perf.Payloads.TextDeparture (message), 1 node", list);
        Assert.Contains("\n2: any payload (takes any payload), 1 node", list);
    }

    [Fact]
    public void A_publisher_that_is_interrupted_says_that_a_subscriber_who_stands_still_has_not_acknowledged()
    {
        Assert.SkipUnless(File.Exists(Kill), "the command `kill` is missing");
        var subscriber = Join("sub", "raw");
        var witness = Join("sub", "raw");
        ToolProcesses.Await(subscriber.StandardError, "ready");
        ToolProcesses.Await(witness.StandardError, "ready");
        var publisher = Join("pub", "raw", "--receivers", "2");
        publisher.StandardInput.Write("before\n");
        publisher.StandardInput.Flush();
        Assert.Equal("before", subscriber.StandardOutput.ReadLine());

        Signal("-STOP", subscriber);
        try
        {
            publisher.StandardInput.Write("after\n");
            publisher.StandardInput.Flush();
            // So that the line is sent before the signal.
            ToolProcesses.Await(witness.StandardOutput, "after");
            Signal("-INT", publisher);
            string errors = publisher.StandardError.ReadToEnd();
            Assert.True(publisher.WaitForExit(ToolProcesses.Limit));
            Assert.Equal(Interrupted, publisher.ExitCode);
            Assert.Contains("qsm: 2 messages, interrupted; not all members have acknowledged all of them", errors);
        }
        finally
        {
            Signal("-CONT", subscriber);
        }
    }

    // The page of the tool says which these are.
    [Theory]
    [InlineData("-TERM")]
    [InlineData("-INT")]
    public void A_signal_is_the_proper_end_of_what_runs_until_one_and_interrupts_the_others(string signal)
    {
        Assert.SkipUnless(File.Exists(Kill), "the command `kill` is missing");
        var server = _processes.Start("gms", "--listen", "127.0.0.1:0", "--cluster", _cluster);
        ToolProcesses.Await(server.StandardError, "listening ");
        var subscriber = Join("sub", "raw", "--count", "5");
        ToolProcesses.Await(subscriber.StandardError, "ready");
        var watcher = Join("top", "--interval", "0.2");
        Assert.NotNull(watcher.StandardOutput.ReadLine());
        var publisher = Join("pub", "raw");
        publisher.StandardInput.Write("hello\n");
        publisher.StandardInput.Flush();
        Assert.Equal("hello", subscriber.StandardOutput.ReadLine());

        Assert.Equal(Interrupted, EndBy(signal, publisher));
        Assert.Equal((0, 0, 0), (EndBy(signal, subscriber), EndBy(signal, watcher), EndBy(signal, server)));
    }

    [Fact]
    public void Columns_before_a_message_are_separated_by_tabs_in_one_order()
    {
        var subscriber = Join("sub", "raw", "--sender", "--topic", "--since-start", "--time", "--count", "1");
        ToolProcesses.Await(subscriber.StandardError, "ready");
        var publisher = Join("pub", "raw");
        publisher.StandardInput.Write("hello\n");
        publisher.StandardInput.Close();
        string[] columns = subscriber.StandardOutput.ReadLine()!.Split('\t');
        Assert.Equal(5, columns.Length);
        Assert.True(DateTimeOffset.TryParse(columns[0], out _));
        Assert.Matches("^[0-9]+\\.[0-9]{6}$", columns[1]);
        Assert.Equal("raw", columns[2]);
        Assert.Matches("^qsm-pub@\\S+ \\([0-9a-f]{16}\\.[0-9]+\\)$", columns[3]);
        Assert.Equal("hello", columns[4]);
        Assert.True(subscriber.WaitForExit(ToolProcesses.Limit));
        Assert.Equal(0, subscriber.ExitCode);
    }

    [Fact]
    public void Assumptions_about_a_topic_that_no_node_has_open_are_named_and_an_open_one_has_its_own_guarantee()
    {
        string assumption = Assert.Single(Assumptions(Join("sub", "unknown")));
        Assert.StartsWith("No node has the topic 'unknown' open. It is assumed to be Reliable: ", assumption);
        Assert.Empty(Assumptions(Join("sub", "ticks", "--guarantee", "BestEffort")));
        Assert.Empty(Assumptions(Join("sub", "ticks")));
        var guarantees = Objects(Run("topics", "--json").Output)
            .ToDictionary(static topic => Text(topic, "topic"), static topic => Text(topic, "guarantee"));
        Assert.Equal(("Reliable", "BestEffort"), (guarantees["unknown"], guarantees["ticks"]));
    }

    [Fact]
    public void A_command_whose_output_has_no_reader_any_more_ends_quietly_with_success()
    {
        var watched = Join("top", "--interval", "0.2");
        Assert.NotNull(watched.StandardOutput.ReadLine());
        watched.StandardOutput.Close();
        EndsQuietly(watched);

        var subscriber = Join("sub", "raw");
        ToolProcesses.Await(subscriber.StandardError, "ready");
        subscriber.StandardOutput.Close();
        var publisher = Join("pub", "raw");
        publisher.StandardInput.Write("hello\n");
        publisher.StandardInput.Close();
        EndsQuietly(subscriber);
    }

    // What it says of a guarantee before it is ready. On a busy machine a node may also log that its thread had to wait.
    private static List<string> Assumptions(Process subscriber)
    {
        var said = new List<string>();
        for (string? line = ""; line != "ready"; line = subscriber.StandardError.ReadLine())
        {
            Assert.NotNull(line);
            said.Add(line);
        }

        return said.FindAll(static line => line.Contains("is assumed", StringComparison.Ordinal));
    }

    private static void Signal(string signal, Process process)
    {
        using var kill = Process.Start(Kill, [signal, $"{process.Id}"]);
        kill.WaitForExit();
    }

    private static int EndBy(string signal, Process process)
    {
        Signal(signal, process);
        Assert.True(process.WaitForExit(ToolProcesses.Limit), "The command did not end.");
        return process.ExitCode;
    }

    private static void EndsQuietly(Process process)
    {
        Assert.True(process.WaitForExit(ToolProcesses.Limit), "The command did not end.");
        Assert.Equal(0, process.ExitCode);
        // On a busy machine a node may log that its thread had to wait.
        Assert.DoesNotContain("qsm:", process.StandardError.ReadToEnd());
    }

    public void Dispose() => _processes.Dispose();

    private static List<JsonElement> Objects(string lines) =>
        [.. lines.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => JsonDocument.Parse(line).RootElement)];

    private static string Text(JsonElement of, string name) => of.GetProperty(name).GetString()!;

    private static int Number(JsonElement of, string name) => of.GetProperty(name).GetInt32();

    private (int Code, string Output, string Errors) Run(params string[] arguments) => _processes.Run(InCluster(arguments));

    private Process Join(params string[] arguments) => _processes.Start(InCluster(arguments));

    private string[] InCluster(string[] arguments) => [.. arguments, "--gms", _service, "--cluster", _cluster];
}
