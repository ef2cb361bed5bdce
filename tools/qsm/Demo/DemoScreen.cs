using System.Globalization;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace QuickSilver.Tool.Demo;

// The nodes of the demo as a picture: how much each has published and received.
internal static class DemoScreen
{
    private const int BarCells = 10;

    public static IRenderable Of(string step, IReadOnlyList<DemoProcess> nodes)
    {
        var table = new Table().Border(TableBorder.Rounded).AddColumns("node", "process", "state");
        table.AddColumn(new TableColumn("published").RightAligned());
        foreach (var node in nodes)
        {
            table.AddColumn(new TableColumn($"from {node.Number}").RightAligned());
        }

        table.AddColumn("");
        long most = Math.Max(1, nodes.Max(static node => node.Status.Received.Values.Sum()));
        foreach (var node in nodes)
        {
            var status = node.Status;
            int cells = (int)(BarCells * status.Received.Values.Sum() / most);
            var state = node.IsKilled ? new Text("killed", Color.Red)
                : node.HasEnded ? new Text("ended", Color.Red)
                : status.Node.Length == 0 ? new Text("starts", Color.Grey)
                : new Text(status.IsDrained ? "done" : "up", Color.Green);
            table.AddRow(
            [
                new Text($"{node.Number}"),
                new Text($"{node.Id}"),
                state,
                new Text(Number(status.Published)),
                .. nodes.Select(sender => new Text(Number(status.Received.GetValueOrDefault(sender.Status.Node)))),
                new Text(new string('█', cells).PadRight(BarCells), node.IsKilled ? Color.Red : Color.Green),
            ]);
        }

        return new Rows(new Text(step, new Style(decoration: Decoration.Bold)), table);
    }

    private static string Number(long value) => value.ToString("N0", CultureInfo.InvariantCulture);
}
