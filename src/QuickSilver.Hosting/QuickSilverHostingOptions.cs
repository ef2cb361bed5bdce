using Microsoft.Extensions.Hosting;

namespace QuickSilver.Hosting;

/// <summary>What a host does when the cluster has removed its node.</summary>
public enum ExpulsionResponse
{
    /// <summary>The host starts another node, as a new incarnation, and opens the topics again.</summary>
    StartAnotherNode = 0,

    /// <summary>
    /// The host stops. For applications that must not continue after a gap in what they received, and that a supervisor starts again.
    /// </summary>
    StopHost = 1,
}

/// <summary>
/// The options of a node in a host: how it ends with the host, and its health checks. In configuration, they are in the group
/// <c>Hosting</c> of the node's section, such as <c>QuickSilver:Hosting:DrainLimit</c>. All values are checked when the host starts.
/// </summary>
public sealed class QuickSilverHostingOptions
{
    /// <summary>
    /// The maximum time that a stopping host waits until all members have acknowledged the published messages: 0 to 24 hours. Null
    /// (default): what the host's own limit, <see cref="HostOptions.ShutdownTimeout"/>, has left when the consumers have ended, less 2 s
    /// (a quarter of the limit, if that is less) in which the node leaves the cluster. Several nodes of a host share it. A longer time than
    /// that limit has no effect. A warning reports the messages that are not acknowledged by then, for each topic (event 1660).
    /// </summary>
    public TimeSpan? DrainLimit { get; set; }

    /// <summary>
    /// The maximum time that consumers and readers have, when the host stops, to handle the messages that have come for them: 0 to 24
    /// hours; default 5 s. A longer time than the host's own limit, <see cref="HostOptions.ShutdownTimeout"/>, has no effect. What is left
    /// then is dropped and reported. Published messages are drained after that.
    /// </summary>
    public TimeSpan ConsumerLimit { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// The least number of members of the cluster, this node included, with which the node is ready: 1 to 100,000; default 1. With fewer,
    /// the check <see cref="QuickSilverServiceCollectionExtensions.ReadyCheck"/> fails and names both numbers.
    /// </summary>
    public int ReadyWhenMembers { get; set; } = 1;

    /// <summary>
    /// What the host does when the cluster has removed its node, for example because the process was stopped for longer than the heartbeat
    /// limit. Messages that others published meanwhile are lost to it. Default: <see cref="ExpulsionResponse.StartAnotherNode"/>.
    /// </summary>
    public ExpulsionResponse WhenExpelled { get; set; } = ExpulsionResponse.StartAnotherNode;

    /// <summary>
    /// The tags of the check <see cref="QuickSilverServiceCollectionExtensions.LiveCheck"/>. Default: "live" and "quicksilver". Tags in
    /// configuration replace them.
    /// </summary>
    public IReadOnlyList<string> LiveTags { get; set; } = ["live", "quicksilver"];

    /// <summary>
    /// The tags of the check <see cref="QuickSilverServiceCollectionExtensions.ReadyCheck"/>. Default: "ready" and "quicksilver". Tags in
    /// configuration replace them.
    /// </summary>
    public IReadOnlyList<string> ReadyTags { get; set; } = ["ready", "quicksilver"];

    /// <summary>The options of topics that configuration sets, by the name of the topic.</summary>
    internal Dictionary<string, Dictionary<string, object>> Topics { get; } = new(StringComparer.OrdinalIgnoreCase);
}
