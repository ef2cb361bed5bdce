using QuickSilver;

namespace QuickSilverWorker;

public sealed class Sensor(ITopicPublisher<Reading> readings) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1));
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            await readings.PublishAsync(new Reading(Environment.MachineName, Random.Shared.NextDouble()), stoppingToken);
        }
    }
}
