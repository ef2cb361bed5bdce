using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// Real processes with default options behind a switch that carries no multicast, from the beginning or from some time on. F12.
public sealed class NoMulticastScenarios
{
    private const string MembersAreDeaf = "of the nodes to which this node sends do not hear it over multicast";
    private const string MembersHear = "All nodes to which this node sends hear it over multicast again";
    private const string SenderIsSilent = "does not hear 1 of its senders over multicast";
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);
    private static readonly int[] Subscribers = [2, 3, 4];

    [Fact]
    public void Without_multicast_everything_arrives_and_both_ends_say_so()
    {
        using var run = new Run(new Impairment { MulticastOff = true });

        run.Feed(1);
        run.FeedUntil(() => run.Publisher.Errors.Text().Contains(MembersAreDeaf, StringComparison.Ordinal));
        run.FeedUntil(() => run.Readers.TrueForAll(reader => reader.Errors.Text().Contains(SenderIsSilent, StringComparison.Ordinal)));

        run.FeedRestAndExpectAll();
    }

    [Fact]
    public void When_multicast_stops_and_comes_back_nothing_is_lost()
    {
        using var run = new Run(Impairment.None);

        run.Feed(run.Left / 4);
        run.Cluster.Switch.SetMulticast(false);
        run.Feed(run.Left / 3);
        run.FeedUntil(() => run.Publisher.Errors.Text().Contains(MembersAreDeaf, StringComparison.Ordinal));
        run.Feed(run.Left / 2);
        run.Cluster.Switch.SetMulticast(true);
        run.FeedUntil(() => run.Publisher.Errors.Text().Contains(MembersHear, StringComparison.Ordinal));

        run.FeedRestAndExpectAll();
    }

    private sealed class Run : IDisposable
    {
        private readonly string[] _lines = TestLines.Make(Math.Max(ScenarioSize.Lines, 2_000));
        private int _fed;

        public Run(Impairment impairment)
        {
            Cluster = new QsmCluster(4, seed: 1, impairment);
            Readers = Subscribers.Select(node => Cluster.Join(node, "sub", "lines", "--wait", "--count", $"{_lines.Length}")).ToList();
            Readers.ForEach(QsmCluster.WaitUntilReady);
            Publisher = Cluster.Join(1, "pub", "lines", "--verbose");
        }

        public QsmCluster Cluster { get; }

        public NodeProcess Publisher { get; }

        public List<NodeProcess> Readers { get; }

        public int Left => _lines.Length - _fed;

        /// <summary>Publishes so many lines and waits until all readers have them.</summary>
        public void Feed(int count)
        {
            Publisher.Feed(TestLines.Join(_lines.Skip(_fed).Take(count)));
            _fed += count;
            Readers.ForEach(reader => reader.WaitForOutput(output => output.LineCount >= _fed, $"{_fed} lines"));
        }

        /// <summary>Publishes a line from time to time: on what is never used nothing can be known to fail.</summary>
        public void FeedUntil(Func<bool> condition)
        {
            while (!condition())
            {
                Assert.True(Left > 1, $"it did not come to be: {Publisher.Report()}");
                Feed(1);
                SpinWait.SpinUntil(condition, Pause);
            }
        }

        public void FeedRestAndExpectAll()
        {
            Feed(Left);
            Publisher.CloseInput();
            Publisher.ExpectExit(0);
            foreach (var reader in Readers)
            {
                reader.ExpectExit(0);
                Assert.Equal(TestLines.Join(_lines), reader.Output.Text());
            }
        }

        public void Dispose() => Cluster.Dispose();
    }
}
