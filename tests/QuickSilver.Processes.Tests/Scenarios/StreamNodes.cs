using System.Globalization;
using QuickSilver.Processes.Tests.Lab;

namespace QuickSilver.Processes.Tests.Scenarios;

// Processes of the program StreamNode, one on each host of a cluster.
internal sealed class StreamNodes(QsmCluster cluster, long bufferBytes = 0) : IDisposable
{
    private readonly List<NodeProcess> _processes = [];

    public StreamNodes(int hosts, long bufferBytes = 0)
        : this(new QsmCluster(hosts), bufferBytes)
    {
    }

    public QsmCluster Cluster => cluster;

    public static void Do(NodeProcess node, string command, string answer)
    {
        node.Feed(command + "\n");
        WaitFor(node, answer);
    }

    /// <summary>Waits for one more line that begins with these words than there were before the command, and returns it.</summary>
    public static string Ask(NodeProcess node, string command, string beginning)
    {
        int before = FindAll(node.Output, beginning).Length;
        node.Feed(command + "\n");
        node.WaitForOutput(output => FindAll(output, beginning).Length > before, $"'{beginning}' after '{command}'");
        return FindAll(node.Output, beginning)[before];
    }

    /// <summary>Waits for a line that begins with these words, and returns it.</summary>
    public static string WaitFor(NodeProcess node, string beginning)
    {
        node.WaitForOutput(output => Find(output, beginning) is not null, $"'{beginning}'");
        return Find(node.Output, beginning)!;
    }

    public NodeProcess Node(int host)
    {
        string address = Cluster.Network.Address(host).ToString();
        string buffer = bufferBytes.ToString(CultureInfo.InvariantCulture);
        var process = Cluster.StartProgram(Programs.StreamNode, host, Cluster.Service, address, buffer);
        WaitFor(process, "ready");
        _processes.Add(process);
        return process;
    }

    public NodeProcess Subscriber(int host, params string[] subscriptions)
    {
        var process = Node(host);
        foreach (string subscription in subscriptions)
        {
            Do(process, $"subscribe {subscription}", $"subscribed {subscription.Split(' ')[0]}");
        }

        return process;
    }

    public void EndAndExpectNothingWrong()
    {
        _processes.ForEach(process => process.CloseInput());
        _processes.ForEach(process => process.ExpectExit(0));
        Assert.All(_processes, process =>
            Assert.DoesNotContain("service removed this node", process.Errors.Text(), StringComparison.Ordinal));
    }

    public void Dispose() => Cluster.Dispose();

    private static string[] FindAll(OutputCapture output, string beginning) =>
        Array.FindAll(output.Lines()[..^1], line => (line + " ").StartsWith(beginning + " ", StringComparison.Ordinal));

    private static string? Find(OutputCapture output, string beginning) =>
        Array.Find(output.Lines()[..^1], line => (line + " ").StartsWith(beginning + " ", StringComparison.Ordinal));
}
