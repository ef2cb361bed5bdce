using Spectre.Console;

namespace TradingFloor;

// The traders as a table: live at a terminal, and a line a second elsewhere.
internal sealed class FloorTable(IReadOnlyList<TraderProcess> traders)
{
    private readonly Dictionary<string, long> _before = [];

    /// <summary>Shows the traders until the task has ended.</summary>
    public async Task ShowUntilAsync(Task end)
    {
        if (Console.IsOutputRedirected)
        {
            while (await Task.WhenAny(end, Task.Delay(TimeSpan.FromSeconds(1))) != end)
            {
                var oldest = traders.Where(static one => one.IsRunning).MaxBy(static one => one.Status.Orders);
                Console.WriteLine($"{oldest?.Status.Members} traders, {oldest?.Status.Orders} orders, {oldest?.Status.Trades} trades");
            }
        }
        else
        {
            await AnsiConsole.Live(Table()).StartAsync(async live =>
            {
                while (await Task.WhenAny(end, Task.Delay(TimeSpan.FromSeconds(1))) != end)
                {
                    live.UpdateTarget(Table());
                }
            });
        }

        await end;
    }

    private Table Table()
    {
        var table = new Table().AddColumns("trader", "view", "rank", "members", "orders", "orders/s", "trades");
        foreach (var trader in traders)
        {
            var status = trader.Status;
            long perSecond = status.Orders - _before.GetValueOrDefault(trader.Name, status.Orders);
            _before[trader.Name] = status.Orders;
            table.AddRow(
                trader.IsRunning ? trader.Name : $"{trader.Name} (killed)",
                $"{status.View}",
                status.Rank == 0 ? "0, orders" : $"{status.Rank}",
                $"{status.Members}",
                $"{status.Orders}",
                $"{Math.Max(0, perSecond)}",
                $"{status.Trades}");
        }

        return table;
    }
}
