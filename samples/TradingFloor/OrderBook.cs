namespace TradingFloor;

// The open orders of all stocks, and what was traded. Orders of one price are filled in the order in which they came. So two books are
// equal exactly if they got the same orders in the same order.
internal sealed class OrderBook
{
    private readonly SortedDictionary<string, Stock> _stocks = new(StringComparer.Ordinal);

    public long Orders { get; private set; }

    public long Trades { get; private set; }

    public void Add(Order order)
    {
        if (!_stocks.TryGetValue(order.Symbol, out var stock))
        {
            stock = _stocks[order.Symbol] = new Stock();
        }

        Orders++;
        var (own, others) = order.IsBuy ? (stock.Bids, stock.Asks) : (stock.Asks, stock.Bids);
        int left = order.Shares;
        while (left > 0 && others.Count > 0 && Crosses(order, others.Peek().Cents))
        {
            var best = others.Dequeue();
            int traded = Math.Min(left, best.Shares);
            left -= traded;
            stock.Traded += traded;
            stock.LastCents = best.Cents;
            Trades++;
            if (best.Shares > traded)
            {
                Enqueue(others, best with { Shares = best.Shares - traded }, isBid: !order.IsBuy);
            }
        }

        if (left > 0)
        {
            Enqueue(own, new Resting(Orders, order.Cents, left), order.IsBuy);
        }
    }

    public void Write(BinaryWriter writer)
    {
        writer.Write(Orders);
        writer.Write(Trades);
        writer.Write(_stocks.Count);
        foreach (var (symbol, stock) in _stocks)
        {
            writer.Write(symbol);
            writer.Write(stock.Traded);
            writer.Write(stock.LastCents);
            Write(writer, stock.Bids);
            Write(writer, stock.Asks);
        }
    }

    public void Read(BinaryReader reader)
    {
        _stocks.Clear();
        Orders = reader.ReadInt64();
        Trades = reader.ReadInt64();
        for (int stocks = reader.ReadInt32(); stocks > 0; stocks--)
        {
            var stock = _stocks[reader.ReadString()] = new Stock { Traded = reader.ReadInt64(), LastCents = reader.ReadInt64() };
            Read(reader, stock.Bids, isBid: true);
            Read(reader, stock.Asks, isBid: false);
        }
    }

    private static bool Crosses(Order order, long cents) => order.IsBuy ? cents <= order.Cents : cents >= order.Cents;

    private static void Enqueue(PriorityQueue<Resting, (long, long)> orders, Resting order, bool isBid) =>
        orders.Enqueue(order, (isBid ? -order.Cents : order.Cents, order.Number));

    // In the order of their priority, which is the same in equal books, and not as the queue has them.
    private static void Write(BinaryWriter writer, PriorityQueue<Resting, (long, long)> orders)
    {
        writer.Write(orders.Count);
        foreach (var (order, _) in orders.UnorderedItems.OrderBy(static one => one.Priority))
        {
            writer.Write(order.Number);
            writer.Write(order.Cents);
            writer.Write(order.Shares);
        }
    }

    private static void Read(BinaryReader reader, PriorityQueue<Resting, (long, long)> orders, bool isBid)
    {
        for (int count = reader.ReadInt32(); count > 0; count--)
        {
            Enqueue(orders, new Resting(reader.ReadInt64(), reader.ReadInt64(), reader.ReadInt32()), isBid);
        }
    }

    private readonly record struct Resting(long Number, long Cents, int Shares);

    private sealed class Stock
    {
        public PriorityQueue<Resting, (long, long)> Bids { get; } = new();

        public PriorityQueue<Resting, (long, long)> Asks { get; } = new();

        public long Traded { get; set; }

        public long LastCents { get; set; }
    }
}
