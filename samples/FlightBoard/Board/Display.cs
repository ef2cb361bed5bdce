using System.Diagnostics;
using System.Globalization;
using FlightBoard.Roles;
using Spectre.Console;

namespace FlightBoard.Board;

// Shows the processes as they go: a table that lives in a terminal, and a plain line from time to time where output is redirected.
internal sealed class Display(IReadOnlyList<RoleProcess> processes)
{
    private static readonly TimeSpan FrameInterval = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan LineInterval = TimeSpan.FromSeconds(2);

    /// <summary>Shows until <paramref name="isOver"/> says so.</summary>
    public async Task ShowAsync(Func<bool> isOver, CancellationToken stop)
    {
        if (Console.IsOutputRedirected)
        {
            await ShowLinesAsync(isOver, stop);
            return;
        }

        await AnsiConsole.Live(Render()).StartAsync(async context =>
        {
            while (!isOver())
            {
                context.UpdateTarget(Render());
                await Task.Delay(FrameInterval, stop);
            }

            context.UpdateTarget(Render());
        });
    }

    public void Summarize()
    {
        foreach (var process in processes)
        {
            ProcessStatus status = process.Status;
            Console.Out.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{process.Name,-10} {status.Count,5} of {status.Expected,5}, {status.Topics,3} topics, {status.Regions} regions, "
                + $"{status.Repairs} repairs, {status.KernelDrops} kernel drops, {status.DatagramPath}"));
        }
    }

    private async Task ShowLinesAsync(Func<bool> isOver, CancellationToken stop)
    {
        long lastLineTicks = Stopwatch.GetTimestamp();
        while (!isOver())
        {
            if (Stopwatch.GetElapsedTime(lastLineTicks) >= LineInterval)
            {
                lastLineTicks = Stopwatch.GetTimestamp();
                Console.Out.WriteLine(string.Join("; ", processes.Select(Line)));
            }

            await Task.Delay(FrameInterval, stop);
        }
    }

    private static string Line(RoleProcess process) => string.Create(
        CultureInfo.InvariantCulture,
        $"{process.Name} {process.Status.Count} ({process.Status.PerSecond:F0}/s, {process.Status.MeanDelayMinutes:F1} min late)");

    private Table Render()
    {
        var table = new Table().Border(TableBorder.Rounded).Title("Departures, January 2001");
        string[] columns =
            ["process", "board clock", "departures", "per second", "mean delay", "worst airport", "regions", "repairs", ""];
        foreach (string column in columns)
        {
            table.AddColumn(new TableColumn(column));
        }

        foreach (var process in processes)
        {
            ProcessStatus status = process.Status;
            table.AddRow(
                process.Name,
                status.Count == 0 ? "" : status.Clock.ToString("MMM d HH:mm", CultureInfo.InvariantCulture),
                string.Create(CultureInfo.InvariantCulture, $"{status.Count,5} / {status.Expected}"),
                status.PerSecond.ToString("F0", CultureInfo.InvariantCulture),
                string.Create(CultureInfo.InvariantCulture, $"{status.MeanDelayMinutes:F1} min"),
                status.WorstOrigin.Length == 0
                    ? ""
                    : string.Create(CultureInfo.InvariantCulture, $"{status.WorstOrigin} {status.WorstDelayMinutes:F0} min"),
                status.Regions.ToString(CultureInfo.InvariantCulture),
                status.Repairs.ToString(CultureInfo.InvariantCulture),
                status.Fault is null ? status.Phase.ToString() : $"[red]{Markup.Escape(status.Fault)}[/]");
        }

        return table;
    }
}
