using System.Globalization;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Catalog;

namespace QuickSilver.Tool.Top;

// What the rows say, for a screen and for plain lines.
internal static class TopText
{
    /// <summary>The columns of a table, each with the width of a terminal from which on there is room for it.</summary>
    public static IReadOnlyList<(string Title, int From)> NodeColumns { get; } =
    [
        ("node", 0), ("out/s", 0), ("in/s", 0), ("busy", 90), ("queued", 95), ("pending", 60), ("ack", 70), ("ack 99%", 120),
        ("token", 100), ("late 99%", 130), ("gc", 110), ("memory", 140), ("retained", 150), ("limit", 80),
    ];

    public static IReadOnlyList<(string Title, int From)> RegionColumns { get; } =
    [
        ("region", 0), ("view", 110), ("members", 60), ("age", 100), ("open", 130), ("out/s", 0), ("in/s", 0), ("pending", 60),
        ("missing", 120), ("ack", 70), ("token", 100), ("limit", 80),
    ];

    public static IReadOnlyList<(string Title, int From)> TopicColumns { get; } =
        [("topic", 0), ("out/s", 0), ("in/s", 0), ("subscribers", 60), ("nodes", 70), ("limit", 80)];

    public static IReadOnlyList<(string Title, int From)> GroupColumns { get; } =
        [("group", 0), ("view", 90), ("members", 0), ("waiting", 0), ("orderer", 70), ("state", 60)];

    public static string Header(ClusterTables tables)
    {
        var service = tables.Answer.Service;
        string nodes = service.Reported == service.Nodes ? $"{service.Nodes}" : $"{service.Reported} of {service.Nodes}";
        return string.Create(
            CultureInfo.InvariantCulture,
            $"cluster {tables.Cluster}  service {tables.Service} (up {Figures.Span(service.AgeMillis)})  "
            + $"configuration {Number(service.Configuration)}  nodes {nodes}  {tables.At:HH:mm:ss}");
    }

    /// <summary>The sums, and how many nodes have not answered.</summary>
    public static string Totals(ClusterTables tables)
    {
        int unanswered = tables.Answer.Nodes.Count(node => node.Signs is null);
        string more = unanswered > 0 ? $"  {unanswered} without vital signs" : "";
        string hidden = tables.HiddenInboxes > 0 ? $"  {Counted.Of(tables.HiddenInboxes, "inbox topic")} not shown (--all)" : "";
        string topics = $"  topics {tables.TopicCount}{hidden}";
        return $"out {Figures.Number(tables.Published)}/s  in {Figures.Number(tables.Delivered)}/s{topics}{more}";
    }

    /// <summary>What is wrong with a node, in a line of its own; null if nothing is.</summary>
    public static string? Note(NodeRow row) => row switch
    {
        { Remark: { } remark } => $"{SafeText.Of(row.Name)} {row.Address}: {SafeText.Of(remark)}",
        { Signs.Trouble: { Length: > 0 } trouble } => $"{SafeText.Of(row.Name)} {row.Address}: {SafeText.Of(trouble)}",
        _ => null,
    };

    /// <summary>A topic that is held to the rate of a slow reader, in a line of its own. It is no trouble.</summary>
    public static string Note(HeldRow row) =>
        $"{SafeText.Of(row.Topic)}: {SafeText.Of(row.Publisher.Name)} is held to {SafeText.Of(row.Rate)}";

    /// <summary>What the members of a group wait for, or give, each in a line of its own, by rank.</summary>
    public static IEnumerable<string> Notes(GroupRow row) =>
        from member in row.Nodes
        let note = member.Note
        where note is not null
        select $"{SafeText.Of(row.Name)}: {SafeText.Of(member.Node.Name)} {SafeText.Of(note)}";

    public static string[] Cells(NodeRow row, NodeSnapshot signs) =>
    [
        $"{SafeText.Of(row.Name)} {row.Address}",
        Figures.Number(signs.Published),
        Figures.Number(signs.Delivered),
        Figures.PerMille(signs.BusyPerMille),
        Figures.Number(signs.QueueMessages),
        Figures.Number(signs.PendingPackets),
        Figures.Micros(signs.AckMedian),
        Figures.Micros(signs.AckNinetyNinth),
        Figures.Micros(signs.TokenMedian),
        Figures.Micros(signs.LatenessNinetyNinth),
        Figures.Micros(signs.CollectorPause),
        Figures.Bytes(signs.MemoryBytes),
        Figures.Bytes(signs.RetentionBytes),
        Figures.Limit(row.Limit, signs.LimitPerMille),
    ];

    public static string[] Cells(RegionRow row) =>
    [
        row.Name,
        Figures.Number(row.View),
        Figures.Number(row.Members),
        Figures.Span(row.AgeMillis),
        Figures.Number(row.OpenViews),
        Figures.Number(row.Sent),
        Figures.Number(row.Received),
        Figures.Number(row.Pending),
        Figures.Number(row.Missing),
        Figures.Micros(row.AckMicros),
        Figures.Micros(row.TokenMicros),
        Figures.Limit(row.Limit),
    ];

    public static string[] Cells(TopicRow row) =>
    [
        SafeText.Of(row.Name),
        Figures.Number(row.Published),
        Figures.Number(row.Delivered),
        Figures.Number(row.Subscribers),
        Figures.Number(row.Nodes),
        Figures.Limit(row.Limit),
    ];

    public static string[] Cells(GroupRow row) =>
    [
        SafeText.Of(row.Name),
        Number(row.View),
        Figures.Number(row.Members),
        Figures.Number(row.Waiting),
        row.Orderer.Length > 0 ? SafeText.Of(row.Orderer) : "–",
        row.State,
    ];

    /// <summary>One refresh as lines of words, for a file or a pipe: a kind, and a name before each figure.</summary>
    public static IEnumerable<string> Lines(ClusterTables tables)
    {
        yield return Header(tables);
        yield return Totals(tables);
        foreach (var row in tables.Nodes)
        {
            if (row.Signs is { } signs)
            {
                yield return Line(NodeColumns, Cells(row, signs));
            }

            if (Note(row) is { } note)
            {
                yield return $"node {note}";
            }
        }

        foreach (var row in tables.Regions)
        {
            yield return Line(RegionColumns, Cells(row));
        }

        foreach (var row in tables.Topics)
        {
            yield return Line(TopicColumns, Cells(row));
        }

        foreach (var row in tables.Groups)
        {
            yield return Line(GroupColumns, Cells(row));
            foreach (string note in Notes(row))
            {
                yield return $"member {note}";
            }
        }

        foreach (var row in tables.Held)
        {
            yield return $"held {Note(row)}";
        }
    }

    private static string Line(IReadOnlyList<(string Title, int From)> columns, string[] cells) =>
        string.Join("  ", columns.Select((column, i) => $"{column.Title} {cells[i]}"));

    // The service's epoch is the upper half.
    private static string Number(long configuration) => $"{configuration >> 32}.{configuration & uint.MaxValue}";
}
