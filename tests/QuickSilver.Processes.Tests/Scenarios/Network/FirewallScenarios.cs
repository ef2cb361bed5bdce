using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// A firewall that passes TCP and no UDP at one node, and a node on the wrong interface: the others continue, and the node itself reports
// what to look at.
public sealed class FirewallScenarios
{
    private const int Cut = 4;

    [Theory]
    [InlineData(true, true)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public void Others_continue_without_a_node_whose_UDP_is_dropped_which_learns_why_and_rejoins_later(bool incoming, bool outgoing)
    {
        int part = ScenarioSize.Lines / 4;
        string[][] lines = [.. Enumerable.Range(0, 4).Select(i => TestLines.Make(part, first: i * part))];
        using var cluster = new QsmCluster(4);
        NftCommand.SkipUnlessUsable(cluster.Network);
        NodeProcess[] stay = [cluster.Subscribe(2, "lines"), cluster.Subscribe(3, "lines")];
        var cut = cluster.Subscribe(Cut, "lines");
        var publisher = cluster.Join(1, "pub", "lines");
        publisher.Feed(TestLines.Join(lines[0]));
        WaitForLines([.. stay, cut], part);

        NftCommand.DropDatagrams(cluster.Network, Cut, incoming, outgoing);
        publisher.Feed(TestLines.Join(lines[1]));
        WaitForLines(stay, 2 * part);
        // A line comes in pieces.
        string advice = $"Interface ({cluster.Network.Address(Cut)})";
        cut.WaitForErrors(
            e => e.Text().Contains("check the firewall for UDP port", StringComparison.Ordinal)
                && e.Text().Contains(advice, StringComparison.Ordinal),
            "the reason");
        Assert.NotEqual(0, cut.WaitForExit());

        // It is not let in to stop the others again.
        var kept = cluster.Join(Cut, "sub", "lines", "--wait");
        kept.WaitForErrors(e => e.Text().Contains("refused this node", StringComparison.Ordinal), "the refusal");
        publisher.Feed(TestLines.Join(lines[2]));
        WaitForLines(stay, 3 * part);
        Assert.NotEqual(0, kept.WaitForExit());
        Assert.Contains("no datagram has come back", kept.Errors.Text(), StringComparison.Ordinal);

        var back = cluster.Join(Cut, "sub", "lines", "--wait");
        NftCommand.Pass(cluster.Network, Cut);
        QsmCluster.WaitUntilReady(back);
        publisher.Feed(TestLines.Join(lines[3]));
        publisher.CloseInput();
        publisher.ExpectExit(0);
        WaitForLines(stay, 4 * part);
        WaitForLines([back], part);
        Assert.Equal(TestLines.Join(lines[3]), back.Output.Text());
        Assert.All(stay, s => Assert.Equal(TestLines.Join([.. lines.SelectMany(l => l)]), s.Output.Text()));
    }

    [Fact]
    public void A_node_of_the_loopback_interface_is_refused_by_a_service_elsewhere_at_once_and_no_other_node_notices()
    {
        var lines = TestLines.Make(ScenarioSize.Lines);
        using var cluster = new QsmCluster(3);
        var stays = cluster.Subscribe(2, "lines");
        var publisher = cluster.Join(1, "pub", "lines");
        publisher.Feed(TestLines.Join(lines[..^1]));
        var wrong = cluster.Start(3, "sub", "lines", "--gms", cluster.Service);
        Assert.NotEqual(0, wrong.WaitForExit());
        Assert.Contains("127.0.0.1", wrong.Errors.Text(), StringComparison.Ordinal);
        Assert.Contains(cluster.Service, wrong.Errors.Text(), StringComparison.Ordinal);
        Assert.Contains(cluster.Network.Address(3).ToString(), wrong.Errors.Text(), StringComparison.Ordinal);
        publisher.Feed(TestLines.Join(lines[^1..]));
        publisher.CloseInput();
        publisher.ExpectExit(0);
        WaitForLines([stays], lines.Length);
        Assert.Equal(TestLines.Join(lines), stays.Output.Text());
    }

    private static void WaitForLines(IEnumerable<NodeProcess> processes, int lines)
    {
        foreach (var process in processes)
        {
            process.WaitForOutput(o => o.LineCount >= lines, $"{lines} lines");
        }
    }
}
