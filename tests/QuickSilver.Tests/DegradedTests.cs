using System.Collections.Concurrent;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

// The notices to an application about a node without which the others may have continued.
public sealed class DegradedTests : IAsyncDisposable
{
    private const int HandlerThrew = 1629;

    private readonly FakeParts _parts = new() { LastFailure = "connection reset" };
    private readonly RecordingLogs _logs = new();
    private readonly BlockingCollection<NodeStatusChangedEventArgs> _told = [];

    [Fact]
    public async Task A_handler_gets_both_statuses_when_the_node_is_degraded_and_when_it_has_recovered()
    {
        var node = await StartAsync();
        node.StatusChanged += Add;
        await LoseAsync(TimeSpan.FromSeconds(12));
        var lost = Next();
        Assert.Equal(NodeStatusChangeKind.Degraded, lost.Kind);
        Assert.Equal(StatusReasonKind.ServiceUnreachable, lost.Previous.Reasons[0].Kind);
        Assert.Equal(node.Status.Reasons[0], lost.Current.Reasons[0]);
        Assert.Equal(StatusReasonKind.Degraded, lost.Current.Reasons[0].Kind);
        Assert.Contains("connection reset", lost.Current.Reasons[0].Description);
        await RunAsync(() => _parts.Service.Observer!.OnServiceReachable(true));
        var back = Next();
        Assert.Equal(NodeStatusChangeKind.Recovered, back.Kind);
        Assert.Equal(lost.Current.Reasons[0], back.Previous.Reasons[0]);
        Assert.True(back.Current.IsReady);
        Assert.True(node.Status.IsReady);
    }

    [Fact]
    public async Task A_connection_that_is_lost_for_less_than_the_limit_is_not_reported()
    {
        var node = await StartAsync();
        node.StatusChanged += Add;
        await RunAsync(() =>
        {
            _parts.Service.Observer!.OnServiceReachable(false);
            _parts.Service.Observer!.OnServiceReachable(true);
            _parts.Service.Observer!.OnServiceReachable(false);
        });
        await RunAsync(() => _parts.Service.Observer!.OnServiceSilent(TimeSpan.FromSeconds(10)));
        Assert.Equal(NodeStatusChangeKind.Degraded, Next().Kind);
    }

    [Fact]
    public async Task When_the_node_is_removed_the_topics_have_ended_and_the_reason_is_reported()
    {
        var node = await StartAsync();
        var topic = await _parts.OpenAsync<string>(node, "t").OrFail();
        node.StatusChanged += (sender, change) =>
        {
            if (change.Kind == NodeStatusChangeKind.Expelled)
            {
                Assert.Throws<NodeExpelledException>(() => { _ = topic.PublishAsync("x"); });
            }

            Add(sender, change);
        };
        await LoseAsync(TimeSpan.FromSeconds(12));
        await RunAsync(() => _parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        Assert.Equal(NodeStatusChangeKind.Degraded, Next().Kind);
        var end = Next();
        Assert.Equal(NodeStatusChangeKind.Expelled, end.Kind);
        Assert.Equal((NodeState.Running, NodeState.Expelled), (end.Previous.State, end.Current.State));
        Assert.Equal((StatusReasonKind.Expelled, node.Status.Reasons[0]), (end.Current.Reasons[0].Kind, end.Current.Reasons[0]));
    }

    [Fact]
    public async Task A_handler_that_waits_delays_neither_the_core_thread_nor_the_order_of_notices()
    {
        var node = await StartAsync();
        using var gate = new ManualResetEventSlim();
        node.StatusChanged += (_, _) => gate.Wait();
        node.StatusChanged += Add;
        await LoseAsync(TimeSpan.FromSeconds(12));
        await RunAsync(() => _parts.Service.Observer!.OnServiceReachable(true));
        await LoseAsync(TimeSpan.FromSeconds(12));
        Assert.Empty(_told);
        gate.Set();
        Assert.Equal(
            [NodeStatusChangeKind.Degraded, NodeStatusChangeKind.Recovered, NodeStatusChangeKind.Degraded],
            (NodeStatusChangeKind[])[Next().Kind, Next().Kind, Next().Kind]);
    }

    [Fact]
    public async Task A_handler_that_throws_is_logged_and_the_others_are_called()
    {
        var node = await StartAsync();
        node.StatusChanged += static (_, _) => throw new InvalidOperationException("mine");
        node.StatusChanged += Add;
        await LoseAsync(TimeSpan.FromSeconds(12));
        Assert.NotNull(Next());
        Assert.Equal("mine", Assert.Single(_logs.Entries, static entry => entry.Id == HandlerThrew).Exception!.Message);
    }

    [Fact]
    public async Task A_handler_that_was_removed_is_not_called()
    {
        var node = await StartAsync();
        EventHandler<NodeStatusChangedEventArgs> removed = static (_, _) => throw new InvalidOperationException();
        node.StatusChanged += removed;
        node.StatusChanged += Add;
        node.StatusChanged -= removed;
        await LoseAsync(TimeSpan.FromSeconds(12));
        Assert.NotNull(Next());
        Assert.DoesNotContain(_logs.Entries, static entry => entry.Id == HandlerThrew);
    }

    public async ValueTask DisposeAsync()
    {
        await _parts.DisposeAsync();
        _told.Dispose();
    }

    private Task<QuickSilverNode> StartAsync() => _parts.StartAsync(logs: _logs).OrFail();

    private Task RunAsync(Action action) => _parts.Core.RunAsync(action).OrFail();

    private Task LoseAsync(TimeSpan silence) => RunAsync(() =>
    {
        _parts.Service.Observer!.OnServiceReachable(false);
        _parts.Service.Observer!.OnServiceSilent(silence);
    });

    private void Add(object? sender, NodeStatusChangedEventArgs change)
    {
        Assert.IsType<QuickSilverNode>(sender);
        _told.Add(change);
    }

    private NodeStatusChangedEventArgs Next()
    {
        Assert.True(_told.TryTake(out var change, TimeSpan.FromSeconds(20)), "no notice came");
        return change;
    }
}
