using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using QuickSilver;
using QuickSilver.Hosting;

namespace StopNode;

internal static class HostedConsumer
{
    public static async Task RunAsync(Settings settings)
    {
        var consumption = new Account(settings);
        var builder = Host.CreateApplicationBuilder();
        builder.Services.AddSingleton<ILoggerFactory>(settings.Logs);
        builder.Services.AddSingleton(consumption);
        builder.Services.AddQuickSilver(settings.Set).AddConsumer<string, Consumer>(Settings.Topic, consumption.Options);
        builder.Services.Configure<QuickSilverHostingOptions>(options => options.ConsumerLimit = settings.Limit);
        using var host = builder.Build();
        await host.StartAsync();
        await host.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync();
        await host.WaitForShutdownAsync();
        consumption.Report();
    }

    private sealed class Consumer(Account account) : IConsumer<string>
    {
        public ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken) =>
            account.HandleAsync(cancellationToken);
    }
}

internal static class BareConsumer
{
    public static async Task RunAsync(Settings settings)
    {
        var account = new Account(settings);
        var node = await settings.StartAsync();
        var subscriber = await node.OpenSubscriberAsync<string>(Settings.Topic);
        var consumption = subscriber.Subscribe((_, stop) => account.HandleAsync(stop), account.Options);
        string? verb = await Console.In.ReadLineAsync();
        switch (verb)
        {
            case "stop":
                using (var limit = new CancellationTokenSource(settings.Limit))
                {
                    await StopAsync(consumption, limit.Token);
                }

                break;
            case "consumption":
                await consumption.DisposeAsync();
                break;
            case "cancel":
                subscriber.Cancel();
                break;
            default:
                break;
        }

        if (verb != "node")
        {
            await subscriber.DisposeAsync();
        }

        await node.DisposeAsync();
        await account.Ended;
        account.Report();
    }

    private static async Task StopAsync(IConsumption consumption, CancellationToken limit)
    {
        try
        {
            await consumption.StopAsync(limit);
        }
        catch (OperationCanceledException)
        {
            // What is left is reported.
        }
    }
}

// What a consumer has handled, and what was reported to it as not coming.
internal sealed class Account
{
    private readonly TimeSpan _each;
    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private long _handled;
    private long _told;

    public Account(Settings settings)
    {
        _each = TimeSpan.FromMilliseconds(settings.Number);
        Options = new ConsumerOptions<string>
        {
            OnGap = gap => Interlocked.Add(ref _told, gap.Count),
            OnEnded = _ => _ended.TrySetResult(),
            OnError = ConsumerErrors.Skip,
        };
    }

    public ConsumerOptions<string> Options { get; }

    public Task Ended => _ended.Task;

    // A call whose token is cancelled has been handled all the same: it was begun, and no other call gets the message.
    public async ValueTask HandleAsync(CancellationToken stop)
    {
        if (Interlocked.Increment(ref _handled) == 1)
        {
            Console.Error.WriteLine("handling");
        }

        await Task.Delay(_each, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    public void Report() => Console.Out.WriteLine(string.Create(
        CultureInfo.InvariantCulture, $"handled {Interlocked.Read(ref _handled)} reported {Interlocked.Read(ref _told)}"));
}
