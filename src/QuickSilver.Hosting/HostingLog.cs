using Microsoft.Extensions.Logging;

namespace QuickSilver.Hosting;

// Hosting's log events, ids 1700 to 1799. An id is for ever: one that is retired stays here as a comment and is not reused.
internal static partial class HostingLog
{
    [LoggerMessage(1700, LogLevel.Warning, "The node could not start; another attempt follows.")]
    public static partial void StartFailed(ILogger logger, Exception exception);

    [LoggerMessage(1701, LogLevel.Error,
        "The topic \"{Topic}\" could not be opened; the node is not ready. Another attempt follows in {Seconds} s.")]
    public static partial void TopicFailed(ILogger logger, Exception exception, string topic, double seconds);

    [LoggerMessage(1702, LogLevel.Warning, "The node was removed from the cluster; another one starts.")]
    public static partial void Restarting(ILogger logger);

    [LoggerMessage(1703, LogLevel.Warning, "The host stops before all peers have acknowledged what was published.")]
    public static partial void NotDrained(ILogger logger);
}
