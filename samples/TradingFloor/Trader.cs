using System.Globalization;
using QuickSilver;
using QuickSilver.Groups;

namespace TradingFloor;

// A process that trades: a member of the group of the floor, which sends orders until the bell rings, and then leaves its book in a file.
internal static class Trader
{
    private const int OrdersPerSecond = 200;

    public static async Task<int> RunAsync(string cluster, string name, int seed, string bookFile)
    {
        var options = new QuickSilverOptions
        {
            Cluster = cluster,
            Name = name,
            Membership = new MembershipOptions { Mode = MembershipMode.Find },
        };
        await using var node = await QuickSilverNode.StartAsync(options);
        var book = new ReplicatedBook();
        await using var group = await node.OpenGroupAsync("floor", book);
        var commands = Task.Run(ReadBellAsync);
        var market = new Market(seed);
        using var pace = new PeriodicTimer(TimeSpan.FromSeconds(1.0 / OrdersPerSecond));
        for (int sent = 0; !book.Closed.IsCompleted && await pace.WaitForNextTickAsync(); sent++)
        {
            if (commands.IsCompleted)
            {
                // All get it at the same place in the order, whichever trader rings.
                await group.SendAsync(Order.Bell);
                break;
            }

            await group.SendAsync(market.Draw());
            if (sent % (OrdersPerSecond / 4) == 0 && book.View is { } view)
            {
                Console.WriteLine(string.Create(
                    CultureInfo.InvariantCulture,
                    $"status {view.Number} {view.RankOf(node.Id)} {view.Members.Count} {book.Orders} {book.Trades}"));
            }
        }

        await File.WriteAllBytesAsync(bookFile, await book.Closed);
        Console.WriteLine("closed");
        // The others may still need what this node has sent.
        await group.DrainAsync();
        return 0;
    }

    private static async Task ReadBellAsync()
    {
        while (await Console.In.ReadLineAsync() is { } line && line != "bell")
        {
        }
    }
}
