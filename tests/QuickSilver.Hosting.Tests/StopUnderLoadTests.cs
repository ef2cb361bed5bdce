using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

// I25, of hosts with nodes on the machine's own sockets: two thousand messages are stable, and the consumer takes 2 ms for each. About half
// of them are handled before all are stable, because so many more than the reader's buffer takes were published.
public sealed class StopUnderLoadTests
{
    private const int Messages = 2000;

    [Theory]
    [InlineData(1)]
    [InlineData(120)]
    public async Task A_host_that_stops_handles_or_reports_each_message_that_was_stable(int limitSeconds)
    {
        string cluster = $"stop {Guid.NewGuid():N}";
        var logs = new RecordingLogs();
        long handled = 0;
        long reported = 0;
        var ended = new TaskCompletionSource<SubscriptionEnd>(TaskCreationOptions.RunContinuationsAsynchronously);
        var builder = Host.CreateApplicationBuilder();
        builder.Services.AddSingleton<Microsoft.Extensions.Logging.ILoggerFactory>(logs);
        builder.Services.Configure<HostOptions>(static options => options.ShutdownTimeout = TimeSpan.FromMinutes(3));
        builder.Services
            .AddQuickSilver(options => options.Cluster = cluster)
            .ConfigureHosting(options => options.ConsumerLimit = TimeSpan.FromSeconds(limitSeconds))
            .AddSubscriber<string>("work");
        using var host = builder.Build();
        await host.StartAsync();
        var consumption = host.Services.GetRequiredService<ITopicSubscriber<string>>().Subscribe(
            async (_, stop) =>
            {
                await Task.Delay(2, stop);
                Interlocked.Increment(ref handled);
            },
            new ConsumerOptions<string>
            {
                OnGap = gap => Interlocked.Add(ref reported, gap.Count),
                OnEnded = ended.SetResult,
            });

        await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = cluster });
        await using var publisher = await node.OpenPublisherAsync<string>("work");
        await publisher.WaitForSubscribersAsync(1).OrFail();
        var stable = new List<Task>();
        for (int i = 0; i < Messages; i++)
        {
            stable.Add(publisher.PublishAsync($"{i}", PublishCompletion.Stable).AsTask());
        }

        await Task.WhenAll(stable).OrFail();
        await host.StopAsync();
        var end = await ended.Task.OrFail();

        Assert.Equal(Messages, handled + reported);
        Assert.Equal(consumption.Handled, handled);
        Assert.Equal(reported, end.Unhandled);
        Assert.Equal(limitSeconds == 1, reported > 0);
        var warnings = logs.Entries.Where(static entry => entry.Id == 1650).ToList();
        Assert.Equal(limitSeconds == 1 ? 1 : 0, warnings.Count);
        Assert.All(warnings, entry => Assert.Contains($"had come were handled ({reported}): ", entry.Text));
        Assert.Contains(logs.Entries, entry => entry.Id == 1605 && entry.Text.Contains($"{handled} delivered, {reported} not handled"));
    }
}
