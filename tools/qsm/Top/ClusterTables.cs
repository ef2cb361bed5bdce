using System.Net;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Tool.Top;

// By what the rows are sorted, the greatest first; by name, the first.
internal enum SortKey
{
    Rate,
    Name,
    Queued,
    Pending,
    Acks,
    Token,
    Late,
    Gc,
    Memory,
}

// What of an answer is shown.
internal sealed record TopView(string Cluster, SortKey Sort, string? Filter, int Rows)
{
    /// <summary>Whether inboxes, which nodes open for themselves, are among the topics.</summary>
    public bool HasInboxes { get; init; }

    /// <summary>Those to ask of each node: inboxes that are not shown take places among its busiest topics.</summary>
    public int AskedRows => HasInboxes ? Rows : NodeSnapshot.MostRows;
}

// One answer as tables: the nodes, and the regions, topics and groups that they have reported, each once.
internal sealed record ClusterTables
{
    public required string Cluster { get; init; }

    public required IPEndPoint? Service { get; init; }

    public required ClusterSnapshot Answer { get; init; }

    public required DateTimeOffset At { get; init; }

    public required IReadOnlyList<NodeRow> Nodes { get; init; }

    public required IReadOnlyList<RegionRow> Regions { get; init; }

    public required IReadOnlyList<TopicRow> Topics { get; init; }

    /// <summary>By the names of topics and publishers.</summary>
    public required IReadOnlyList<HeldRow> Held { get; init; }

    /// <summary>Those in which a member waits come first.</summary>
    public required IReadOnlyList<GroupRow> Groups { get; init; }

    /// <summary>Of all nodes that have answered, whatever the filter.</summary>
    public long Published { get; private init; }

    public long Delivered { get; private init; }

    /// <summary>Of those that nodes reported, the inboxes that are not among the topics.</summary>
    public int HiddenInboxes { get; private init; }

    /// <summary>All that are open, of which nodes report their busiest. A service of an earlier version reports only those.</summary>
    public int TopicCount { get; private init; }

    public static ClusterTables Of(ClusterSnapshot answer, IPEndPoint? service, TopView view, DateTimeOffset at)
    {
        var answered = answer.Nodes.Select(report => report.Signs).OfType<NodeSnapshot>().ToList();
        var regions = new Dictionary<ulong, RegionRow>();
        var topics = new Dictionary<string, TopicRow>();
        foreach (var signs in answered)
        {
            foreach (var region in signs.RegionRows)
            {
                regions[region.RegionId] = (regions.GetValueOrDefault(region.RegionId) ?? new RegionRow(region.RegionId)).With(region);
            }

            foreach (var topic in signs.TopicRows)
            {
                topics[topic.Name] = (topics.GetValueOrDefault(topic.Name) ?? new TopicRow(topic.Name)).With(topic);
            }
        }

        int all = topics.Count;
        if (!view.HasInboxes)
        {
            foreach (string inbox in topics.Keys.Where(InboxName.IsInbox).ToList())
            {
                topics.Remove(inbox);
            }
        }

        bool Passes(params string[] names) =>
            view.Filter is not { } filter || names.Any(name => name.Contains(filter, StringComparison.OrdinalIgnoreCase));
        return new ClusterTables
        {
            Cluster = view.Cluster,
            Service = service,
            Answer = answer,
            At = at,
            Published = answered.Sum(signs => signs.Published),
            Delivered = answered.Sum(signs => signs.Delivered),
            Held =
            [
                .. answer.Nodes.SelectMany(static report => HeldRow.Of(new NodeRow(report)))
                    .Where(row => Passes(row.Topic, row.Reader, row.Publisher.Name))
                    .OrderBy(static row => row.Topic, StringComparer.Ordinal)
                    .ThenBy(static row => row.Publisher.Id, StringComparer.Ordinal),
            ],
            TopicCount = Math.Max(answer.Service.Topics, all),
            HiddenInboxes = all - topics.Count,
            Nodes = Sort(answer.Nodes.Select(report => new NodeRow(report)).Where(row => Passes(row.Name, row.Id, row.Address)),
                view.Sort, row => row.Address, row => Key(row, view.Sort)),
            Regions = [.. Sort(regions.Values.Where(row => Passes(row.Name)), view.Sort, row => row.Name, row => Key(row, view.Sort))
                .Take(view.Rows)],
            Groups =
            [
                .. Sort(GroupRow.Of(answer.Nodes.Select(static report => new NodeRow(report))).Where(row => Passes(row.Name, row.Orderer)),
                    view.Sort, row => row.Name, row => row.WaitingNodes).Take(view.Rows),
            ],
            Topics = [.. Sort(topics.Values.Where(row => Passes(row.Name)), view.Sort, row => row.Name, Rate).Take(view.Rows)],
        };
    }

    // A node that has not answered comes first: it is what users look for.
    private static long Key(NodeRow row, SortKey sort) => row.Signs is not { } signs ? long.MaxValue : sort switch
    {
        SortKey.Queued => signs.QueueMessages,
        SortKey.Pending => signs.PendingPackets,
        SortKey.Acks => signs.AckNinetyNinth,
        SortKey.Token => signs.TokenMedian,
        SortKey.Late => signs.LatenessNinetyNinth,
        SortKey.Gc => signs.CollectorPause,
        SortKey.Memory => signs.MemoryBytes,
        _ => signs.Published + signs.Delivered,
    };

    private static long Rate(TopicRow row) => row.Published + row.Delivered;

    private static long Key(RegionRow row, SortKey sort) => sort switch
    {
        SortKey.Pending => row.Pending,
        SortKey.Acks => row.AckMicros,
        SortKey.Token => row.TokenMicros,
        _ => row.Sent + row.Received,
    };

    private static List<T> Sort<T>(IEnumerable<T> rows, SortKey sort, Func<T, string> name, Func<T, long> key) => sort == SortKey.Name
        ? [.. rows.OrderBy(name, StringComparer.Ordinal)]
        : [.. rows.OrderByDescending(key).ThenBy(name, StringComparer.Ordinal)];
}
