using System.Runtime.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver;
using QuickSilver.Hosting;

// A sensor in one process, and the archive of what it reads in another: worker publish|consume CLUSTER
var builder = Host.CreateApplicationBuilder(args);
var cluster = builder.Services.AddQuickSilver(options => options.Cluster = args[1]);
if (args[0] == "consume")
{
    cluster.AddConsumer<Reading, Archive>("readings");
}
else
{
    cluster.AddPublisher<Reading>("readings");
    builder.Services.AddHostedService<Sensor>();
}

await builder.Build().RunAsync();

public sealed class Sensor(ITopicPublisher<Reading> readings) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        for (int i = 1; ; i++)
        {
            await readings.PublishAsync(new Reading("cellar", i), stoppingToken);
            await Task.Delay(100, stoppingToken);
        }
    }
}

public sealed class Archive : IConsumer<Reading>
{
    public async ValueTask ConsumeAsync(Message<Reading> message, CancellationToken cancellationToken)
    {
        await Console.Out.WriteLineAsync($"{message.Value.Place}: {message.Value.Value}");
    }
}

[DataContract]
public sealed record Reading([property: DataMember(Order = 1)] string Place, [property: DataMember(Order = 2)] double Value);
