// A project of an Aspire application, for tests: publishes or consumes one topic of the cluster "bus".
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver;
using QuickSilver.Hosting;

var builder = Host.CreateApplicationBuilder(args);
var quicksilver = builder.AddQuickSilver("bus");
if (args is ["publish"])
{
    quicksilver.AddPublisher<string>("greetings");
    builder.Services.AddHostedService<Greeter>();
}
else
{
    quicksilver.AddConsumer<string, Listener>("greetings");
}

await builder.Build().RunAsync();

internal sealed class Greeter(ITopicPublisher<string> greetings) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        await greetings.WaitForSubscribersAsync(1, stoppingToken);
        await greetings.PublishAsync("hello", PublishCompletion.Stable, stoppingToken);
        Console.WriteLine("published hello");
    }
}

internal sealed class Listener : IConsumer<string>
{
    public ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken)
    {
        Console.WriteLine($"consumed {message.Value}");
        return default;
    }
}
