using System.Globalization;
using TradingFloor;

// A floor where traders keep equal order books, each in a process of its own. One of them is killed and comes back.
//   TradingFloor [TRADERS [SECONDS [SEED]]]
if (args is ["trader", var cluster, var name, var traderSeed, var bookFile])
{
    return await Trader.RunAsync(cluster, name, Number(traderSeed), bookFile);
}

return await Floor.RunAsync(
    args.Length > 0 ? Number(args[0]) : 4,
    TimeSpan.FromSeconds(args.Length > 1 ? Number(args[1]) : 15),
    args.Length > 2 ? Number(args[2]) : 1);

static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);
