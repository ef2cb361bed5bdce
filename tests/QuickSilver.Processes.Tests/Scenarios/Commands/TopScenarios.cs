using System.Net;
using System.Net.Sockets;
using System.Text.Json;
using QuickSilver.Processes.Tests.Harness;

namespace QuickSilver.Processes.Tests.Scenarios.Commands;

// A user watches a cluster of processes on the loopback interface.
public sealed class TopScenarios : IDisposable
{
    private const int Failed = 1;
    private const int Unreachable = 3;

    private readonly string _cluster = $"top {Guid.NewGuid():N}";
    private readonly ToolProcesses _processes = new();

    [Fact]
    public void The_command_shows_every_node_and_ends_after_so_many_refreshes()
    {
        string service = _processes.StartService(_cluster);
        var subscriber = _processes.Start("sub", "news", "--gms", service, "--cluster", _cluster);
        ToolProcesses.Await(subscriber.StandardError, "ready");
        var publisher = _processes.Start("pub", "news", "--gms", service, "--cluster", _cluster);
        publisher.StandardInput.WriteLine("first");
        publisher.StandardInput.Flush();
        Assert.Equal("first", subscriber.StandardOutput.ReadLine());

        var (code, output, errors) = _processes.Run(
            "top", "--gms", service, "--cluster", _cluster, "--count", "2", "--interval", "0.3", "--json");
        Assert.True(code == 0, errors);
        string[] lines = output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(2, lines.Length);
        foreach (string line in lines)
        {
            var told = JsonDocument.Parse(line).RootElement;
            Assert.Equal((_cluster, service), (told.GetProperty("cluster").GetString(), told.GetProperty("service").GetString()));
            var nodes = told.GetProperty("nodes").EnumerateArray().ToList();
            Assert.Equal(2, nodes.Count);
            Assert.All(nodes, node => Assert.Equal("reported", node.GetProperty("state").GetString()));
            Assert.All(nodes, node => Assert.True(node.GetProperty("spanSeconds").GetDouble() > 0));
            var topic = told.GetProperty("topics").EnumerateArray().Single(one => one.GetProperty("topic").GetString() == "news");
            Assert.Equal((1, 2), (topic.GetProperty("subscribers").GetInt32(), topic.GetProperty("nodes").GetInt32()));
        }

        var (plain, text, _) = _processes.Run("top", "--gms", service, "--cluster", _cluster, "--count", "1");
        Assert.Equal(0, plain);
        Assert.StartsWith($"cluster {_cluster}  service {service} ", text);
        Assert.DoesNotContain('\u001b', text);
    }

    [Fact]
    public void A_service_of_another_cluster_refuses()
    {
        var (code, _, errors) = _processes.Run("top", "--gms", _processes.StartService(_cluster), "--cluster", "other", "--count", "1");
        Assert.Equal(Failed, code);
        Assert.Contains($"This membership service serves the cluster '{_cluster}', but 'other' was asked for.", errors);
    }

    [Fact]
    public void A_service_that_is_not_there_is_unreachable()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        string free = taken.LocalEndpoint.ToString()!;
        taken.Stop();
        var (code, _, errors) = _processes.Run("top", "--gms", free, "--count", "1");
        Assert.Equal(Unreachable, code);
        Assert.Contains($"Cannot connect to a membership service at {free}", errors);
    }

    [Fact]
    public async Task A_server_that_is_no_membership_service_is_named_as_that()
    {
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();
        var accepting = CloseNextAsync(other);
        var (code, _, errors) = _processes.Run("top", "--gms", other.LocalEndpoint.ToString()!, "--count", "1");
        Assert.Equal(Unreachable, code);
        Assert.Contains("It is no membership service of QuickSilver", errors);
        await accepting.WaitAsync(ToolProcesses.Limit);
    }

    public void Dispose() => _processes.Dispose();

    private static async Task CloseNextAsync(TcpListener listener) => (await listener.AcceptTcpClientAsync()).Close();
}
