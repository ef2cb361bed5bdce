using System.Globalization;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Harness;

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

    /// <summary>Waits for a line with this beginning that comes after the command, and returns it.</summary>
    public static string Ask(NodeProcess node, string command, string beginning)
    {
        int from = node.Output.Length;
        node.Feed(command + "\n");
        node.WaitForOutput(output => output.FindLine(beginning, from) is not null, $"'{beginning}' after '{command}'");
        return node.Output.FindLine(beginning, from)!;
    }

    /// <summary>Waits for a line that begins with these words, and returns it.</summary>
    public static string WaitFor(NodeProcess node, string beginning)
    {
        node.WaitForOutput(output => Find(output, beginning) is not null, $"'{beginning}'");
        return Find(node.Output, beginning)!;
    }

    /// <summary>The longest time without a message of the topic since this was last asked, in milliseconds.</summary>
    public static double LongestPause(NodeProcess node, string topic) => LastNumber(Ask(node, $"pause {topic}", $"pause {topic}"));

    /// <summary>The packets that it has dropped, by reason.</summary>
    public static Dictionary<string, long> Drops(NodeProcess node)
    {
        const string Meter = "meter quicksilver.packets.dropped";
        return Ask(node, Meter, Meter)[Meter.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries)
            .Select(word => word.Split('=')).ToDictionary(pair => pair[0], pair => long.Parse(pair[1], CultureInfo.InvariantCulture));
    }

    /// <summary>The number with which a line ends.</summary>
    public static long LastNumber(string line) => long.Parse(line.Split(' ')[^1], CultureInfo.InvariantCulture);

    public NodeProcess Node(int host)
    {
        var process = Transient(host);
        _processes.Add(process);
        return process;
    }

    public NodeProcess Subscriber(int host, params string[] subscriptions)
    {
        var process = Transient(host, subscriptions);
        _processes.Add(process);
        return process;
    }

    /// <summary>A subscriber that may end before the others.</summary>
    public NodeProcess Transient(int host, params string[] subscriptions)
    {
        string address = Cluster.Network.Address(host).ToString();
        string buffer = bufferBytes.ToString(CultureInfo.InvariantCulture);
        var process = Cluster.StartProgram(Programs.StreamNode, host, Cluster.Service, address, buffer);
        WaitFor(process, "ready");
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

    private static string? Find(OutputCapture output, string beginning) => output.FindLine(beginning, from: 0);
}
