using Microsoft.Extensions.Logging;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Seeds.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// Whole nodes, of which one is paused under load and continues (F6).
public sealed class PauseTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(1, 0)]
    [InlineData(1, 2)]
    [InlineData(2, 0)]
    [InlineData(2, 2)]
    public void A_node_that_was_paused_is_not_removed_and_no_node_is_suspected_afterwards(double seconds, int paused) =>
        AssertUnharmed(paused, seconds);

    // Its neighbours report it after less than a second each time. Its notice of the first pause is why that is not enough.
    [Theory]
    [InlineData(3, 0)]
    [InlineData(3, 2)]
    [InlineData(8, 0)]
    [InlineData(8, 2)]
    public void A_node_that_reported_a_pause_may_stand_still_for_longer(double seconds, int paused) => AssertUnharmed(paused, 1, seconds);

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public void A_node_that_reported_a_pause_is_removed_after_the_heartbeats_that_any_node_may_miss(int paused)
    {
        var log = new Lines();
        using var cluster = Busy(1, log);
        PauseOne(cluster, paused, 1);
        cluster.Nodes[paused].Pause(Second * 30);
        cluster.Run(Second * 11.5);
        Assert.Contains("missed", log.Of(1206));
    }

    [Fact]
    public void A_pause_is_named_on_both_sides_with_its_length_and_counted()
    {
        var log = new Lines();
        using var cluster = Busy(1, log);
        PauseOne(cluster, 2, 2);
        var own = cluster.Nodes[2].Node;
        var pause = own.Read(NodeFigures.PauseTime);
        Assert.Equal((1, 1), (own.Read(NodeFigures.LongSteps), own.Read(NodeFigures.PausesNotRunning)));
        Assert.InRange(pause, Second * 1.9, Second * 2);
        Assert.Equal(pause, own.Read(NodeFigures.LongestPause));
        Assert.Equal(2, cluster.Nodes.Sum(node => node.Node.Read(NodeFigures.PausesReported)));

        string length = $"for {pause.TotalMilliseconds:F0} ms (NotRunning)";
        Assert.Equal($"This node stood still {length}. It reported that to its ring neighbours (2).", log.Of(1420));
        Assert.Contains($"stood still {length}, and reported that ", log.Of(1421));
        Assert.EndsWith(" ms after it had resumed. Pauses that it has reported: 1.", log.Of(1421));
        Assert.Contains(length, log.Of(1215));
    }

    private static void AssertUnharmed(int paused, params double[] pauses)
    {
        foreach (ulong seed in SeedChoice.InTurn(5, commits: 3))
        {
            var log = new Lines();
            using var cluster = Busy(seed, log);
            foreach (double seconds in pauses)
            {
                PauseOne(cluster, paused, seconds);
                log.Forget(1207);
                cluster.Run(Second * 3);
                Assert.True(log.Of(1206).Length == 0 && log.Of(1207).Length == 0, $"Seed {seed}: {log.Of(1206)} {log.Of(1207)}");
            }

            Assert.All(cluster.Nodes, node => Assert.Equal(1, node.Lives));
        }
    }

    // Until it has reported it.
    private static void PauseOne(SimulatedCluster cluster, int paused, double seconds)
    {
        cluster.Nodes[paused].Pause(Second * seconds);
        cluster.Run(Second * (seconds + 0.05));
    }

    private static SimulatedCluster Busy(ulong seed, Lines log)
    {
        var cluster = new SimulatedCluster(new SimulationOptions { Seed = seed, Nodes = 5, LoggerFactory = log });
        cluster.Start(async node =>
        {
            var topic = await node.Node.OpenTopicAsync<string>("load");
            topic.SubscribeInline((in Message<string> _) => { });
            for (int i = 0; ; i++)
            {
                await topic.PublishAsync($"{i}");
                await Task.Delay(TimeSpan.FromMilliseconds(10), node.Time);
            }
        });
        cluster.Run(Second * 2);
        return cluster;
    }

    private sealed class Lines : ILoggerFactory, ILogger
    {
        private readonly List<(int Id, string Text)> _lines = [];

        public string Of(int id) => string.Join("\n", _lines.Where(line => line.Id == id).Select(line => line.Text));

        public void Forget(int id) => _lines.RemoveAll(line => line.Id == id);

        public ILogger CreateLogger(string categoryName) => this;

        public void AddProvider(ILoggerProvider provider)
        {
        }

        public void Dispose()
        {
        }

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            _lines.Add((eventId.Id, formatter(state, exception)));
    }
}
