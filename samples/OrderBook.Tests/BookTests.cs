using QuickSilver.Simulation;

namespace OrderBook.Tests;

// How one tests an application on QuickSilver: whole nodes in virtual time, under faults that are drawn from a seed.
public sealed class BookTests
{
    private const int Maker = 0;
    private const int Watch = 1;
    private const int Orders = 300;

    private static readonly SimulationOptions Options = new()
    {
        Nodes = 5,
        // A node that crashed would come back without a book; that is for an application with snapshots.
        Faults = new FaultPlan { Kinds = FaultKinds.Loss | FaultKinds.Reordering | FaultKinds.Pause, Until = TimeSpan.FromSeconds(1) },
    };

    [Fact]
    public void All_copies_of_a_careful_book_agree() => Simulate.ManySeeds(20, Options, cluster => Trade(cluster, () => new CarefulBook()));

    [Fact]
    public void The_simulator_finds_the_book_that_trusts_order_between_senders()
    {
        var found = Assert.Throws<SimulationException>(
            () => Simulate.ManySeeds(200, Options, cluster => Trade(cluster, () => new TrustingBook())));
        Assert.Contains("all copies of the book agree", found.Message, StringComparison.Ordinal);
        Assert.StartsWith($"QS_SEEDS=1 QS_FIRST_SEED={found.Seed} dotnet test", found.Replay, StringComparison.Ordinal);
    }

    private static void Trade(SimulatedCluster cluster, Func<IBook> open)
    {
        var books = new IBook[cluster.Nodes.Count];
        Exchange? maker = null;
        cluster.Start(async node =>
        {
            var book = books[node.Number] = open();
            var exchange = await Exchange.OpenAsync(node.Node, node.Time, book);
            switch (node.Number)
            {
                case Maker:
                    maker = exchange;
                    await exchange.PlaceAsync(Orders, books.Length, node.Random);
                    break;
                case Watch:
                    await exchange.WatchLimitAsync();
                    break;
            }
        });

        // What must hold at every moment, what breaks, and what must come to be when nothing is broken any more.
        cluster.Always(
            "no copy has an order that was not placed",
            () => books.All(book => book.Open.Count == 0 || book.Open.Max <= maker?.LastPlaced));
        cluster.RunFaults();
        cluster.Eventually("all orders are placed", () => maker?.LastPlaced == Orders);
        cluster.Eventually(
            "all copies of the book agree",
            () => books.All(book => book.Open.SetEquals(books[Watch].Open)),
            timeout: TimeSpan.FromSeconds(10));
    }
}
