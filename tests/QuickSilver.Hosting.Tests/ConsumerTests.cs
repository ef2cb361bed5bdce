using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Hosting.Tests;

public sealed class ConsumerTests
{
    private readonly Journal _journal = new();

    [Fact]
    public async Task Each_message_has_a_scope_of_its_own()
    {
        await using var hosted = await StartAsync(ConsumerScope.Message);
        await DeliverAsync(hosted.Parts[^1], "a", "b", "c");
        await Patience.Until(() => _journal.Got.Count == 3 && _journal.Disposed.Count == 3);
        Assert.Equal(["a", "b", "c"], _journal.Got.Select(static got => got.Text));
        Assert.Equal([1, 2, 3], _journal.Got.Select(static got => got.Resource));
        Assert.Equal([1, 2, 3], _journal.Disposed);
    }

    [Fact]
    public async Task A_scope_per_consumer_lasts_until_the_host_stops()
    {
        await using var hosted = await StartAsync(ConsumerScope.Consumer);
        await DeliverAsync(hosted.Parts[^1], "a", "b");
        await Patience.Until(() => _journal.Got.Count == 2);
        Assert.Empty(_journal.Disposed);
        await StopAsync(hosted, hosted.Host.StopAsync());
        Assert.Equal([1, 1], _journal.Got.Select(static got => got.Resource));
        Assert.Equal([1], _journal.Disposed);
        Assert.Equal([SubscriptionEndReason.Disposed], _journal.Ends.Select(static end => end.Reason));
    }

    [Fact]
    public async Task A_host_that_stops_lets_the_consumer_handle_what_has_come()
    {
        _journal.Gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var hosted = await StartAsync(ConsumerScope.Message);
        await DeliverAsync(hosted.Parts[^1], "a", "b");
        await Patience.Until(() => _journal.Begun == 1);
        var stopping = hosted.Host.StopAsync();
        Assert.False(stopping.IsCompleted);
        _journal.Gate.SetResult();
        await StopAsync(hosted, stopping);
        Assert.Equal(["a", "b"], _journal.Got.Select(static got => got.Text));
        Assert.Equal(0, _journal.Ends.Single().Unhandled);
    }

    [Fact]
    public async Task A_consumer_that_does_not_return_is_cancelled_after_the_limit()
    {
        _journal.Gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var hosted = await StartAsync(ConsumerScope.Message);
        await DeliverAsync(hosted.Parts[^1], "a");
        await Patience.Until(() => _journal.Begun == 1);
        using var limit = new CancellationTokenSource();
        var stopping = hosted.Host.StopAsync(limit.Token);
        Assert.False(stopping.IsCompleted);
        await limit.CancelAsync();
        await Record.ExceptionAsync(() => StopAsync(hosted, stopping));
        await Patience.Until(() => _journal.Cancelled == 1);
        await Patience.Until(() => !_journal.Ends.IsEmpty);
    }

    [Fact]
    public async Task A_consumer_that_stopped_by_an_error_shows_in_health_with_topic_type_and_exception()
    {
        await using var hosted = await StartAsync(ConsumerScope.Message, new ConsumerOptions<string> { OnError = ConsumerErrors.Stop });
        await DeliverAsync(hosted.Parts[^1], "bad");
        await Patience.Until(() => hosted.CheckAsync("ready").Result.Status == HealthStatus.Unhealthy);
        string reason = (await hosted.CheckAsync("ready")).Description!;
        Assert.Contains(typeof(RecordingConsumer).FullName!, reason);
        Assert.Contains("\"t\"", reason);
        Assert.Contains("System.IO.InvalidDataException: it is bad", reason);
        Assert.Equal([SubscriptionEndReason.ConsumerFailed], _journal.Ends.Select(static end => end.Reason));
    }

    [Fact]
    public async Task Skipped_messages_come_to_the_consumer_as_dead_letters()
    {
        await using var hosted = await StartAsync(ConsumerScope.Message);
        await DeliverAsync(hosted.Parts[^1], "bad", "good");
        await Patience.Until(() => _journal.Got.Count == 1);
        Assert.Equal(["bad"], _journal.Dead);
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("ready")).Status);
    }

    [Fact]
    public async Task A_consumer_continues_on_the_next_node()
    {
        await using var hosted = await StartAsync(ConsumerScope.Message);
        var first = hosted.Parts[^1];
        await DeliverAsync(first, "a");
        await Patience.Until(() => _journal.Got.Count == 1);
        await first.Core.RunAsync(() => first.Service.Observer!.OnExpelled("it was silent"));
        await hosted.Time.RunUntilAsync(first.Time.RunUntilAsync(Patience.Until(() => first.IsStopped)));
        await hosted.Time.RunUntilAsync(Patience.Until(() => hosted.Parts.Length == 2));
        await Patience.Until(() => hosted.CheckAsync("ready").Result.Status == HealthStatus.Healthy);
        await DeliverAsync(hosted.Parts[^1], "b");
        await Patience.Until(() => _journal.Got.Count == 2);
        Assert.Empty(_journal.Ends);
        await StopAsync(hosted, hosted.Host.StopAsync());
        Assert.Single(_journal.Ends);
    }

    private async Task<HostedNodes> StartAsync(ConsumerScope scope, ConsumerOptions<string>? options = null)
    {
        var hosted = new HostedNodes(builder =>
        {
            builder.Services.AddSingleton(_journal).AddScoped<Resource>();
            builder.Services.AddQuickSilver().AddConsumer<string, RecordingConsumer>("t", options, scope);
        });
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        await Patience.Until(() => hosted.CheckAsync("ready").Result.Status == HealthStatus.Healthy);
        return hosted;
    }

    // The node waits for clocks that only tests move.
    private static Task StopAsync(HostedNodes hosted, Task stopping) => hosted.Parts[^1].Time.RunUntilAsync(stopping).OrFail();

    private static Task DeliverAsync(FakeParts parts, params string[] texts) => parts.Core.RunAsync(() =>
    {
        for (int i = 0; i < texts.Length; i++)
        {
            Assert.True(parts.ReceiverOf("t").Deliver(i + 1, System.Text.Encoding.UTF8.GetBytes(texts[i])));
        }
    });

    private sealed class Journal
    {
        private int _resources;
        private int _begun;
        private int _cancelled;

        public ConcurrentQueue<(string Text, int Resource)> Got { get; } = new();

        public ConcurrentQueue<string> Dead { get; } = new();

        public ConcurrentQueue<int> Disposed { get; } = new();

        public ConcurrentQueue<SubscriptionEnd> Ends { get; } = new();

        public TaskCompletionSource? Gate { get; set; }

        public int Begun => Volatile.Read(ref _begun);

        public int Cancelled => Volatile.Read(ref _cancelled);

        public int NextResource() => Interlocked.Increment(ref _resources);

        public void Begin() => Interlocked.Increment(ref _begun);

        public void Cancel() => Interlocked.Increment(ref _cancelled);
    }

    // A scoped service that the consumer uses.
    private sealed class Resource(Journal journal) : IDisposable
    {
        private int _number;

        public int Number => _number == 0 ? _number = journal.NextResource() : _number;

        public void Dispose()
        {
            if (_number != 0)
            {
                journal.Disposed.Enqueue(_number);
            }
        }
    }

    private sealed class RecordingConsumer(Journal journal, Resource resource) : IConsumer<string>
    {
        public async ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken)
        {
            journal.Begin();
            if (journal.Gate is { } gate)
            {
                try
                {
                    await gate.Task.WaitAsync(cancellationToken);
                }
                catch (OperationCanceledException)
                {
                    journal.Cancel();
                    throw;
                }
            }

            if (message.Value == "bad")
            {
                throw new InvalidDataException("it is bad");
            }

            journal.Got.Enqueue((message.Value, resource.Number));
        }

        public ValueTask OnDeadLetterAsync(DeadLetter<string> letter, CancellationToken cancellationToken)
        {
            journal.Dead.Enqueue(letter.Message.Value);
            return default;
        }

        public void OnEnded(SubscriptionEnd end) => journal.Ends.Enqueue(end);
    }
}
