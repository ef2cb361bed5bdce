using QuickSilver;

namespace OrderBook.Tests;

/// <summary>
/// The application: every node keeps a copy of the book, one node places orders, and another cancels at once each order that it
/// sees above a limit. It knows nothing of the simulator; on a machine it would run on a node from QuickSilverNode.StartAsync,
/// with TimeProvider.System.
/// </summary>
internal sealed class Exchange(ITopic<OrderEvent> orders, TimeProvider time)
{
    private const int PriceLimit = 100;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(2);

    /// <summary>The number of the last order that was placed here; they begin with 1.</summary>
    public int LastPlaced { get; private set; }

    public static async Task<Exchange> OpenAsync(QuickSilverNode node, TimeProvider time, IBook book)
    {
        var orders = await node.OpenTopicAsync<OrderEvent>("orders");
        orders.SubscribeInline((in message) => book.Apply(message.Value));
        return new Exchange(orders, time);
    }

    public async Task PlaceAsync(int count, int members, Random random)
    {
        await orders.WaitForSubscribersAsync(members);
        while (LastPlaced < count)
        {
            await orders.PublishAsync(new OrderEvent(++LastPlaced, random.Next(2 * PriceLimit), IsCancellation: false));
            await Task.Delay(Pause, time);
        }
    }

    public async Task WatchLimitAsync()
    {
        await foreach (var message in orders.ReadAllAsync())
        {
            if (message.Value is { IsCancellation: false, Price: > PriceLimit } order)
            {
                await orders.PublishAsync(order with { IsCancellation = true });
            }
        }
    }
}
