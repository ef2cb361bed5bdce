using QuickSilver;

namespace QuickSilverWeb;

public sealed class Sensor(ITopicPublisher<Reading> readings) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        string name = $"web on {Environment.MachineName}";
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1));
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            await readings.PublishAsync(new Reading(name, Random.Shared.NextDouble()), stoppingToken);
        }
    }
}
