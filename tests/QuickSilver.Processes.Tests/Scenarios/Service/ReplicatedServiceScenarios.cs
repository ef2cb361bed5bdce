using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Service;

// Several servers of one membership service over a real etcd: one leads, another takes over, and the data path does not notice. I1, I7, I9.
public sealed class ReplicatedServiceScenarios : IDisposable
{
    private const int Messages = 100_000;
    private const int MessagesPerSecond = 4_000;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly ToolProcesses _tools = new();
    private readonly string _cluster = $"etcd-{Guid.NewGuid():N}";

    public void Dispose() => _tools.Dispose();

    [Fact]
    public void When_leaders_are_killed_another_server_leads_and_nothing_is_lost()
    {
        EtcdServer.SkipIfMissing();
        using var etcd = new EtcdServer();
        var servers = Enumerable.Range(0, 3).Select(_ => new Server(_tools, _cluster, etcd)).ToList();
        var leader = LeaderOf(servers);
        string all = string.Join(',', servers.Select(static server => server.Address));
        var receivers = Enumerable.Range(0, 2).Select(_ => Start(all, "perf", "receive", "t", "--json")).ToList();
        receivers.ForEach(static receiver => ToolProcesses.Await(receiver.StandardError, "ready"));
        var sender = Start(
            all, "perf", "send", "t", "--receivers", "2", "--warm-up", "0", "--size", "100", "--json",
            "--count", Messages.ToString(CultureInfo.InvariantCulture),
            "--rate", MessagesPerSecond.ToString(CultureInfo.InvariantCulture));
        for (int i = 0; i < 2; i++)
        {
            AwaitAllTold(leader, nodes: 3, topics: 2);
            leader.Process.Kill();
            servers.Remove(leader);
            leader = LeaderOf(servers);
        }

        Assert.Equal(0, Report(sender, "gaps", 0));
        foreach (var receiver in receivers)
        {
            Assert.Equal(Messages, Report(receiver, "delivered", -1));
        }

        // A node that comes now gets the answer of the one remaining server.
        var (code, output, errors) = _tools.Run("nodes", "--gms", servers[0].Address, "--cluster", _cluster, "--json");
        Assert.True(code == 0, output + errors);
    }

    [Fact]
    public void While_etcd_is_away_data_flows_on_and_afterwards_a_server_leads_again()
    {
        EtcdServer.SkipIfMissing();
        using var etcd = new EtcdServer();
        List<Server> servers = [new(_tools, _cluster, etcd), new(_tools, _cluster, etcd)];
        LeaderOf(servers);
        string all = string.Join(',', servers.Select(static server => server.Address));
        var receiver = Start(all, "perf", "receive", "t", "--json");
        ToolProcesses.Await(receiver.StandardError, "ready");
        var sender = Start(
            all, "perf", "send", "t", "--warm-up", "0", "--size", "100", "--json",
            "--count", Messages.ToString(CultureInfo.InvariantCulture),
            "--rate", MessagesPerSecond.ToString(CultureInfo.InvariantCulture));
        etcd.Kill();
        var deposed = () => servers.Exists(static server => server.TryTake("does not lead any more"));
        Assert.True(SpinWait.SpinUntil(deposed, Limit));
        etcd.Restart();
        LeaderOf(servers);
        Assert.Equal(0, Report(sender, "gaps", 0));
        Assert.Equal(Messages, Report(receiver, "delivered", -1));
    }

    [Fact]
    public void A_server_that_stood_still_does_not_lead_when_it_continues()
    {
        EtcdServer.SkipIfMissing();
        using var etcd = new EtcdServer();
        List<Server> servers = [new(_tools, _cluster, etcd), new(_tools, _cluster, etcd)];
        var first = LeaderOf(servers);
        Signal(first.Process, "STOP");
        var second = LeaderOf([.. servers.Where(server => server != first)]);
        Signal(first.Process, "CONT");
        first.Await("does not lead any more");
        first.Await($"The server at {second.Address} leads");
    }

    // Nodes that got the last configuration and nodes that did not do not continue with each other. What the question for a node's
    // signs follows, the node has when it answers: so the second answer after the last topic was opened is one of nodes that got it.
    private void AwaitAllTold(Server leader, int nodes, int topics)
    {
        int told = 0;
        string seen = "";
        Assert.True(SpinWait.SpinUntil(
            () =>
            {
                seen = _tools.Run("nodes", "--gms", leader.Address, "--cluster", _cluster, "--json").Output;
                var rows = seen.Split('\n', StringSplitOptions.RemoveEmptyEntries)
                    .Select(static row => JsonDocument.Parse(row).RootElement);
                bool isWhole = rows.Count(row => row.GetProperty("state").GetString() == "up"
                    && row.TryGetProperty("topics", out var open) && open.GetInt32() == topics) == nodes;
                told = isWhole ? told + 1 : 0;
                return told == 2;
            },
            Limit), seen);
    }

    private static void Signal(Process process, string signal)
    {
        using var kill = Process.Start("kill", [$"-{signal}", process.Id.ToString(CultureInfo.InvariantCulture)]);
        kill.WaitForExit();
    }

    private static Server LeaderOf(List<Server> servers)
    {
        Server? leader = null;
        return SpinWait.SpinUntil(
            () => (leader = servers.Find(static server => server.TryTake("This server leads"))) is not null, Limit)
            ? leader!
            : throw new InvalidOperationException("No server leads.\n" + string.Join('\n', servers.Select(static one => one.Text)));
    }

    private static long Report(Process process, string field, long absent)
    {
        string output = process.StandardOutput.ReadToEnd();
        Assert.True(process.WaitForExit(Limit) && process.ExitCode == 0, $"{output}{process.StandardError.ReadToEnd()}");
        return JsonDocument.Parse(output).RootElement.TryGetProperty(field, out var value) ? value.GetInt64() : absent;
    }

    private Process Start(string servers, params string[] arguments) =>
        _tools.Start([.. arguments, "--gms", servers, "--cluster", _cluster]);

    // `qsm gms` with its log, of which each line is looked at once.
    private sealed class Server
    {
        private readonly ConcurrentQueue<string> _lines = new();
        private readonly List<string> _unread = [];

        public Server(ToolProcesses tools, string cluster, EtcdServer etcd)
        {
            Process = tools.Start("gms", "--listen", "127.0.0.1:0", "--cluster", cluster, "--etcd", etcd.Address.ToString(), "--verbose");
            Address = ToolProcesses.Await(Process.StandardError, "listening ")["listening ".Length..];
            _ = Task.Run(ReadAsync);
        }

        public Process Process { get; }

        public string Address { get; }

        public string Text => string.Join('\n', _unread.Concat(_lines));

        /// <summary>Whether a line that was not taken yet contains this; it and those before it are taken then.</summary>
        public bool TryTake(string text)
        {
            while (_lines.TryDequeue(out string? line))
            {
                _unread.Add(line);
            }

            int found = _unread.FindIndex(line => line.Contains(text, StringComparison.Ordinal));
            if (found >= 0)
            {
                _unread.RemoveRange(0, found + 1);
            }

            return found >= 0;
        }

        /// <summary>Waits for such a line.</summary>
        public void Await(string text) =>
            Assert.True(SpinWait.SpinUntil(() => TryTake(text), Limit), $"'{text}' was not said.\n{Text}");

        private async Task ReadAsync()
        {
            while (await Process.StandardError.ReadLineAsync() is { } line)
            {
                _lines.Enqueue(line);
            }
        }
    }
}
