using QuickSilver;

namespace LivePrices;

// Publishes prices that walk at random. In production, another process does this.
internal sealed class Market(ITopicPublisher<Price> prices) : BackgroundService
{
    private static readonly string[] Symbols = ["MSFT", "AAPL", "NVDA"];

    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        decimal[] values = [420m, 230m, 140m];
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(200));
        while (await timer.WaitForNextTickAsync(stoppingToken))
        {
            int which = Random.Shared.Next(Symbols.Length);
            values[which] += Random.Shared.Next(-50, 51) / 100m;
            await prices.PublishAsync(new Price(Symbols[which], values[which]), stoppingToken);
        }
    }
}
