using System.Globalization;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Nodes.Measures;

namespace QuickSilver.Tool.Top;

// A node on the screen.
internal sealed record NodeRow(NodeReport Report)
{
    /// <summary>What to do about a node that does not answer.</summary>
    public const string WhenSilent =
        "Look at the process and the network of this node. Publishers wait for its acknowledgements until it answers or the service "
        + "removes it.";

    /// <summary>
    /// What people call the node. Of one that has no name, the first half of the id is enough, and the address shows where it is.
    /// </summary>
    public string Name { get; } = Report.Node.Name is { Length: > 0 } name ? name : $"{Report.Node.Node.Id >> 32:x8}";

    public string Id { get; } = Report.Node.Node.ToString();

    public string NameAndId => new NamedNode(Report.Node.Node, Report.Node.Name).ToString();

    public string Address { get; } = Report.Node.EndPoint.ToString();

    public NodeSnapshot? Signs => Report.Signs;

    public SendLimit Limit => LimitOf(Signs?.Limit ?? 0);

    /// <summary>How long the node has not answered; null if it did.</summary>
    public double? SilentSeconds => Report.Node.Outcome == SnapshotOutcome.Silent ? Report.Node.SilentMillis / 1e3 : null;

    /// <summary>What is wrong: with what the node reported, or with the node.</summary>
    public string? Trouble => Report.Fault ?? (Signs is { Trouble.Length: > 0 } signs ? signs.Trouble : null);

    /// <summary>The remark for a node instead of its figures; null if it has reported them.</summary>
    public string? Remark => Report switch
    {
        { Fault: { } fault } => fault,
        { Node.Outcome: SnapshotOutcome.Unable } => "no vital signs: it is of an older version",
        { Node.Outcome: SnapshotOutcome.Silent, Node: var node } =>
            $"silent for {Figures.Span(node.SilentMillis)}, last heard {Figures.Span(node.HeardMillis)} ago",
        _ => null,
    };

    /// <summary>What to do about a reason of this kind; null for a kind of a newer version, which is not known here.</summary>
    public static string? RemedyFor(long kind) => kind <= int.MaxValue && Enum.IsDefined((StatusReasonKind)(int)kind)
        ? StatusReasons.RemedyFor((StatusReasonKind)(int)kind)
        : null;

    public static SendLimit LimitOf(long number) => Enum.IsDefined((SendLimit)(int)Math.Min(number, int.MaxValue))
        ? (SendLimit)(int)number
        : SendLimit.None;
}

// A topic that a node publishes at the rate of a slow reader. The reader is named as its publisher names it.
internal sealed record HeldRow(NodeRow Publisher, string Topic, double MessagesPerSecond, string Reader)
{
    public static IEnumerable<HeldRow> Of(NodeRow publisher) => (publisher.Signs?.HeldRows ?? [])
        .Select(held => new HeldRow(publisher, held.Topic, held.PerThousandSeconds / 1e3, held.Reader));

    /// <summary>To which rate, and by which node.</summary>
    public string Rate => string.Create(CultureInfo.InvariantCulture, $"{MessagesPerSecond:0.#}/s by {Reader}");
}

// A region that several nodes have reported.
internal sealed record RegionRow(ulong Region)
{
    public long View { get; init; }
    public long Members { get; init; }
    public long AgeMillis { get; init; }
    public long OpenViews { get; init; }
    public long Sent { get; init; }
    public long Received { get; init; }
    public long Pending { get; init; }
    public long Missing { get; init; }
    public long AckMicros { get; init; }
    public long TokenMicros { get; init; }
    public SendLimit Limit { get; init; }

    public string Name => $"{Region:x16}";

    /// <summary>The sums of what nodes do, and the worst of what they measure.</summary>
    public RegionRow With(in RegionSnapshot signs) => this with
    {
        View = Math.Max(View, signs.View),
        Members = signs.View >= View ? signs.Members : Members,
        AgeMillis = Math.Max(AgeMillis, signs.ViewAgeMillis),
        OpenViews = Math.Max(OpenViews, signs.OpenViews),
        Sent = Sent + signs.SentPackets,
        Received = Received + signs.ReceivedPackets,
        Pending = Pending + signs.PendingPackets,
        Missing = Missing + signs.MissingPackets,
        AckMicros = Math.Max(AckMicros, signs.AckMicros),
        TokenMicros = Math.Max(TokenMicros, signs.TokenMicros),
        Limit = Limit == SendLimit.None ? NodeRow.LimitOf(signs.Limit) : Limit,
    };
}

// A topic that several nodes have reported.
internal sealed record TopicRow(string Name)
{
    public long Published { get; init; }
    public long Delivered { get; init; }
    public long Subscribers { get; init; }
    public int Nodes { get; init; }
    public SendLimit Limit { get; init; }

    public TopicRow With(in TopicSnapshot signs) => this with
    {
        Published = Published + signs.Published,
        Delivered = Delivered + signs.Delivered,
        Subscribers = Math.Max(Subscribers, signs.Subscribers),
        Nodes = Nodes + 1,
        Limit = Limit == SendLimit.None ? NodeRow.LimitOf(signs.Limit) : Limit,
    };
}
