using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Client;

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

    // The alert of a service that requires TLS.
    [Fact]
    public void That_the_keys_do_not_fit_is_a_warning_at_once_and_once_a_minute()
    {
        var cluster = new FakeCluster();
        var at = new IPEndPoint(FakeCluster.EndPoint.Address, 9);
        var log = new LogRecorder();
        FakeNode.Start(cluster.World, 7, at, logger: log);
        cluster.Run(5);
        cluster.ServiceEnvironment.Listen(at, new Guarded());
        cluster.Run(30);
        Assert.Equal(
            [LogLevel.Information, LogLevel.Warning],
            log.Entries.Where(static entry => entry.Id == DoesNotComeThrough).Select(static entry => entry.Level));
        Assert.Contains("the service requires security", log.Entries.Last(static entry => entry.Id == DoesNotComeThrough).Text);
        cluster.Run(40);
        Assert.Equal(3, log.Entries.Count(static entry => entry.Id == DoesNotComeThrough));
    }

    [Fact]
    public void A_refused_node_is_one_warning_at_both_sides_whether_or_not_it_has_proved_an_identity()
    {
        foreach (string? identity in (string?[])[null, "pricer"])
        {
            var atService = new LogRecorder();
            var cluster = new FakeCluster(logger: atService);
            var log = new LogRecorder();
            var node = FakeNode.Start(
                cluster.World, 7, FakeCluster.EndPoint, new MembershipServiceOptions { Cluster = "other" }, logger: log);
            node.Environment.Identity = identity;
            cluster.World.RunUntil(() => node.Client.LastRefusal is not null);
            var refused = Assert.Single(atService.Entries, static entry => entry.Text.Contains("belongs to 'other'"));
            Assert.Equal((identity is null ? 1208 : 1273, LogLevel.Warning), (refused.Id, refused.Level));
            cluster.Run(60);
            Assert.Equal((1302, LogLevel.Warning), (log.Entries.Single(Refused).Id, log.Entries.Single(Refused).Level));
        }

        static bool Refused((int Id, string Text, LogLevel Level) entry) => entry.Level >= LogLevel.Warning;
    }

    [Fact]
    public void Nodes_that_are_refused_for_reasons_that_take_turns_do_not_fill_the_log()
    {
        var atService = new LogRecorder();
        var cluster = new FakeCluster(logger: atService);
        var machine = cluster.World.AddNode(99);
        const int Many = 400;
        for (int i = 0; i < Many; i++)
        {
            // Two that come again and again, and others each of which is new.
            string name = (i % 4) switch { 0 => "one", 1 => "two", _ => $"new {i}" };
            var client = new RawClient(machine);
            cluster.World.RunUntil(() => client.IsConnected);
            client.Send(RawClient.Join(1, cluster: name));
            cluster.World.RunUntil(() => client.Received.Count > 0);
            client.Stream.Close();
        }

        Assert.Equal(Many, cluster.Counters.JoinsRefused);
        Assert.InRange(atService.Entries.Count(static entry => entry.Id == 1208), 16, 60);
    }

    private sealed class Guarded : IControlAcceptor, IControlStreamHandler
    {
        public IControlStreamHandler OnAccept(IControlStream stream) => this;

        public void OnConnected(IControlStream stream)
        {
        }

        public int OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
        {
            stream.Send(TlsSide.NoTlsAlert);
            return bytes.Length;
        }

        public void OnClosed(IControlStream stream, string reason)
        {
        }
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
