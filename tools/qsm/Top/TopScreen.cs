using Spectre.Console;
using Spectre.Console.Rendering;

namespace QuickSilver.Tool.Top;

// The tables for a terminal. Everything that nodes reported is text: none of it is markup.
internal static class TopScreen
{
    // The lines of a table that are not rows: its title, its head, and the empty lines around them.
    private const int TableLines = 5;
    private const int HeaderLines = 2;
    // A narrower terminal has no room for the addresses of nodes beside their rates.
    private const int AddressFrom = 60;
    // The rest of a longer name would take the room of figures.
    private const int MostNameCharacters = 32;

    /// <summary>As much as a terminal of this size has room for.</summary>
    /// <param name="tables">What is shown.</param>
    /// <param name="width">The columns of the terminal. A narrow one has fewer columns of the tables.</param>
    /// <param name="lines">The lines of the terminal. Regions, topics, groups and what is wrong with nodes get a fifth each, or more if
    /// nodes need less than the rest.</param>
    public static IRenderable Of(ClusterTables tables, int width, int lines)
    {
        bool hasGroups = tables.Groups.Count > 0;
        int left = Math.Max(5, lines - HeaderLines - ((hasGroups ? 4 : 3) * TableLines) - 1);
        int others = Math.Max(1, left / 5);
        var notes = tables.Nodes.Where(row => TopText.Note(row) is not null).Take(others).ToList();
        var held = tables.Held.Take(others).ToList();
        int groups = Math.Min(others, tables.Groups.Count);
        var members = tables.Groups.Take(groups).SelectMany(TopText.Notes).Take(others).ToList();
        int used = notes.Count + held.Count + Math.Min(others, tables.Regions.Count) + Math.Min(others, tables.Topics.Count) + groups
            + members.Count;
        var answered = tables.Nodes.Where(row => row.Signs is not null).ToList();
        int nodes = Math.Min(answered.Count, Math.Max(1, left - used));
        // What nodes leave goes to regions first, and then to topics.
        int spare = Math.Max(0, left - used - nodes);
        int regions = Math.Min(tables.Regions.Count, others + spare);
        int topics = others + Math.Max(0, spare - Math.Max(0, regions - others));
        return new Rows(
        [
            Line(TopText.Header(tables), Style.Plain),
            Line(TopText.Totals(tables), Style.Plain),
            .. Of("nodes", TopText.NodeColumns, answered, row => NodeCells(row, width), width, nodes),
            .. notes.Select(row => Line(TopText.Note(row)!, new Style(row.Signs is null ? Color.Red : Color.Yellow))),
            .. Of("regions", TopText.RegionColumns, tables.Regions, TopText.Cells, width, regions),
            .. Of("topics", TopText.TopicColumns, tables.Topics, TopText.Cells, width, topics, tables.TopicCount),
            .. held.Select(static row => Line(TopText.Note(row), Style.Plain)),
            .. hasGroups ? Of("groups", TopText.GroupColumns, tables.Groups, TopText.Cells, width, groups) : [],
            .. members.Select(static note => Line(note, Style.Plain)),
        ]);
    }

    private static string[] NodeCells(NodeRow row, int width)
    {
        string[] cells = TopText.Cells(row, row.Signs!);
        string name = row.Name.Length > MostNameCharacters ? $"{row.Name[..(MostNameCharacters - 1)]}…" : row.Name;
        return [width < AddressFrom ? name : $"{name} {row.Address}", .. cells[1..]];
    }

    private static Text Line(string text, Style style) => new(text, style) { Overflow = Overflow.Ellipsis };

    private static IRenderable[] Of<T>(
        string title,
        IReadOnlyList<(string Title, int From)> columns,
        IReadOnlyList<T> rows,
        Func<T, string[]> cells,
        int width,
        int most,
        int all = 0)
    {
        int shownRows = Math.Min(rows.Count, most);
        all = Math.Max(all, rows.Count);
        string text = all > shownRows ? $"{title}: {shownRows} of {all}" : $"{title}: {all}";
        var table = new Table { Border = TableBorder.Simple };
        var shown = Enumerable.Range(0, columns.Count).Where(i => columns[i].From <= width).ToList();
        foreach (int i in shown)
        {
            // Names, limits and states are words; the others are figures.
            var column = new TableColumn(new Text(columns[i].Title)) { NoWrap = true };
            table.AddColumn(i == 0 || i == columns.Count - 1 || columns[i].Title == "orderer" ? column : column.RightAligned());
        }

        foreach (var row in rows.Take(most))
        {
            string[] texts = cells(row);
            table.AddRow(shown.Select(i => new Text(texts[i]) { Overflow = Overflow.Ellipsis }));
        }

        return [Line(text, new Style(decoration: Decoration.Bold)), table];
    }
}
