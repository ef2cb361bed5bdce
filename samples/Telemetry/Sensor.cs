using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using QuickSilver;

namespace Telemetry;

// Publishes a reading in each interval. A publisher that is injected can be used at once: its calls wait until the node has joined.
internal sealed class Sensor(ITopicPublisher<Reading> readings, IConfiguration configuration, TimeProvider time) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        string name = configuration["Sensor:Name"] ?? "sensor";
        var interval = configuration.GetValue("Sensor:Interval", TimeSpan.FromSeconds(1));
        using var timer = new PeriodicTimer(interval, time);
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            double celsius = Math.Round(20 + (Random.Shared.NextDouble() * 10), 1);
            await readings.PublishAsync(new Reading(name, celsius, time.GetUtcNow()), stoppingToken);
        }
    }
}
