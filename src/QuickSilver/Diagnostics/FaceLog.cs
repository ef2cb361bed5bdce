using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Views;

namespace QuickSilver.Diagnostics;

// The public face's log events, ids 1600 to 1699. An id is for ever: one that is retired stays here as a comment and is
// not reused.
internal static partial class FaceLog
{
    [LoggerMessage(1600, LogLevel.Information, "Node {Node} has joined the cluster \"{Cluster}\".")]
    public static partial void Joined(ILogger logger, SenderId node, string cluster);

    [LoggerMessage(1601, LogLevel.Warning, "The membership service is out of reach; data flows on in the last views.")]
    public static partial void ServiceLost(ILogger logger);

    [LoggerMessage(1602, LogLevel.Information, "The membership service is reachable again.")]
    public static partial void ServiceBack(ILogger logger);

    [LoggerMessage(1603, LogLevel.Error, "The membership service removed this node: {Reason}. Its topics have ended; start a new node.")]
    public static partial void Expelled(ILogger logger, string reason);

    [LoggerMessage(1607, LogLevel.Error, "This node has left the cluster: {Reason}. Its topics have ended; start a new node.")]
    public static partial void GaveUp(ILogger logger, string reason);

    [LoggerMessage(1604, LogLevel.Error, "No membership service within {Timeout}: {Where}.")]
    public static partial void StartFailed(ILogger logger, TimeSpan timeout, string where);

    [LoggerMessage(1605, LogLevel.Information, "The node has stopped ({Published} messages published, {Delivered} delivered).")]
    public static partial void Stopped(ILogger logger, long published, long delivered);

    [LoggerMessage(1606, LogLevel.Warning,
        "The node did not stop in order within its limit: the core thread is blocked, or peers did not answer.")]
    public static partial void StopTimedOut(ILogger logger);

    [LoggerMessage(1610, LogLevel.Warning, "The topic \"{Topic}\" was refused: {Refusal}")]
    public static partial void TopicRefused(ILogger logger, string topic, string refusal);

    [LoggerMessage(1611, LogLevel.Warning, "Topic \"{Topic}\": messages {First} to {Last} of {Sender} will not come: {Reason}.")]
    public static partial void GapTold(ILogger logger, string topic, NodeKey sender, long first, long last, string reason);

    [LoggerMessage(1619, LogLevel.Warning, "Topic \"{Topic}\": a reader held the senders back for {Limit}; its endpoint is dropped.")]
    public static partial void ReaderTooSlow(ILogger logger, string topic, TimeSpan limit);

    [LoggerMessage(1612, LogLevel.Error,
        "A handler of the topic \"{Topic}\" threw at message {Sequence} of {Sender}; {Count} exceptions by handlers of this node so far.")]
    public static partial void HandlerThrew(ILogger logger, Exception exception, string topic, SenderId sender, long sequence, long count);

    [LoggerMessage(1613, LogLevel.Error,
        "A feed of the topic \"{Topic}\" threw; it is asked again when it signals. {Count} faults of feeds of this node so far.")]
    public static partial void FeedThrew(ILogger logger, Exception exception, string topic, long count);

    [LoggerMessage(1614, LogLevel.Error,
        "Message {Sequence} of {Sender} in the topic \"{Topic}\" could not be decoded and is told as a gap; {Count} so far.")]
    public static partial void PayloadUndecodable(
        ILogger logger, Exception exception, string topic, SenderId sender, long sequence, long count);

    [LoggerMessage(1616, LogLevel.Error, "A message to the topic \"{Topic}\" cannot be sent: {Reason} {Count} so far.")]
    public static partial void PublishImpossible(ILogger logger, string topic, string reason, long count);

    [LoggerMessage(1617, LogLevel.Warning, "{Why}.")]
    public static partial void TopicStalled(ILogger logger, string why);

    [LoggerMessage(1618, LogLevel.Information, "{What} waits no more, after {Time}.")]
    public static partial void TopicGoesOn(ILogger logger, string what, TimeSpan time);

    [LoggerMessage(1615, LogLevel.Error, "A configuration could not be applied by the topics of this node.")]
    public static partial void ConfigurationFailed(ILogger logger, Exception exception);
}
