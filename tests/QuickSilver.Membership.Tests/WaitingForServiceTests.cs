using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests;

// A node that was given the address of a service that is not there, or not there yet.
public sealed class WaitingForServiceTests
{
    private const int DoesNotComeThrough = 1310;

    [Fact]
    public void A_node_that_waits_says_at_once_where_it_looks_and_why_nothing_comes_and_again_after_a_minute()
    {
        var world = new FakeWorld();
        var log = new WaitLog();
        var node = FakeNode.Start(world, 7, FakeCluster.EndPoint, logger: log);
        world.Run(TimeSpan.FromSeconds(30));
        string said = Assert.Single(log.Said);
        Assert.Contains($"Cannot join the membership service at {FakeCluster.EndPoint}: {node.Client.LastFailure}. Retrying.", said);
        world.Run(TimeSpan.FromSeconds(40));
        Assert.Equal(2, log.Said.Count);
    }

    [Fact]
    public void The_last_failure_is_cleared_on_admission_and_set_again_on_loss()
    {
        var cluster = new FakeCluster();
        var log = new WaitLog();
        var node = FakeNode.Start(cluster.World, 7, FakeCluster.EndPoint, cluster.Options, logger: log);
        cluster.Run(1);
        Assert.True(node.Client.IsReachable);
        Assert.Null(node.Client.LastFailure);
        Assert.Empty(log.Said);
        cluster.ServiceEnvironment.Crash();
        cluster.Run(60);
        Assert.NotNull(node.Client.LastFailure);
        Assert.NotEmpty(log.Said);
        cluster.StartService();
        cluster.Run(5);
        Assert.Null(node.Client.LastFailure);
    }

    private sealed class WaitLog : ILogger
    {
        public List<string> Said { get; } = [];

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (eventId.Id == DoesNotComeThrough)
            {
                Assert.Equal(LogLevel.Information, logLevel);
                Said.Add(formatter(state, exception));
            }
        }
    }
}
