using System.Diagnostics;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// Tools that only watch delay no sender, whatever happens to their output.
public sealed class LookScenarios : IDisposable
{
    private const int Failed = 1;
    // More than a reader's buffer and a pipe keep together.
    private const int Lines = 120_000;
    private static readonly string Padding = new('x', 60);

    private readonly ToolProcesses _processes = new();
    private readonly string _cluster = $"look-{Guid.NewGuid():N}";
    private readonly string _service;

    public LookScenarios() => _service = _processes.StartService(_cluster);

    [Theory]
    [InlineData("prices")]
    [InlineData("price", "--prefix")]
    public async Task A_pager_that_stands_still_holds_up_neither_the_publisher_nor_the_other_subscribers(params string[] watched)
    {
        var worker = Join("sub", "prices", "--wait", "--count", $"{Lines}");
        ToolProcesses.Await(worker.StandardError, "ready");
        var worked = worker.StandardOutput.ReadToEndAsync();
        // Nothing reads what it writes.
        var pager = Join(["sub", .. watched]);
        ToolProcesses.Await(pager.StandardError, "ready");

        var publisher = Join("pub", "prices", "--receivers", "2");
        for (int i = 0; i < Lines; i++)
        {
            publisher.StandardInput.Write($"price {i} {Padding}\n");
        }

        publisher.StandardInput.Close();
        Assert.True(publisher.WaitForExit(ToolProcesses.Limit), "The publisher waits for the pager.");
        Assert.Equal(0, publisher.ExitCode);
        string[] lines = (await worked.WaitAsync(ToolProcesses.Limit)).Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(Enumerable.Range(0, Lines).Select(static i => $"price {i} {Padding}"), lines);

        // It says so while nothing reads, and ends all the same.
        ToolProcesses.AwaitDropped(pager.StandardError);
        using var signal = Process.Start("kill", ["-INT", $"{pager.Id}"]);
        Assert.True(pager.WaitForExit(ToolProcesses.Limit), "The pager does not end.");
        Assert.Equal(Failed, pager.ExitCode);
        Assert.Contains("messages were dropped in all", await pager.StandardError.ReadToEndAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public void All_published_topics_whose_names_begin_so_are_printed_also_those_that_come_later()
    {
        var reader = Join("sub", "prices/", "--prefix", "--topic", "--count", "2");
        ToolProcesses.Await(reader.StandardError, "ready");
        foreach (string topic in (string[])["prices/eur", "other", "prices/usd"])
        {
            string[] receivers = topic == "other" ? ["--no-wait"] : ["--receivers", "1"];
            var publisher = Join(["pub", topic, .. receivers]);
            publisher.StandardInput.Write($"{topic} 1\n");
            publisher.StandardInput.Close();
            Assert.True(publisher.WaitForExit(ToolProcesses.Limit), "The publisher does not end.");
        }

        string[] lines = reader.StandardOutput.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(["prices/eur\tprices/eur 1", "prices/usd\tprices/usd 1"], lines.Order());
        Assert.True(reader.WaitForExit(ToolProcesses.Limit));
        Assert.Equal(0, reader.ExitCode);
    }

    [Fact]
    public async Task Of_the_answers_of_several_echoes_one_counts_and_sets_off_the_next_message()
    {
        for (int i = 0; i < 2; i++)
        {
            ToolProcesses.Await(Join("perf", "echo", "t").StandardError, "ready");
        }

        var ping = Join("perf", "ping", "t", "--seconds", "1", "--json");
        var errors = ping.StandardError.ReadToEndAsync();
        using var report = JsonDocument.Parse(await ping.StandardOutput.ReadToEndAsync());
        Assert.True(ping.WaitForExit(ToolProcesses.Limit), "The chain of messages does not end.");
        long sent = report.RootElement.GetProperty("sent").GetInt64();
        Assert.Equal(sent, report.RootElement.GetProperty("count").GetInt64());
        Assert.Contains("several 'perf echo' of 't' are running", await errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_shell_gets_the_topics_and_the_nodes_of_the_cluster_that_the_line_names()
    {
        ToolProcesses.Await(Join("sub", "prices/eur", "prices/$(usd)").StandardError, "ready");
        Assert.Contains("prices/eur", Suggestions($"qsm sub --gms {_service} --cluster {_cluster} pri"));
        Assert.DoesNotContain("prices/$(usd)", Suggestions($"qsm sub --gms {_service} --cluster {_cluster} pri"));
        Assert.Contains($"qsm-sub@{Environment.MachineName}", Suggestions($"qsm nodes --gms {_service} --cluster {_cluster} --filter qs"));
    }

    [Fact]
    public void A_wrong_secret_is_reported_at_once_and_not_when_the_time_to_join_is_over()
    {
        var folder = Directory.CreateTempSubdirectory("qs-look-");
        try
        {
            string Secret(string name)
            {
                string path = Path.Combine(folder.FullName, name);
                Assert.Equal(0, _processes.Run("keys", "secret", "--out", path).Code);
                return path;
            }

            var server = _processes.Start("gms", "--listen", "127.0.0.1:0", "--cluster", _cluster, "--security", Secret("right"));
            string service = ToolProcesses.Await(server.StandardError, "listening ")["listening ".Length..];
            var (code, _, errors) = _processes.Run("sub", "t", "--gms", service, "--cluster", _cluster, "--security", Secret("wrong"));
            Assert.Equal(3, code);
            Assert.Contains("The node cannot join: ", errors, StringComparison.Ordinal);
            Assert.DoesNotContain("Timed out", errors, StringComparison.Ordinal);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    public void Dispose() => _processes.Dispose();

    private string[] Suggestions(string line) =>
        _processes.Run($"[suggest:{line.Length}]", line).Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);

    private Process Join(params string[] arguments) => _processes.Start([.. arguments, "--gms", _service, "--cluster", _cluster]);
}
