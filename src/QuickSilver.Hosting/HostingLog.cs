using Microsoft.Extensions.Logging;

namespace QuickSilver.Hosting;

// Hosting's log events, ids 1700 to 1799. An id is permanent: one that is retired stays here as a comment and is not reused.
internal static partial class HostingLog
{
    [LoggerMessage(1700, LogLevel.Warning, "The node failed to start and is started again in {Seconds} s. {Reason}")]
    public static partial void StartFailed(ILogger logger, string reason, double seconds);

    [LoggerMessage(1706, LogLevel.Error, "The start of the node threw an unexpected exception. It is started again in {Seconds} s.")]
    public static partial void StartThrew(ILogger logger, Exception exception, double seconds);

    [LoggerMessage(1701, LogLevel.Error,
        "Failed to open topic \"{Topic}\"; the node is not ready. Retrying in {Seconds} s, and again until it opens. A reason is "
        + "logged once. {Reason}")]
    public static partial void TopicFailed(ILogger logger, string topic, string reason, double seconds);

    [LoggerMessage(1931, LogLevel.Information, "Topic \"{Topic}\" is open (failures before: {Count}).")]
    public static partial void TopicOpened(ILogger logger, string topic, int count);

    [LoggerMessage(1707, LogLevel.Error,
        "Opening topic \"{Topic}\" threw an unexpected exception; the node is not ready. Retrying in {Seconds} s, and again until it "
        + "opens. An exception is logged once.")]
    public static partial void TopicThrew(ILogger logger, Exception exception, string topic, double seconds);

    [LoggerMessage(1702, LogLevel.Warning, "The node was removed from the cluster. Starting a new node.")]
    public static partial void Restarting(ILogger logger);

    [LoggerMessage(1708, LogLevel.Error, "The node was removed from the cluster. The host is stopping, as Hosting:WhenExpelled says.")]
    public static partial void StoppingHost(ILogger logger);

    // 1703: the host stopped before all members acknowledged the published messages. The node reports them by topic (1660).

    [LoggerMessage(1705, LogLevel.Warning,
        "The host is stopping before the consumers of {Topics} have handled what they took. The tokens of their calls were cancelled. "
        + "To wait longer, raise {Option}, which is {Limit:c}.")]
    public static partial void ConsumersNotStopped(ILogger logger, string topics, string option, TimeSpan limit);

    [LoggerMessage(1940, LogLevel.Warning,
        "The host is stopping before the readers of {Topics} have read what had come for them. The rest is dropped. "
        + "To wait longer, raise {Option}, which is {Limit:c}.")]
    public static partial void ReadersNotStopped(ILogger logger, string topics, string option, TimeSpan limit);

    [LoggerMessage(1704, LogLevel.Error, "An observer of topic \"{Topic}\" threw at its end.")]
    public static partial void ObserverThrew(ILogger logger, Exception exception, string topic);
}
