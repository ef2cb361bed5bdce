using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// F3; I1, I2, I4, I23: the node that hosts the membership service is cut off alone, until it has given the others up and they
// have given it up. When the network heals, no node has lost the membership.
public sealed class PartitionScenarios
{
    [Fact]
    public void A_host_that_was_cut_off_alone_joins_the_others_who_lose_nothing()
    {
        var third = ScenarioSize.Lines / 3;
        var before = TestLines.Make(third);
        var during = TestLines.Make(third, first: third);
        var after = TestLines.Make(third, first: 2 * third);
        using var cluster = new QsmCluster(4);
        var host = Join(cluster, 1, "sub", "lines");
        Wait("it to host", () => Says(host, "This node hosts one"));
        QsmCluster.WaitUntilReady(host);
        var stays = new[] { Join(cluster, 2, "sub", "lines"), Join(cluster, 3, "sub", "lines") };
        Array.ForEach(stays, QsmCluster.WaitUntilReady);
        var publisher = Join(cluster, 4, "pub", "lines");
        NodeProcess[] others = [.. stays, publisher];
        publisher.Feed(TestLines.Join(before));
        Wait("the lines before", () => stays.Append(host).All(node => node.Output.LineCount >= third));

        cluster.Switch.Partition(1);
        Wait("the host to give the others up", () => Count(host, "is removed") == others.Length);
        Wait("one of the others to host", () => others.Any(node => Says(node, ": 3 nodes")));
        publisher.Feed(TestLines.Join(during));
        Wait("the lines during", () => stays.All(node => node.Output.LineCount >= 2 * third));

        cluster.Switch.Heal();
        Wait("the host to yield", () => Says(host, "service hosted here yields to"));
        Wait("all to be one cluster", () => others.Any(node => Says(node, ": 4 nodes")));
        // In small pieces, so that the publisher hears of the change between two of them, however busy the machine is.
        int fed = 2 * third;
        foreach (string[] piece in after.Chunk(Math.Max(1, third / 20)))
        {
            publisher.Feed(TestLines.Join(piece));
            fed += piece.Length;
            Wait("the lines after", () => stays.All(node => node.Output.LineCount >= fed));
        }

        publisher.CloseInput();
        publisher.ExpectExit(0);
        Wait("the last line after at the host that was cut off", () => EndsWith(host, after));

        foreach (var subscriber in stays)
        {
            subscriber.Send(ProcessSignal.Interrupt);
            subscriber.ExpectExit(0);
            Assert.Equal(TestLines.Join([.. before, .. during, .. after]), subscriber.Output.Text());
        }

        Assert.StartsWith(TestLines.Join(before), host.Output.Text(), StringComparison.Ordinal);
        Assert.All([host, .. others], node => Assert.False(Says(node, "service removed this node"), "a node was expelled"));
    }

    private static NodeProcess Join(QsmCluster cluster, int node, string command, string topic) =>
        cluster.Start(node, cluster.OnNetwork(node, command, topic, "--verbose"));

    private static bool Says(NodeProcess process, string what) => process.Errors.Text().Contains(what, StringComparison.Ordinal);

    private static int Count(NodeProcess process, string what) => process.Errors.Text().Split(what).Length - 1;

    private static bool EndsWith(NodeProcess process, IEnumerable<string> lines) =>
        process.Output.Text().EndsWith(TestLines.Join([lines.Last()]), StringComparison.Ordinal);

    private static void Wait(string what, Func<bool> condition) =>
        Assert.True(SpinWait.SpinUntil(condition, NodeProcess.Patience), $"waited for {what}");
}
