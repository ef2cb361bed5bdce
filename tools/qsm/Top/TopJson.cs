using System.Text.Json;
using System.Text.Json.Serialization;

namespace QuickSilver.Tool.Top;

// One refresh as an object. Its field names are what scripts read: they are never renamed. Times are in microseconds unless the name says
// otherwise, rates per second.
internal sealed record TopReport
{
    public required DateTimeOffset Time { get; init; }
    public required string Cluster { get; init; }
    public required string Service { get; init; }
    public double ServiceSeconds { get; init; }
    public long Configuration { get; init; }
    public int NodeCount { get; init; }
    public int Observers { get; init; }

    /// <summary>All that are open, of which the busiest follow.</summary>
    public int TopicCount { get; init; }

    /// <summary>Of those that nodes reported, the inboxes that do not follow; none with --all.</summary>
    public int HiddenInboxCount { get; init; }
    public long PublishedPerSecond { get; init; }
    public long DeliveredPerSecond { get; init; }
    public required IReadOnlyList<NodeReportJson> Nodes { get; init; }
    public required IReadOnlyList<RegionReportJson> Regions { get; init; }
    public required IReadOnlyList<TopicReportJson> Topics { get; init; }
    public required IReadOnlyList<HeldReportJson> HeldTopics { get; init; }
    public required IReadOnlyList<GroupReportJson> Groups { get; init; }

    public static TopReport Of(ClusterTables tables) => new()
    {
        Time = tables.At,
        Cluster = tables.Cluster,
        Service = tables.Service?.ToString() ?? "",
        ServiceSeconds = tables.Answer.Service.AgeMillis / 1e3,
        Configuration = tables.Answer.Service.Configuration,
        NodeCount = tables.Answer.Service.Nodes,
        Observers = tables.Answer.Service.Observers,
        TopicCount = tables.TopicCount,
        HiddenInboxCount = tables.HiddenInboxes,
        PublishedPerSecond = tables.Published,
        DeliveredPerSecond = tables.Delivered,
        Nodes = [.. tables.Nodes.Select(NodeReportJson.Of)],
        Regions = [.. tables.Regions.Select(RegionReportJson.Of)],
        Topics = [.. tables.Topics.Select(TopicReportJson.Of)],
        HeldTopics = [.. tables.Held.Select(HeldReportJson.Of)],
        Groups = [.. tables.Groups.Select(GroupReportJson.Of)],
    };

    public string ToJson() => JsonSerializer.Serialize(this, TopJson.Default.TopReport);
}

internal sealed record NodeReportJson
{
    public required string Node { get; init; }
    public required string Address { get; init; }

    /// <summary>What people call it, and what its process is; null of a node of an earlier version.</summary>
    public string? Name { get; init; }
    public string? Machine { get; init; }
    public string? Process { get; init; }
    public int? ProcessId { get; init; }
    public string? Version { get; init; }

    /// <summary><c>reported</c>, "silent", "unable" (of a version that does not know the question) or "invalid".</summary>
    public required string State { get; init; }
    public double? SilentSeconds { get; init; }
    public double? HeardSecondsAgo { get; init; }

    /// <summary>What is wrong: with what it reported, or with the node.</summary>
    public string? Trouble { get; init; }
    public double? SpanSeconds { get; init; }
    public long? PublishedPerSecond { get; init; }
    public long? DeliveredPerSecond { get; init; }
    public long? PublishedBytesPerSecond { get; init; }
    public long? DeliveredBytesPerSecond { get; init; }
    public double? BusyShare { get; init; }
    public long? PendingPackets { get; init; }
    public long? AckMedianMicros { get; init; }
    public long? AckP99Micros { get; init; }
    public long? TokenMedianMicros { get; init; }
    public long? AggregateMedianMicros { get; init; }
    public long? AlarmLatenessP99Micros { get; init; }
    public long? GcPauseMicros { get; init; }
    public long? PacketMemoryBytes { get; init; }
    public long? PacketMemoryLimitBytes { get; init; }
    public long? RetentionBytes { get; init; }
    public long? RetentionLimitBytes { get; init; }
    public long? PublishQueueBytes { get; init; }

    /// <summary>Messages that publishers accepted and that are not sent yet.</summary>
    public long? PublishQueueMessages { get; init; }
    public string? Limit { get; init; }
    public double? LimitShare { get; init; }
    public long? RegionCount { get; init; }
    public long? TopicCount { get; init; }
    public long? Views { get; init; }
    public long? SupersededViews { get; init; }
    public double? OldestSupersededSeconds { get; init; }
    public long? Configuration { get; init; }
    public long? LongSteps { get; init; }
    public long? QuantaExceeded { get; init; }
    public long? RepairRequests { get; init; }
    public long? Repairs { get; init; }
    public long? CollectiveNaks { get; init; }
    public long? KernelDrops { get; init; }
    public long? Gaps { get; init; }

    public static NodeReportJson Of(NodeRow row)
    {
        var (report, signs) = (row.Report, row.Signs);
        return new NodeReportJson
        {
            Node = report.Node.Node.ToString(),
            Address = row.Address,
            Name = Text(report.Node.Name),
            Machine = Text(report.Node.Process.Machine),
            Process = Text(report.Node.Process.Process),
            ProcessId = report.Node.Process.ProcessId is > 0 and var id ? id : null,
            Version = Text(report.Node.Process.Version),
            State = report.Fault is not null ? "invalid" : report.Node.Outcome.ToString().ToLowerInvariant(),
            SilentSeconds = row.SilentSeconds,
            HeardSecondsAgo = row.SilentSeconds is null ? null : report.Node.HeardMillis / 1e3,
            Trouble = row.Trouble,
            SpanSeconds = signs?.SpanMillis / 1e3,
            PublishedPerSecond = signs?.Published,
            DeliveredPerSecond = signs?.Delivered,
            PublishedBytesPerSecond = signs?.PublishedBytes,
            DeliveredBytesPerSecond = signs?.DeliveredBytes,
            BusyShare = signs?.BusyPerMille / 1e3,
            PendingPackets = signs?.PendingPackets,
            AckMedianMicros = signs?.AckMedian,
            AckP99Micros = signs?.AckNinetyNinth,
            TokenMedianMicros = signs?.TokenMedian,
            AggregateMedianMicros = signs?.AggregateMedian,
            AlarmLatenessP99Micros = signs?.LatenessNinetyNinth,
            GcPauseMicros = signs?.CollectorPause,
            PacketMemoryBytes = signs?.MemoryBytes,
            PacketMemoryLimitBytes = signs?.MemoryLimitBytes,
            RetentionBytes = signs?.RetentionBytes,
            RetentionLimitBytes = signs?.RetentionLimitBytes,
            PublishQueueBytes = signs?.QueueBytes,
            PublishQueueMessages = signs?.QueueMessages,
            Limit = signs is null ? null : LimitName(row.Limit),
            LimitShare = signs?.LimitPerMille / 1e3,
            RegionCount = signs?.Regions,
            TopicCount = signs?.Topics,
            Views = signs?.Views,
            SupersededViews = signs?.SupersededViews,
            OldestSupersededSeconds = signs?.OldestSupersededMillis / 1e3,
            Configuration = signs?.Configuration,
            LongSteps = signs?.LongSteps,
            QuantaExceeded = signs?.QuantaExceeded,
            RepairRequests = signs?.RepairRequests,
            Repairs = signs?.Repairs,
            CollectiveNaks = signs?.CollectiveNaks,
            KernelDrops = signs?.KernelDrops,
            Gaps = signs?.Gaps,
        };
    }

    internal static string? Text(string text) => text.Length > 0 ? text : null;

    internal static string LimitName(SendLimit limit) => limit.ToString().ToLowerInvariant();
}

internal sealed record RegionReportJson(
    string Region,
    long View,
    long Members,
    double ViewAgeSeconds,
    long OpenViews,
    long SentPacketsPerSecond,
    long ReceivedPacketsPerSecond,
    long PendingPackets,
    long MissingPackets,
    long AckMicros,
    long TokenMicros,
    string Limit)
{
    public static RegionReportJson Of(RegionRow row) => new(
        row.Name, row.View, row.Members, row.AgeMillis / 1e3, row.OpenViews, row.Sent, row.Received, row.Pending, row.Missing,
        row.AckMicros, row.TokenMicros, NodeReportJson.LimitName(row.Limit));
}

internal sealed record TopicReportJson(
    string Topic, long PublishedPerSecond, long DeliveredPerSecond, long Subscribers, int Nodes, string Limit)
{
    public static TopicReportJson Of(TopicRow row) =>
        new(row.Name, row.Published, row.Delivered, row.Subscribers, row.Nodes, NodeReportJson.LimitName(row.Limit));
}

internal sealed record HeldReportJson(string Topic, string Node, string Name, double MessagesPerSecond, string Reader)
{
    public static HeldReportJson Of(HeldRow row) =>
        new(row.Topic, row.Publisher.Id, row.Publisher.Name, row.MessagesPerSecond, row.Reader);
}

/// <summary>A group by the newest view that a member has reported.</summary>
internal sealed record GroupReportJson(
    string Group, long View, long Members, string? Orderer, long WaitingMessages, int SeekingMembers, IReadOnlyList<GroupMemberJson> Nodes)
{
    public static GroupReportJson Of(GroupRow row) => new(
        row.Name, row.View, row.Members, NodeReportJson.Text(row.Orderer), row.Waiting, row.Seeking,
        [.. row.Nodes.Select(GroupMemberJson.Of)]);
}

/// <summary>A member as it reported itself. What it does not know is null.</summary>
internal sealed record GroupMemberJson(
    string Node, string Name, long? View, long? Rank, string? Orderer, long WaitingMessages, string State, string? Donor, string? Takers)
{
    public static GroupMemberJson Of(GroupMemberRow row)
    {
        var signs = row.Signs;
        bool isIn = signs.View > 0;
        return new GroupMemberJson(
            row.Node.Id, row.Node.Name, isIn ? signs.View : null, isIn ? signs.Rank : null, NodeReportJson.Text(signs.Orderer),
            signs.Waiting, row.State, NodeReportJson.Text(signs.Donor), NodeReportJson.Text(signs.Takers));
    }
}

[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.CamelCase, DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull)]
[JsonSerializable(typeof(TopReport))]
internal sealed partial class TopJson : JsonSerializerContext;
