using System.Collections.Concurrent;
using System.Diagnostics;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.RequestReply;

public sealed class RequestActivityTests : IDisposable
{
    private static readonly TimeSpan Short = TimeSpan.FromMilliseconds(20);

    private readonly string _name = $"traced-{Guid.NewGuid():N}";
    private readonly ConcurrentDictionary<ActivityTraceId, byte> _traces = new();
    private readonly ConcurrentQueue<Activity> _ended = new();
    private readonly ActivityListener _listener;

    public RequestActivityTests()
    {
        _listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "QuickSilver",
            // Those of other tests are not sampled, as their messages would carry traces.
            Sample = (ref ActivityCreationOptions<ActivityContext> options) =>
                options.Name.EndsWith(_name, StringComparison.Ordinal) || _traces.ContainsKey(options.Parent.TraceId)
                    ? ActivitySamplingResult.AllDataAndRecorded
                    : ActivitySamplingResult.None,
            ActivityStarted = activity => _traces.TryAdd(activity.TraceId, 0),
            ActivityStopped = _ended.Enqueue,
        };
        ActivitySource.AddActivityListener(_listener);
    }

    [Fact]
    public async Task A_request_is_a_client_activity_from_which_the_others_descend_and_none_is_named_by_a_node()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(_name, (request, _) => new(request.Value)).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>(_name).OrFail();
        var outer = Activity.Current;
        Assert.Equal("x", await requester.AskAsync("x").OrFail());
        Assert.Same(outer, Activity.Current);
        await Patience.Until(() => _ended.Any(static one => one.OperationName == "publish quicksilver/inbox/{node}"));
        var asked = Single($"request {_name}");
        Assert.Equal((ActivityKind.Client, ActivityStatusCode.Unset), (asked.Kind, asked.Status));
        Assert.Equal("answered", asked.GetTagItem("quicksilver.request.outcome"));
        Assert.Equal(_name, asked.GetTagItem("messaging.destination.name"));
        Assert.Null(asked.GetTagItem("error.type"));
        var sent = Single($"publish {_name}");
        Assert.Equal(asked.SpanId, sent.ParentSpanId);
        await Patience.Until(() => _ended.Any(one => one.OperationName == $"process {_name}"));
        Assert.Equal(sent.SpanId, Single($"process {_name}").ParentSpanId);
        var answer = Single("publish quicksilver/inbox/{node}");
        Assert.Equal(true, answer.GetTagItem("messaging.destination.temporary"));
        Assert.Equal("quicksilver/inbox/{node}", answer.GetTagItem("messaging.destination.template"));
        Assert.Null(answer.GetTagItem("messaging.destination.name"));
        Assert.DoesNotContain(_ended, one => one.DisplayName.Contains(node.Id.ToString(), StringComparison.Ordinal));
    }

    [Fact]
    public async Task The_activity_of_a_request_says_how_it_ended()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        await using var lonely = await node.OpenRequesterAsync<string, string>(
            _name, new RequesterOptions { WaitForResponder = TimeSpan.Zero }).OrFail();
        await Assert.ThrowsAsync<NoResponderException>(() => lonely.AskAsync("x")).OrFail();
        await lonely.DisposeAsync().AsTask().OrFail();

        using var cancellation = new CancellationTokenSource();
        await using var responder = await node.OpenResponderAsync<string, string>(_name, AnswerAsync).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>(
            _name, new RequesterOptions { MaxOutstanding = 1 }).OrFail();
        await requester.WaitForRespondersAsync(1).OrFail();
        await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("fail")).OrFail();
        await Assert.ThrowsAsync<RequestTimeoutException>(() => requester.AskAsync("wait", Short)).OrFail();
        var waiting = requester.AskAsync("wait", cancellation.Token);
        await Assert.ThrowsAsync<TooManyRequestsException>(() => requester.AskAsync("x")).OrFail();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting).OrFail();
        Assert.Single(await requester.AskAllAsync("x").OrFail());

        var asked = _ended.Where(one => one.OperationName == $"request {_name}").ToList();
        Assert.Equal(
            ["no_responder", "responder_failed", "timeout", "too_many", "cancelled", "answered"],
            asked.Select(static one => one.GetTagItem("quicksilver.request.outcome")));
        Assert.All(asked.SkipLast(1), static one => Assert.Equal(
            (ActivityStatusCode.Error, one.GetTagItem("quicksilver.request.outcome")), (one.Status, one.GetTagItem("error.type"))));

        static async ValueTask<string> AnswerAsync(Message<string> request, CancellationToken cancellationToken)
        {
            if (request.Value == "wait")
            {
                await Task.Delay(Timeout.Infinite, cancellationToken);
            }

            return request.Value == "fail" ? throw new InvalidOperationException("No.") : request.Value;
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_activity_of_a_handler_lasts_until_it_has_answered(bool isInline)
    {
        var go = new TaskCompletionSource();
        Activity? current = null;
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(
            _name,
            async (request, _) =>
            {
                await go.Task;
                current = Activity.Current;
                return request.Value;
            },
            new ResponderOptions { Inline = isInline }).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>(_name).OrFail();
        var asked = requester.AskAsync("x");
        await Patience.Until(() => _ended.Any(one => one.OperationName == $"publish {_name}"));
        Assert.False(asked.IsCompleted);
        Assert.DoesNotContain(_ended, one => one.OperationName == $"process {_name}");

        go.SetResult();
        Assert.Equal("x", await asked.OrFail());
        await Patience.Until(() => _ended.Any(one => one.OperationName == $"process {_name}"));
        var handled = Single($"process {_name}");
        Assert.Same(handled, current);
        Assert.Equal((ActivityStatusCode.Unset, null), (handled.Status, handled.GetTagItem("error.type")));
        await Patience.Until(() => _ended.Any(static one => one.OperationName == "publish quicksilver/inbox/{node}"));
        Assert.Equal(handled.SpanId, Single("publish quicksilver/inbox/{node}").ParentSpanId);
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task An_exception_of_a_handler_is_the_error_of_its_activity(bool isInline, bool waits)
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(
            _name,
            waits ? ThrowLaterAsync : static (_, _) => throw new InvalidOperationException("No."),
            new ResponderOptions { Inline = isInline }).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>(_name).OrFail();
        await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("x")).OrFail();
        await Patience.Until(() => _ended.Any(one => one.OperationName == $"process {_name}"));
        var handled = Single($"process {_name}");
        Assert.Equal((ActivityStatusCode.Error, "No."), (handled.Status, handled.StatusDescription));
        Assert.Equal("System.InvalidOperationException", handled.GetTagItem("error.type"));

        static async ValueTask<string> ThrowLaterAsync(Message<string> request, CancellationToken cancellationToken)
        {
            await Task.Yield();
            throw new InvalidOperationException("No.");
        }
    }

    public void Dispose() => _listener.Dispose();

    private Activity Single(string name) => Assert.Single(_ended, one => one.OperationName == name);
}
