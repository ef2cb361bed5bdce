using Spectre.Console;

namespace QuickSilver.Tool.Catalog;

// Tables of what the cluster reports.
internal static class PlainText
{
    /// <summary>A table for a terminal; columns of plain text with two spaces between them where the output is redirected.</summary>
    /// <param name="columns">Their titles. Those that end with a space are numbers.</param>
    /// <param name="rows">The cells.</param>
    public static void Table(IReadOnlyList<string> columns, IReadOnlyList<string[]> rows)
    {
        var cells = rows.Select(static row => row.Select(SafeText.Of).ToArray()).ToList();
        if (!Console.IsOutputRedirected)
        {
            var table = new Table().Border(TableBorder.Rounded);
            foreach (string column in columns)
            {
                var added = new TableColumn(Markup.Escape(column.Trim()));
                table.AddColumn(column.EndsWith(' ') ? added.RightAligned() : added);
            }

            cells.ForEach(row => table.AddRow(row.Select(static cell => new Text(cell))));
            AnsiConsole.Write(table);
            return;
        }

        cells.Insert(0, [.. columns.Select(static column => column.Trim())]);
        int[] widths = [.. Enumerable.Range(0, columns.Count).Select(i => cells.Max(row => row[i].Length))];
        foreach (string[] row in cells)
        {
            var line = row.Select((cell, i) => columns[i].EndsWith(' ') ? cell.PadLeft(widths[i]) : cell.PadRight(widths[i]));
            Console.Out.WriteLine(string.Join("  ", line).TrimEnd());
        }
    }
}
