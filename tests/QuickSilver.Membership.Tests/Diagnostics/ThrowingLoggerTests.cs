using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Diagnostics;

public sealed class ThrowingLoggerTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_service_whose_logger_throws_still_removes_those_that_fall_silent(bool throwsOnce)
    {
        var world = new FakeWorld();
        var store = new MemoryMembershipStore();
        var logger = new ThrowingLogger(throwsOnce);
        var service = new MembershipService(world.AddNode(1), new MembershipServiceOptions(), store, new ServiceCounters(), logger);
        service.Start(FakeCluster.EndPoint);
        FakeNode[] nodes = [.. Enumerable.Range(1, 4).Select(id => FakeNode.Start(world, (ulong)id, FakeCluster.EndPoint))];
        world.RunUntil(() => nodes.All(node => node.Nodes.Count == 4));
        nodes[3].Environment.Crash();
        nodes[2].Environment.Crash();
        world.RunUntil(() => nodes[0].Nodes.Count == 2, limitSeconds: 60);
    }

    // As a provider does that loses its file permanently, or for the moment in which a node is removed.
    private sealed class ThrowingLogger(bool once) : ILogger
    {
        private bool _hasThrown;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (!once || (!_hasThrown && formatter(state, exception).Contains("is removed", StringComparison.Ordinal)))
            {
                _hasThrown = true;
                throw new ObjectDisposedException("log");
            }
        }
    }
}
