using System.Text.Json.Serialization;

namespace ChurnNode;

/// <summary>What a publisher sent: messages per topic.</summary>
internal sealed record SentReport(bool Stable, long[] Sent);

/// <summary>What a follower received: an entry for each endpoint that it had, and how often it changed.</summary>
internal sealed record FollowReport(int Changes, long Repairs, long KernelDrops, IReadOnlyList<EndpointReport> Endpoints);

/// <summary>One endpoint from its opening to its end: First and Last are 0 when nothing came.</summary>
internal sealed record EndpointReport(int Topic, bool Kept, long First, long Last, long Received, string? Fault);

[JsonSerializable(typeof(SentReport))]
[JsonSerializable(typeof(FollowReport))]
internal sealed partial class ReportJson : JsonSerializerContext;
