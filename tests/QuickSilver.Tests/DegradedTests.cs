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
    private readonly BlockingCollection<StatusReason?> _told = [];

    [Fact]
    public async Task A_handler_gets_the_reason_when_the_node_is_degraded_and_null_when_the_service_is_back()
    {
        var node = await StartAsync();
        node.DegradedChanged += _told.Add;
        await LoseAsync(TimeSpan.FromSeconds(12));
        var reason = Next()!;
        Assert.Equal(StatusReasonKind.Degraded, reason.Kind);
        Assert.Equal(node.Status.Reasons[0], reason);
        Assert.Contains("connection reset", reason.Description);
        await RunAsync(() => _parts.Service.Observer!.OnServiceReachable(true));
        Assert.Null(Next());
        Assert.True(node.Status.IsReady);
    }

    [Fact]
    public async Task A_connection_that_is_lost_for_less_than_the_limit_is_not_reported()
    {
        var node = await StartAsync();
        node.DegradedChanged += _told.Add;
        await RunAsync(() =>
        {
            _parts.Service.Observer!.OnServiceReachable(false);
            _parts.Service.Observer!.OnServiceReachable(true);
            _parts.Service.Observer!.OnServiceReachable(false);
        });
        await RunAsync(() => _parts.Service.Observer!.OnServiceSilent(TimeSpan.FromSeconds(10)));
        Assert.Equal(StatusReasonKind.Degraded, Next()?.Kind);
    }

    [Fact]
    public async Task When_the_node_is_removed_the_topics_have_ended_and_the_reason_is_reported()
    {
        var node = await StartAsync();
        var topic = await _parts.OpenAsync<string>(node, "t").OrFail();
        node.DegradedChanged += reason =>
        {
            if (reason?.Kind == StatusReasonKind.Expelled)
            {
                Assert.Throws<NodeExpelledException>(() => { _ = topic.PublishAsync("x"); });
            }

            _told.Add(reason);
        };
        await LoseAsync(TimeSpan.FromSeconds(12));
        await RunAsync(() => _parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        Assert.Equal(StatusReasonKind.Degraded, Next()?.Kind);
        var end = Next()!;
        Assert.Equal((StatusReasonKind.Expelled, node.Status.Reasons[0]), (end.Kind, end));
    }

    [Fact]
    public async Task A_handler_that_waits_delays_neither_the_core_thread_nor_the_order_of_notices()
    {
        var node = await StartAsync();
        using var gate = new ManualResetEventSlim();
        node.DegradedChanged += _ => gate.Wait();
        node.DegradedChanged += _told.Add;
        await LoseAsync(TimeSpan.FromSeconds(12));
        await RunAsync(() => _parts.Service.Observer!.OnServiceReachable(true));
        await LoseAsync(TimeSpan.FromSeconds(12));
        Assert.Empty(_told);
        gate.Set();
        Assert.Equal(
            [StatusReasonKind.Degraded, null, StatusReasonKind.Degraded],
            (StatusReasonKind?[])[Next()?.Kind, Next()?.Kind, Next()?.Kind]);
    }

    [Fact]
    public async Task A_handler_that_throws_is_logged_and_the_others_are_called()
    {
        var node = await StartAsync();
        node.DegradedChanged += static _ => throw new InvalidOperationException("mine");
        node.DegradedChanged += _told.Add;
        await LoseAsync(TimeSpan.FromSeconds(12));
        Assert.NotNull(Next());
        Assert.Equal("mine", Assert.Single(_logs.Entries, static entry => entry.Id == HandlerThrew).Exception!.Message);
    }

    [Fact]
    public async Task A_handler_that_was_removed_is_not_called()
    {
        var node = await StartAsync();
        Action<StatusReason?> removed = static _ => throw new InvalidOperationException();
        node.DegradedChanged += removed;
        node.DegradedChanged += _told.Add;
        node.DegradedChanged -= removed;
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

    private StatusReason? Next()
    {
        Assert.True(_told.TryTake(out var reason, TimeSpan.FromSeconds(20)), "no notice came");
        return reason;
    }
}
