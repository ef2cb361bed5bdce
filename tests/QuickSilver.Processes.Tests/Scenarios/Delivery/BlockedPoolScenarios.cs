using System.Net;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Delivery;

// With a secret, a program whose code blocks the whole thread pool stays what it was: a member, a host whose neighbours continue and take
// others in, and a node that changes its secret.
public sealed class BlockedPoolScenarios : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qs-pool-");
    private readonly ToolProcesses _tools = new();

    public void Dispose()
    {
        _tools.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void A_member_whose_pool_is_blocked_stays_a_member()
    {
        string secret = NewSecret();
        using var cluster = new QsmCluster(3, secretFileOf: _ => Write("c.secret", secret));
        var node = Start(cluster, 2, cluster.Service, "c.secret");
        node.Feed("block\n");
        WaitUntilBlockedForLong(node);
        AssertAlwaysReady(node);
        Assert.Empty(cluster.Removals);
        node.WaitForOutput(static o => o.Text().Contains("state Running True ThreadPoolStarved", StringComparison.Ordinal), "the reason");
        node.WaitForErrors(static e => e.Text().Contains("started no work", StringComparison.Ordinal), "the line of the log");
        node.Feed("free\n");
        node.WaitForErrors(static e => e.Text().Contains("works again", StringComparison.Ordinal), "the end of it");
    }

    // The pool is blocked first, so that whatever needs it to name the handler, or to end its endpoint, comes to nothing.
    [Fact]
    public void A_handler_that_blocks_the_core_thread_is_named_while_the_pool_is_blocked()
    {
        string secret = NewSecret();
        using var cluster = new QsmCluster(2, secretFileOf: _ => Write("c.secret", secret));
        var node = Start(cluster, 2, cluster.Service, "c.secret");
        node.Feed("block\n");
        node.WaitForErrors(static e => e.Text().Contains("started no work", StringComparison.Ordinal), "the blocked pool");
        node.Feed("handle\n");
        node.WaitForErrors(static e => e.Text().Contains("of topic \"handled\"", StringComparison.Ordinal), "the handler in the log");
        node.WaitForOutput(static o => o.Text().Contains("HandlerBlocks", StringComparison.Ordinal), "the handler in the status");
        Assert.Empty(cluster.Removals);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_node_starts_in_a_process_whose_pool_is_blocked(bool isSecured)
    {
        string secret = NewSecret();
        using var cluster = new QsmCluster(3, secretFileOf: isSecured ? _ => Write("c.secret", secret) : null);
        string on = cluster.Network.Address(2).ToString();
        string security = isSecured ? Path.Combine(_folder.FullName, "c.secret") : "none";
        var node = cluster.StartProgram(Programs.ChurnNode, 2, "start-blocked", cluster.Service, on, security);
        QsmCluster.WaitUntilReady(node);
        node.WaitForOutput(static o => o.Text().Contains("state Running True", StringComparison.Ordinal), "its state");
        node.WaitForOutput(static o => o.Text().Contains("ThreadPoolStarved", StringComparison.Ordinal), "the reason");
    }

    [Fact]
    public void A_start_that_no_service_answers_ends_in_a_process_whose_pool_is_blocked()
    {
        using var cluster = new QsmCluster(2);
        var none = new IPEndPoint(cluster.Network.Address(1), QsmCluster.ServicePort + 1).ToString();
        string on = cluster.Network.Address(2).ToString();
        var node = cluster.StartProgram(Programs.ChurnNode, 2, "start-blocked", none, on, "none");
        Assert.Equal(3, node.WaitForExit());
        Assert.Contains("Timed out after 00:00:10 joining", node.Errors.Text(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_host_whose_pool_is_blocked_keeps_its_neighbours_and_takes_new_programs()
    {
        string secret = NewSecret();
        using var cluster = new QsmCluster(4, secretFileOf: _ => Write("c.secret", secret));
        var host = Start(cluster, 2, "none", "c.secret");
        var neighbour = Start(cluster, 3, "none", "c.secret");
        host.Feed("block\n");
        WaitUntilBlockedForLong(host);
        var late = Start(cluster, 4, "none", "c.secret");
        AssertAlwaysReady(host, neighbour, late);
        Assert.DoesNotContain("is removed:", host.Errors.Text(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_node_whose_pool_is_blocked_comes_back_with_the_secret_that_has_taken_the_place_of_its_own()
    {
        string old = NewSecret();
        string next = NewSecret();
        using var cluster = new QsmCluster(3, service: ["--verbose"], secretFileOf: node => Write($"{node}.secret", old));
        var node = Start(cluster, 2, cluster.Service, "2.secret");
        node.Feed("block\n");
        Write("1.secret", next + old);
        Write("2.secret", next);
        // The service looks at its files while sessions are open, and ends those of a secret that it has no more.
        cluster.ServiceProcess.WaitForErrors(static e => e.Text().Contains("were read again", StringComparison.Ordinal), "both secrets");
        Write("1.secret", next);
        node.WaitForErrors(static e => e.Text().Split("Connected to the membership service at ").Length > 2, "the second session");
        WaitUntilBlockedForLong(node);
        Assert.Empty(cluster.Removals);
        Assert.False(node.HasExited);
    }

    private static void WaitUntilBlockedForLong(NodeProcess node) =>
        node.WaitForOutput(static o => o.Lines().Contains("blocked for long"), "a time longer than the limit of heartbeats");

    private static void AssertAlwaysReady(params NodeProcess[] nodes)
    {
        foreach (var node in nodes)
        {
            Assert.False(node.HasExited, node.Report());
            string[] states = Array.FindAll(node.Output.Lines(), static line => line.StartsWith("state ", StringComparison.Ordinal));
            Assert.All(states, static line => Assert.StartsWith("state Running True", line));
        }
    }

    private NodeProcess Start(QsmCluster cluster, int node, string service, string secret)
    {
        string on = cluster.Network.Address(node).ToString();
        var process = cluster.StartProgram(Programs.ChurnNode, node, "block", service, on, Path.Combine(_folder.FullName, secret));
        QsmCluster.WaitUntilReady(process);
        return process;
    }

    private string NewSecret()
    {
        var (code, output, errors) = _tools.Run("keys", "secret");
        Assert.Equal((0, ""), (code, errors));
        return output;
    }

    private string Write(string name, string text)
    {
        string path = Path.Combine(_folder.FullName, name);
        File.WriteAllText(path, text);
        return path;
    }
}
