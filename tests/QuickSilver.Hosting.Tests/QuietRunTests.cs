using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

// An ordinary run of a host and other nodes has nothing to warn of: what does warn is then seen.
public sealed class QuietRunTests
{
    private const int Messages = 500;

    private readonly InMemoryNetwork _network = new();
    private readonly RecordingLogs _logs = new();
    private int _handled;

    [Fact]
    public async Task An_ordinary_start_and_stop_of_a_host_a_publisher_and_a_consumer_warns_of_nothing()
    {
        using (var host = Build())
        {
            await host.StartAsync().OrFail();
            await using var publisherNode = await _network.StartNodeAsync(loggerFactory: _logs).OrFail();
            await using var consumerNode = await _network.StartNodeAsync(loggerFactory: _logs).OrFail();
            await using var subscriber = await consumerNode.OpenSubscriberAsync<string>("prices").OrFail();
            await using var consumption = subscriber.Subscribe(Handle);
            await using var publisher = await publisherNode.OpenPublisherAsync<string>("prices").OrFail();
            await publisher.WaitForSubscribersAsync(2).OrFail();
            await using var requester = await publisherNode.OpenRequesterAsync<string, string>("echo").OrFail();
            await requester.WaitForRespondersAsync(1).OrFail();
            for (int i = 0; i < Messages; i++)
            {
                await publisher.PublishAsync($"{i}").OrFail();
            }

            Assert.Equal("x", await requester.AskAsync("x").OrFail());
            await Patience.Until(() => Volatile.Read(ref _handled) == 2 * Messages);
            await consumption.StopAsync().OrFail();
            await host.StopAsync().OrFail();
            await publisherNode.DrainAsync().OrFail();
        }

        Assert.Contains(_logs.Entries, static entry => entry.Level == LogLevel.Information);
        Assert.Empty(_logs.Entries.Where(static entry => entry.Level >= LogLevel.Warning).Select(static entry => (entry.Id, entry.Text)));
    }

    private IHost Build()
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.Services.AddSingleton<ILoggerFactory>(_logs);
        builder.Services.AddSingleton(this);
        builder.Services.AddQuickSilver().AddConsumer<string, Counter>("prices").AddResponder<string, string, Echo>("echo");
        builder.Services.UseInMemoryQuickSilver(_network);
        return builder.Build();
    }

    private ValueTask Handle(Message<string> message, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _handled);
        return default;
    }

    private sealed class Counter(QuietRunTests tests) : IConsumer<string>
    {
        public ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken) =>
            tests.Handle(message, cancellationToken);
    }

    private sealed class Echo : IRequestHandler<string, string>
    {
        public ValueTask<string> HandleAsync(Message<string> request, CancellationToken cancellationToken) => new(request.Value);
    }
}
