using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

// I25: what a host's publishers have accepted is handled elsewhere, or the host's end reports it with its exact number.
public sealed class HostStopLossTests
{
    private const string Name = "t";
    private const int Messages = 5000;

    private readonly InMemoryNetwork _network = new();
    private readonly RecordingLogs _logs = new();
    private readonly TaskCompletionSource _gate = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int _handled;

    [Fact]
    public async Task Messages_that_subscribers_do_not_take_in_time_are_reported_with_the_exact_number_and_the_option()
    {
        await using var subscriber = await _network.StartNodeAsync();
        await using var topic = await SubscribeAsync(subscriber);
        using var host = Build(("Hosting:DrainLimit", "00:00:00.1"));
        var publisher = await PublishAsync(host);

        await host.StopAsync().OrFail();
        Assert.InRange(publisher.Dropped, 1, Messages);
        var line = Assert.Single(_logs.Entries, static entry => entry.Id == 1660);
        Assert.Equal(LogLevel.Warning, line.Level);
        long dropped = publisher.Dropped;
        Assert.StartsWith($"Topic \"t\": {dropped} accepted messages may never arrive. {dropped} were not sent, ", line.Text);
        Assert.EndsWith(" To wait longer, raise Hosting:DrainLimit, which is 00:00:00.1000000.", line.Text);
        Assert.Contains(
            _logs.Entries, entry => entry.Id == 1605 && entry.Text.StartsWith(
                $"The node has stopped (messages: {Messages} accepted to publish, {Messages - publisher.Dropped} sent, ",
                StringComparison.Ordinal));

        _gate.SetResult();
        await Patience.Until(() => Volatile.Read(ref _handled) + publisher.Dropped == Messages);
    }

    [Fact]
    public async Task A_host_waits_for_slow_subscribers_for_as_long_as_it_may()
    {
        await using var subscriber = await _network.StartNodeAsync();
        await using var topic = await SubscribeAsync(subscriber);
        using var host = Build();
        var publisher = await PublishAsync(host);

        var stopping = host.StopAsync();
        _gate.SetResult();
        await stopping.OrFail();
        await Patience.Until(() => Volatile.Read(ref _handled) == Messages);
        Assert.Equal(0, publisher.Dropped);
        Assert.DoesNotContain(_logs.Entries, static entry => entry.Id is >= 1660 and <= 1669);
    }

    [Fact]
    public async Task A_host_whose_time_is_over_ends_its_node_all_the_same_and_reports_what_is_lost()
    {
        await using var subscriber = await _network.StartNodeAsync();
        await using var topic = await SubscribeAsync(subscriber);
        using var host = Build(("Hosting:DrainLimit", "01:00:00"));
        var publisher = await PublishAsync(host);
        using var over = new CancellationTokenSource();
        var stopping = host.StopAsync(over.Token);
        await over.CancelAsync();
        await Task.WhenAny(stopping).OrFail();
        // 1663 where the core thread got no processor for so long that the node ended without it.
        await Patience.Until(() => _logs.Entries.Any(static entry => entry.Id is 1660 or 1663));
        _gate.SetResult();
        await Patience.Until(() => Volatile.Read(ref _handled) + publisher.Dropped == Messages);
    }

    private async Task<ITopicSubscriber<string>> SubscribeAsync(QuickSilverNode node)
    {
        var topic = await node.OpenSubscriberAsync<string>(Name, new TopicOptions { ReaderCapacity = 64 }).OrFail();
        topic.Subscribe(async (_, _) =>
        {
            await _gate.Task;
            Interlocked.Increment(ref _handled);
        });
        return topic;
    }

    private IHost Build(params (string Key, string Value)[] settings)
    {
        var builder = Microsoft.Extensions.Hosting.Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.Services.AddSingleton<ILoggerFactory>(_logs);
        var added = settings.Length == 0
            ? builder.Services.AddQuickSilver()
            : builder.Services.AddQuickSilver(HostedNodes.Settings(settings));
        added.AddPublisher<string>(Name);
        builder.Services.UseInMemoryQuickSilver(_network);
        return builder.Build();
    }

    private static async Task<ITopicPublisher<string>> PublishAsync(IHost host)
    {
        await host.StartAsync().OrFail();
        var publisher = host.Services.GetRequiredService<ITopicPublisher<string>>();
        await publisher.WaitForSubscribersAsync(1).OrFail();
        for (int i = 0; i < Messages; i++)
        {
            await publisher.PublishAsync("a message").OrFail();
        }

        return publisher;
    }
}
