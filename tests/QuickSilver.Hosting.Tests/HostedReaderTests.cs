using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

// I25, of readers in the services of a host: a host that stops lets them read what was acknowledged, or its log has the exact number.
public sealed class HostedReaderTests
{
    private const string Name = "t";

    private readonly InMemoryNetwork _network = new();
    private readonly RecordingLogs _logs = new();
    private readonly Reading _reading = new();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_reader_ends_in_order_when_its_host_stops_while_messages_come(bool passesToken)
    {
        _reading.PassesToken = passesToken;
        using var host = Build();
        await using var node = await _network.StartNodeAsync();
        await using var publisher = await node.OpenPublisherAsync<string>(Name).OrFail();
        await host.StartAsync().OrFail();
        await publisher.WaitForSubscribersAsync(1).OrFail();
        using var enough = new CancellationTokenSource();
        var publishing = Task.Run(async () =>
        {
            while (!enough.IsCancellationRequested)
            {
                await publisher.PublishAsync("a message");
            }
        });
        await Patience.Until(() => _reading.Read > 1000);

        await host.StopAsync().OrFail();
        Assert.Null(await _reading.Ended.Task.OrFail());
        await enough.CancelAsync();
        await publishing.OrFail();
        Assert.Empty(_logs.Entries.Where(static entry => entry.Level >= LogLevel.Warning).Select(static entry => (entry.Id, entry.Text)));
    }

    [Fact]
    public async Task A_reader_gets_each_message_that_was_stable_before_its_host_stopped()
    {
        _reading.Gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var host = Build();
        await PublishAsync(host, 500);

        var stopping = host.StopAsync();
        Assert.False(stopping.IsCompleted);
        _reading.Gate.SetResult();
        await stopping.OrFail();
        Assert.Equal((500, 0), (_reading.Read, _reading.Missed));
        Assert.DoesNotContain(_logs.Entries, static entry => entry.Level >= LogLevel.Warning);
    }

    [Fact]
    public async Task A_reader_that_stands_still_ends_at_the_limit_and_what_it_has_not_read_is_reported()
    {
        _reading.Gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var host = Build(TimeSpan.FromMilliseconds(100));
        await PublishAsync(host, 500);

        var stopping = host.StopAsync();
        await Patience.Until(() => _logs.Entries.Any(static entry => entry.Id == 1940));
        _reading.Gate.SetResult();
        await stopping.OrFail();
        Assert.Null(await _reading.Ended.Task.OrFail());
        Assert.Equal((1, 499), (_reading.Read, _reading.Missed));
        Assert.Equal(
            "The host is stopping before the readers of \"t\" have read what had come for them. The rest is dropped. "
            + "To wait longer, raise Hosting:ConsumerLimit, which is 00:00:00.1000000.",
            Assert.Single(_logs.Entries, static entry => entry.Id == 1940).Text);
        Assert.Contains("were handled (499)", Assert.Single(_logs.Entries, static entry => entry.Id == 1650).Text);
    }

    [Fact]
    public async Task A_reader_whose_topic_is_not_open_ends_when_its_host_stops()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddSubscriber<string>(Name))
        {
            HoldsStarts = true,
        };
        await using var reader = hosted.Host.Services.GetRequiredService<ITopicSubscriber<string>>().ReadAllAsync().GetAsyncEnumerator();
        await hosted.Host.StartAsync().OrFail();
        var read = reader.MoveNextAsync().AsTask();
        await hosted.Host.StopAsync().OrFail();
        Assert.False(await read.OrFail());
    }

    [Fact]
    public async Task A_reader_that_begins_while_its_host_stops_waits_for_its_token_or_the_end_of_the_host()
    {
        var late = new LateReader();
        using var host = Build(more: services => services.AddSingleton(late).AddHostedService(static provider =>
        {
            var service = provider.GetRequiredService<LateReader>();
            service.Topic = provider.GetRequiredService<ITopicSubscriber<string>>();
            return service;
        }));
        await PublishAsync(host, 1);
        await Patience.Until(() => _reading.Read == 1);
        await host.StopAsync().OrFail();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => late.Cancelled!).OrFail();
        Assert.False(await late.Uncancelled!.OrFail());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => late.BeginAsync(default)).OrFail();
    }

    private IHost Build(TimeSpan? limit = null, Action<IServiceCollection>? more = null)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.Services.AddSingleton<ILoggerFactory>(_logs);
        builder.Services.Configure<HostOptions>(static options => options.ShutdownTimeout = TimeSpan.FromHours(1));
        builder.Services.AddSingleton(_reading).AddHostedService<Reader>();
        more?.Invoke(builder.Services);
        builder.Services.AddQuickSilver().AddSubscriber<string>(Name)
            .ConfigureHosting(options => options.ConsumerLimit = limit ?? TimeSpan.FromHours(1));
        builder.Services.UseInMemoryQuickSilver(_network);
        return builder.Build();
    }

    private async Task PublishAsync(IHost host, int count)
    {
        await host.StartAsync().OrFail();
        await using var node = await _network.StartNodeAsync();
        await using var publisher = await node.OpenPublisherAsync<string>(Name).OrFail();
        await publisher.WaitForSubscribersAsync(1).OrFail();
        for (int i = 0; i < count; i++)
        {
            await publisher.PublishAsync("a message", PublishCompletion.Stable).OrFail();
        }

        await Patience.Until(() => _reading.Read > 0);
    }

    private sealed class Reading
    {
        private int _read;
        private long _missed;

        public bool PassesToken { get; set; }

        public TaskCompletionSource? Gate { get; set; }

        public TaskCompletionSource<Exception?> Ended { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public int Read => Volatile.Read(ref _read);

        public long Missed => Volatile.Read(ref _missed);

        public void CountRead() => Interlocked.Increment(ref _read);

        public void CountMissed(GapNotice gap) => Interlocked.Add(ref _missed, gap.Reason == GapReason.SubscriberEnded ? gap.Count : 0);
    }

    private sealed class Reader(ITopicSubscriber<string> topic, Reading reading) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            try
            {
                var token = reading.PassesToken ? stoppingToken : default;
                await foreach (var message in topic.ReadAllAsync(reading.CountMissed, token))
                {
                    reading.CountRead();
                    await (reading.Gate?.Task ?? Task.CompletedTask);
                }

                reading.Ended.SetResult(null);
            }
            catch (Exception exception)
            {
                reading.Ended.SetResult(exception);
            }
        }
    }

    // Reads when the readers of the host have ended.
    private sealed class LateReader : IHostedService
    {
        public ITopicSubscriber<string>? Topic { get; set; }

        public Task<bool>? Cancelled { get; private set; }

        public Task<bool>? Uncancelled { get; private set; }

        public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public async Task StopAsync(CancellationToken cancellationToken)
        {
            using var own = new CancellationTokenSource();
            Cancelled = BeginAsync(own.Token);
            Uncancelled = BeginAsync(default);
            Assert.False(Cancelled.IsCompleted);
            await own.CancelAsync();
        }

        public async Task<bool> BeginAsync(CancellationToken cancellationToken)
        {
            await using var reader = Topic!.ReadAllAsync(cancellationToken: cancellationToken).GetAsyncEnumerator(CancellationToken.None);
            return await reader.MoveNextAsync();
        }
    }
}
