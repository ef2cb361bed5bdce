using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// Real processes on a network that has addresses of IPv6 only.
public sealed class Ipv6Scenarios
{
    private static readonly string[] Lines = TestLines.Make(Math.Max(ScenarioSize.Lines, 2_000));

    [Fact]
    public void Everything_arrives_over_groups_of_IPv6_while_a_node_is_killed()
    {
        using var cluster = new QsmCluster(4, isIpv6: true);
        var readers = Readers(cluster, 2, 3);
        var victim = cluster.Subscribe(4, "lines");
        var publisher = cluster.Join(1, "pub", "lines", "--verbose");
        publisher.Feed(TestLines.Join(Lines.Take(Lines.Length / 2)));
        victim.WaitForOutput(output => output.LineCount >= Lines.Length / 2, "half of the lines");
        victim.Send(ProcessSignal.Kill);
        publisher.Feed(TestLines.Join(Lines.Skip(Lines.Length / 2)));

        ExpectAll(publisher, readers);
        Assert.Contains(readers, reader => reader.Errors.Text().Contains("[ff15::5153:", StringComparison.Ordinal));
        Assert.DoesNotContain("do not hear it over multicast", publisher.Errors.Text());
    }

    [Fact]
    public void Without_multicast_everything_arrives_by_unicast()
    {
        using var cluster = new QsmCluster(3, impairment: new Impairment { MulticastOff = true }, isIpv6: true);
        var readers = Readers(cluster, 2, 3);
        var publisher = cluster.Join(1, "pub", "lines");
        publisher.Feed(TestLines.Join(Lines));

        ExpectAll(publisher, readers);
    }

    [Fact]
    public void Nodes_find_each_other_by_link_local_addresses()
    {
        using var network = NetworkNamespaces.Create(2, withRuns: false, isIpv6: true);
        using var lab = new ImpairedSwitch(network, 1);
        string[] arguments = ["lines", "--interface", "fe80::/64", "--security", "none"];
        using var reader = NodeProcess.Start(network, 2, Programs.Qsm, ["sub", .. arguments, "--count", $"{Lines.Length}"]);
        QsmCluster.WaitUntilReady(reader);
        using var publisher = NodeProcess.Start(network, 1, Programs.Qsm, ["pub", .. arguments]);
        publisher.Feed(TestLines.Join(Lines));

        ExpectAll(publisher, [reader]);
    }

    [Fact]
    public void Nodes_on_the_loopback_address_of_IPv6_meet_at_a_service()
    {
        using var network = NetworkNamespaces.Create(1, withRuns: false, isIpv6: true);
        using var lab = new ImpairedSwitch(network, 1);
        using var service = NodeProcess.Start(network, 1, Programs.Qsm, ["gms", "--listen", "[::1]:7411"]);
        service.WaitForErrors(e => e.Text().Contains("listening [::1]:7411", StringComparison.Ordinal), "it to listen");
        string[] arguments = ["lines", "--interface", "::1", "--gms", "[::1]:7411"];
        using var reader = NodeProcess.Start(network, 1, Programs.Qsm, ["sub", .. arguments, "--count", $"{Lines.Length}"]);
        QsmCluster.WaitUntilReady(reader);
        using var publisher = NodeProcess.Start(network, 1, Programs.Qsm, ["pub", .. arguments]);
        publisher.Feed(TestLines.Join(Lines));

        ExpectAll(publisher, [reader]);
    }

    private static List<NodeProcess> Readers(QsmCluster cluster, params int[] nodes)
    {
        var readers = nodes
            .Select(node => cluster.Join(node, "sub", "lines", "--wait", "--count", $"{Lines.Length}", "--verbose")).ToList();
        readers.ForEach(QsmCluster.WaitUntilReady);
        return readers;
    }

    private static void ExpectAll(NodeProcess publisher, List<NodeProcess> readers)
    {
        publisher.CloseInput();
        publisher.ExpectExit(0);
        foreach (var reader in readers)
        {
            reader.ExpectExit(0);
            Assert.Equal(TestLines.Join(Lines), reader.Output.Text());
        }
    }
}
