using QuickSilver;

namespace TradingFloor;

// The floor: starts traders as processes, kills the one that orders, starts it again, rings the bell, and compares the books byte by byte.
internal static class Floor
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    public static async Task<int> RunAsync(int traders, TimeSpan time, int seed)
    {
        string cluster = $"floor-{Guid.NewGuid():N}";
        string folder = Directory.CreateTempSubdirectory("trading-floor-").FullName;
        // This node hosts the membership service, which outlives the traders.
        var options = new QuickSilverOptions { Cluster = cluster, Membership = new MembershipOptions { Mode = MembershipMode.Host } };
        await using var node = await QuickSilverNode.StartAsync(options);
        var all = new List<TraderProcess>();
        try
        {
            for (int number = 0; number < traders; number++)
            {
                all.Add(Start(number));
                await all[^1].Ready.WaitAsync(Patience);
            }

            await new FloorTable(all).ShowUntilAsync(TradeAsync());
            return Compare(all);
        }
        finally
        {
            all.ForEach(static one => one.Dispose());
            Directory.Delete(folder, recursive: true);
        }

        TraderProcess Start(int number) =>
            new(cluster, $"trader-{number + 1}", seed + number, Path.Combine(folder, $"book-{number}-{Guid.NewGuid():N}"));

        async Task TradeAsync()
        {
            await Task.Delay(time / 3);
            // The oldest member decides the order of all. The next one takes over.
            all[0].Kill();
            await Task.Delay(time / 3);
            all[0].Dispose();
            all[0] = Start(0);
            await all[0].Ready.WaitAsync(Patience);
            await Task.Delay(time / 3);
            all[^1].Ring();
            foreach (var trader in all)
            {
                if (!await trader.EndsWithinAsync(Patience))
                {
                    throw new InvalidOperationException($"{trader.Name} did not close its book.");
                }
            }
        }
    }

    private static int Compare(List<TraderProcess> traders)
    {
        byte[][] books = [.. traders.Select(static trader => File.ReadAllBytes(trader.BookFile))];
        bool areEqual = books.All(book => book.AsSpan().SequenceEqual(books[0]));
        Console.WriteLine(areEqual
            ? $"The books of {books.Length} traders are equal, byte by byte: {BitConverter.ToInt64(books[0])} orders in "
                + $"{books[0].Length} bytes."
            : "The books differ.");
        return areEqual ? 0 : 1;
    }
}
