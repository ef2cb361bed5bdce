using System.Text.Json.Serialization;

namespace ChurnNode;

/// <summary>What a publisher sent: messages per topic.</summary>
internal sealed record SentReport(bool Stable, long[] Sent);

/// <summary>What a follower received: an entry for each endpoint that it had, and how often it changed.</summary>
internal sealed record FollowReport(int Changes, long Repairs, long KernelDrops, IReadOnlyList<EndpointReport> Endpoints);

/// <summary>One endpoint from its opening to its end: First and Last are 0 when nothing came.</summary>
internal sealed record EndpointReport(int Topic, bool Kept, long First, long Last, long Received, string? Fault);

/// <summary>The stream of one member that stays, as another one received it.</summary>
internal sealed record SteadyReport(int Stayer, long Last, long Received, string? Fault);

/// <summary>The result of the nodes that join and leave.</summary>
internal sealed record RoamingReport(int Lives, long Received, long Missing, string? Fault);

/// <summary>Of a member that stayed.</summary>
internal sealed record StayReport(
    bool Stable,
    long Sent,
    IReadOnlyList<SteadyReport> Steady,
    int Changes,
    IReadOnlyList<string> Faults,
    RoamingReport Roaming,
    long Repairs,
    long KernelDrops);

/// <summary>Of one that joined and left.</summary>
internal sealed record RoamReport(int Lives, int Failures, IReadOnlyList<string> Faults);

[JsonSerializable(typeof(StayReport))]
[JsonSerializable(typeof(RoamReport))]
[JsonSerializable(typeof(SentReport))]
[JsonSerializable(typeof(FollowReport))]
internal sealed partial class ReportJson : JsonSerializerContext;
