using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// Real processes on paths that lose large datagrams without notice, or whose interface refuses them. F11.
public sealed class NarrowPathScenarios
{
    private const string Shrunk = "do not pass between this node and";
    private const int Widest = 1252;
    private const int IpAndUdpBytes = 28;
    private static readonly string[] Lines = TestLines.Make(Math.Max(ScenarioSize.Lines, 4_000));

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void When_the_path_to_a_node_loses_large_packets_during_a_run_everything_arrives(bool isUnicast)
    {
        using var cluster = new QsmCluster(4);
        var run = new Run(cluster, isUnicast ? ["--unicast"] : []);
        run.Feed(Lines.Length / 4);
        // By the network, which sees each datagram: the system's firewall would judge a whole run as one.
        var narrow = new Impairment { MtuBytes = Widest + IpAndUdpBytes };
        foreach (int other in new[] { 1, 3, 4 })
        {
            cluster.Switch[other, 2] = narrow;
        }

        run.Feed(Lines.Length / 4);
        run.FeedUntilSaid();
        run.FeedRestAndExpectAll();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void When_the_MTU_of_an_interface_falls_during_a_run_everything_arrives(bool isIpv6)
    {
        using var cluster = new QsmCluster(3, isIpv6: isIpv6);
        var run = new Run(cluster, []);
        run.Feed(Lines.Length / 4);
        _ = IpCommand.Run("-n", cluster.Network.Name(1), "link", "set", TapDevice.InterfaceName, "mtu", "1280");
        run.Feed(Lines.Length / 4);
        run.FeedUntilSaid();
        run.FeedRestAndExpectAll();
    }

    private sealed class Run
    {
        private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

        private readonly NodeProcess _publisher;
        private readonly List<NodeProcess> _readers;
        private int _fed;

        public Run(QsmCluster cluster, string[] options)
        {
            _readers = Enumerable.Range(2, cluster.Network.Count - 1)
                .Select(node => cluster.Join(node, ["sub", "lines", "--wait", "--count", $"{Lines.Length}", .. options])).ToList();
            _readers.ForEach(QsmCluster.WaitUntilReady);
            _publisher = cluster.Join(1, ["pub", "lines", "--verbose", .. options]);
        }

        public void Feed(int count)
        {
            _publisher.Feed(TestLines.Join(Lines.Skip(_fed).Take(count)));
            _fed += count;
            _readers.ForEach(reader => reader.WaitForOutput(output => output.LineCount >= _fed, $"{_fed} lines"));
        }

        public void FeedUntilSaid()
        {
            bool IsSaid() => _publisher.Errors.Text().Contains(Shrunk, StringComparison.Ordinal);
            while (!IsSaid())
            {
                Assert.True(Lines.Length - _fed > 1, $"it did not come to be: {_publisher.Report()}");
                Feed(1);
                SpinWait.SpinUntil(IsSaid, Pause);
            }
        }

        public void FeedRestAndExpectAll()
        {
            Feed(Lines.Length - _fed);
            _publisher.CloseInput();
            _publisher.ExpectExit(0);
            foreach (var reader in _readers)
            {
                reader.ExpectExit(0);
                Assert.Equal(TestLines.Join(Lines), reader.Output.Text());
            }
        }
    }
}
