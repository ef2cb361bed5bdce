using System.Globalization;

namespace TradingFloor;

// Draws orders around the last prices of real stocks.
internal sealed class Market
{
    private readonly (string Symbol, long Cents)[] _stocks;
    private readonly Random _random;

    public Market(int seed)
    {
        _random = new Random(seed);
        _stocks =
        [
            .. File.ReadLines(Path.Combine(AppContext.BaseDirectory, "Data", "stocks.csv")).Skip(1).Select(static line => line.Split(','))
                .GroupBy(static row => row[0])
                .Select(static rows => (rows.Key, (long)(100 * decimal.Parse(rows.Last()[2], CultureInfo.InvariantCulture)))),
        ];
    }

    public Order Draw()
    {
        var (symbol, cents) = _stocks[_random.Next(_stocks.Length)];
        // Within 1 % of the price, so that many orders find another one.
        long price = cents + (long)((_random.NextDouble() - 0.5) * 0.02 * cents);
        return new Order(symbol, _random.Next(2) == 0, price, 100 * _random.Next(1, 10));
    }
}
