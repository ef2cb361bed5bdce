using System.Diagnostics;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// States and requests are topics whose subscribers answer. The tool answers nothing, so it does not open them, and says what shows them.
public sealed class AnsweredTopicScenarios : IDisposable
{
    private const string Cluster = "default";
    private const int Failed = 1;

    private readonly ToolProcesses _processes = new();
    private readonly string _service;

    public AnsweredTopicScenarios() => _service = _processes.StartService(Cluster);

    [Fact]
    public void States_and_requests_are_neither_subscribed_nor_published_to_and_the_command_that_shows_them_is_named()
    {
        var node = StartAnswering();
        foreach (string command in (string[])["sub", "pub"])
        {
            var (code, _, errors) = Run(command, "stock");
            Assert.Equal(Failed, code);
            Assert.Contains("qsm: stock: this is a state, state(string, string). qsm cannot ", errors);
            Assert.Contains("'qsm topic describe stock' shows its types", errors);

            (code, _, errors) = Run(command, "work");
            Assert.Equal(Failed, code);
            Assert.Contains("qsm: work: this topic carries requests, request(string, string). qsm cannot ", errors);
            Assert.Contains("'qsm topic describe work' shows its types", errors);
        }

        var (refused, source, why) = Run("topic", "describe", "stock", "--csharp");
        Assert.Equal((Failed, ""), (refused, source));
        Assert.Contains("No source text is printed for states. Open it in a program, with OpenStateAsync.", why);
        (refused, source, why) = Run("topic", "describe", "work", "--csharp");
        Assert.Equal((Failed, ""), (refused, source));
        Assert.Contains("with OpenRequesterAsync or OpenResponderAsync.", why);
        Assert.Contains("  1  key                   string", Run("topic", "describe", "stock").Output);
        node.StandardInput.Close();
    }

    [Fact]
    public void Topics_with_the_prefix_are_printed_without_states_and_requests()
    {
        var node = StartAnswering();
        var reader = Join("sub", "s", "--prefix", "--topic", "--count", "1");
        Assert.Equal("ready", reader.StandardError.ReadLine());
        using var described = JsonDocument.Parse(Run("topic", "describe", "stock", "--json").Output);
        Assert.Equal(1, described.RootElement.GetProperty("subscribers").GetInt32());
        Do(node, "set stock apples 3", "sets stock");
        var publisher = Join("pub", "sales");
        publisher.StandardInput.Write("1\n");
        publisher.StandardInput.Close();
        Assert.Equal("sales\t1\n", reader.StandardOutput.ReadToEnd());
        Assert.True(reader.WaitForExit(ToolProcesses.Limit));
        Assert.Equal((0, ""), (reader.ExitCode, reader.StandardError.ReadToEnd()));
    }

    [Fact]
    public void Inboxes_are_listed_on_request_only_and_otherwise_counted()
    {
        StartAnswering();
        var (_, output, errors) = Run("topics", "--json");
        Assert.DoesNotContain("quicksilver/inbox/", output);
        Assert.Contains("\"topic\":\"stock\"", output);
        Assert.Contains("1 inbox topic not shown (--all).", errors);
        (_, output, errors) = Run("topics", "--json", "--all");
        Assert.Contains("\"topic\":\"quicksilver/inbox/", output);
        Assert.DoesNotContain("--all", errors);
    }

    [Fact]
    public void Inboxes_take_no_places_among_the_busiest_topics()
    {
        StartAnswering();
        var (code, output, errors) = Run("top", "--rows", "1", "--count", "1", "--json");
        Assert.True(code == 0, errors);
        using var shown = JsonDocument.Parse(output);
        Assert.Equal(1, shown.RootElement.GetProperty("topics").GetArrayLength());
    }

    public void Dispose() => _processes.Dispose();

    private Process StartAnswering()
    {
        var node = _processes.StartStreamNode(_service);
        Do(node, "hold stock", "holds stock");
        Do(node, "respond work 0", "responds work");
        Do(node, "respond search 0", "responds search");
        return node;
    }

    private static void Do(Process node, string command, string answer)
    {
        node.StandardInput.WriteLine(command);
        ToolProcesses.Await(node.StandardOutput, answer);
    }

    private (int Code, string Output, string Errors) Run(params string[] arguments) => _processes.Run(Of(arguments));

    private Process Join(params string[] arguments) => _processes.Start(Of(arguments));

    private string[] Of(string[] arguments) => [.. arguments, "--gms", _service, "--cluster", Cluster];
}
