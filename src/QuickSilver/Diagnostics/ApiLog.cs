using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Views;

namespace QuickSilver.Diagnostics;

// The log events of the public API, ids 1600 to 1699. Never reuse an id: the id of an event that no longer exists stays here as a comment.
internal static partial class ApiLog
{
    [LoggerMessage(1600, LogLevel.Information, "Node {Node} has joined the cluster \"{Cluster}\".")]
    public static partial void Joined(ILogger logger, NamedNode node, string cluster);

    [LoggerMessage(1625, LogLevel.Information, "The node uses the interface {Interface}.")]
    public static partial void InterfaceChosen(ILogger logger, string @interface);

    // Events 1301 and 1313 have the reason, and 1628 and 1632 warn when the service stays away.
    [LoggerMessage(1601, LogLevel.Information, "The membership service is unreachable. Data still flows in the last views.")]
    public static partial void ServiceLost(ILogger logger);

    [LoggerMessage(1602, LogLevel.Information, "The membership service is reachable again.")]
    public static partial void ServiceBack(ILogger logger);

    [LoggerMessage(1628, LogLevel.Warning,
        "The membership service has not been heard for {Seconds:F1} s and may have removed this node. Publishers of this node that "
        + "require the service, and so refuse messages: {Held}.")]
    public static partial void Degraded(ILogger logger, double seconds, int held);

    [LoggerMessage(1632, LogLevel.Warning,
        "The membership service has not been heard for {Seconds:F1} s. Publishers of this node that refuse messages, because they "
        + "require the service or their ServiceLossLimit is over: {Held}.")]
    public static partial void ServiceLossLimitReached(ILogger logger, double seconds, int held);

    [LoggerMessage(1629, LogLevel.Error, "A handler of StatusChanged threw.")]
    public static partial void StatusHandlerThrew(ILogger logger, Exception exception);

    [LoggerMessage(1630, LogLevel.Warning,
        "Topic \"{Topic}\": {Option} does not protect it. The nodes of this cluster host the membership service themselves, so each part "
        + "of a divided network has one. Run the service with qsm gms, and name it in Membership:Servers on all nodes.")]
    public static partial void QuorumWithoutService(ILogger logger, string topic, string option);

    [LoggerMessage(1603, LogLevel.Error, "The membership service removed this node: {Reason}. Its topics are closed. Start a new node.")]
    public static partial void Expelled(ILogger logger, string reason);

    [LoggerMessage(1607, LogLevel.Error, "This node left the cluster: {Reason}. Its topics are closed. Start a new node.")]
    public static partial void GaveUp(ILogger logger, string reason);

    [LoggerMessage(1604, LogLevel.Debug, "Timed out after {Timeout} joining a membership service: {Where}.")]
    public static partial void StartFailed(ILogger logger, TimeSpan timeout, string where);

    [LoggerMessage(1605, LogLevel.Information,
        "The node has stopped (messages: {Accepted} accepted to publish, {Sent} sent, {Delivered} delivered, {Unhandled} not handled).")]
    public static partial void Stopped(ILogger logger, long accepted, long sent, long delivered, long unhandled);

    [LoggerMessage(1650, LogLevel.Warning,
        "Topic \"{Topic}\": the endpoint ended before messages that had come were handled ({Count}): {Ranges}.")]
    public static partial void Unhandled(ILogger logger, string topic, long count, string ranges);

    [LoggerMessage(1651, LogLevel.Warning,
        "Topic \"{Topic}\": the endpoint ended before a reader was notified of messages that its full buffer had dropped "
        + "({Count}): {Ranges}.")]
    public static partial void DroppedUnread(ILogger logger, string topic, long count, string ranges);

    [LoggerMessage(1606, LogLevel.Warning,
        "The node did not shut down cleanly in time: the core thread is blocked, or members or servers did not answer.")]
    public static partial void StopTimedOut(ILogger logger);

    [LoggerMessage(1610, LogLevel.Warning, "Topic \"{Topic}\" was refused: {Refusal}")]
    public static partial void TopicRefused(ILogger logger, string topic, string refusal);

    [LoggerMessage(1611, LogLevel.Warning, "Topic \"{Topic}\": messages {First} to {Last} of {Sender} cannot be delivered: {Reason}.")]
    public static partial void GapReported(ILogger logger, string topic, NamedNode sender, long first, long last, string reason);

    [LoggerMessage(1619, LogLevel.Warning, "Topic \"{Topic}\": a reader blocked the senders for {Limit}. Its endpoint was closed.")]
    public static partial void ReaderTooSlow(ILogger logger, string topic, TimeSpan limit);

    [LoggerMessage(1612, LogLevel.Error,
        "A handler of topic \"{Topic}\" threw on message {Sequence} of {Sender}. Exceptions of handlers of this node so far: {Count}.")]
    public static partial void HandlerThrew(ILogger logger, Exception exception, string topic, NamedNode sender, long sequence, long count);

    [LoggerMessage(1620, LogLevel.Error,
        "An observer of topic \"{Topic}\" threw at its end. Exceptions of handlers of this node so far: {Count}.")]
    public static partial void ObserverThrew(ILogger logger, Exception exception, string topic, long count);

    [LoggerMessage(1621, LogLevel.Error,
        "A consumer of topic \"{Topic}\" threw on message {Sequence} of {Sender} and skipped it (attempts: {Attempts}). Messages that "
        + "consumers of this node have skipped so far: {Count}.")]
    public static partial void ConsumerSkipped(
        ILogger logger, Exception exception, string topic, NamedNode sender, long sequence, int attempts, long count);

    [LoggerMessage(1622, LogLevel.Error,
        "A consumer of topic \"{Topic}\" threw on message {Sequence} of {Sender} and stopped (attempts: {Attempts}).")]
    public static partial void ConsumerStopped(
        ILogger logger, Exception exception, string topic, NamedNode sender, long sequence, int attempts);

    [LoggerMessage(1623, LogLevel.Warning,
        "The handler {Method} of topic \"{Topic}\" ({Payload}) blocks the core thread. Use Subscribe, which may wait.")]
    public static partial void HandlerBlocks(ILogger logger, string method, string topic, string payload);

    [LoggerMessage(1624, LogLevel.Error, "A handler that blocked the core thread was detached.")]
    public static partial void HandlerTooSlow(ILogger logger, Exception exception);

    [LoggerMessage(1850, LogLevel.Error,
        "The detail of a fault of a responder of \"{Name}\" cannot be sent. Its requester {Requester} gets the message alone. "
        + "{Count} such faults in all.")]
    public static partial void FaultNotSent(ILogger logger, Exception exception, string name, NamedNode requester, long count);

    [LoggerMessage(1627, LogLevel.Error,
        "A responder of \"{Name}\" failed to answer a request of {Requester}, which gets the message. Such failures without a fault "
        + "so far: {Count}.")]
    public static partial void ResponderThrew(ILogger logger, Exception exception, string name, NamedNode requester, long count);

    [LoggerMessage(1930, LogLevel.Warning,
        "The responder of \"{Name}\" ended before all of its handlers had answered. Their token is cancelled, and their requesters see "
        + "that the responder left (requests: {Count}).")]
    public static partial void ResponderLeftRequests(ILogger logger, string name, int count);

    [LoggerMessage(1631, LogLevel.Warning,
        "Dropped an answer of {Node} to a request for \"{Name}\": that node was not asked, and does not respond to it. {Count} such "
        + "answers in all.")]
    public static partial void AnswerUnasked(ILogger logger, string name, NamedNode node, long count);

    [LoggerMessage(1626, LogLevel.Error,
        "State \"{Name}\": failed to read what {Node} gave. It is asked for again. {Count} such failures in all.")]
    public static partial void StatePieceFailed(ILogger logger, Exception exception, string name, NamedNode node, long count);

    [LoggerMessage(1633, LogLevel.Warning,
        "State \"{Name}\": refused a change of {Node}. It has the number {Number}, and at most {Limit} can have been counted. {Count} "
        + "refused changes in all.")]
    public static partial void StateChangeRefused(ILogger logger, string name, NamedNode node, long number, long limit, long count);

    [LoggerMessage(1634, LogLevel.Warning, "{What} It has needed it for {Seconds:0.0} s.")]
    public static partial void StateNotComplete(ILogger logger, string what, double seconds);

    [LoggerMessage(1637, LogLevel.Error,
        "State \"{Name}\": the heap of this process has no memory for what {Node} gave. It is asked for again after a pause. Raise the "
        + "limit of the container or of the heap (DOTNET_GCHeapHardLimit) of this process. {Count} such failures in all.")]
    public static partial void StateHasNoMemory(ILogger logger, Exception exception, string name, NamedNode node, long count);

    [LoggerMessage(1635, LogLevel.Error,
        "State \"{Name}\": failed to give {Node} what this node has. That node asks again. {Count} such failures in all.")]
    public static partial void StateNotGiven(ILogger logger, Exception exception, string name, NamedNode node, long count);

    [LoggerMessage(1655, LogLevel.Error,
        "The protocol {Protocol} failed to give {Node} what it asked for. That node asks again. {Count} such failures in all.")]
    public static partial void TransferNotGiven(ILogger logger, Exception exception, string protocol, NamedNode node, long count);

    [LoggerMessage(1636, LogLevel.Error, "State \"{Name}\": failed to send the other nodes a message.")]
    public static partial void StateNotSent(ILogger logger, Exception exception, string name);

    [LoggerMessage(1640, LogLevel.Warning,
        "The prefix \"{Prefix}\" has as many topics as MaxTopics allows ({Most}), and more are published ({Beyond}). Raise "
        + "MaxTopics, or open longer prefixes.")]
    public static partial void PrefixFull(ILogger logger, string prefix, int most, int beyond);

    [LoggerMessage(1641, LogLevel.Error, "OnTopic of the prefix \"{Prefix}\" threw on topic \"{Topic}\".")]
    public static partial void PrefixCallbackThrew(ILogger logger, Exception exception, string prefix, string topic);

    [LoggerMessage(1642, LogLevel.Warning,
        "The membership service at {Service} has not reported the topics of the prefix \"{Prefix}\" within {Limit}. It most likely has a "
        + "version without prefixes. Topics that come now are not subscribed. Update the program that hosts the service.")]
    public static partial void PrefixUnanswered(ILogger logger, string prefix, IPEndPoint service, TimeSpan limit);

    [LoggerMessage(1613, LogLevel.Error,
        "A feed of topic \"{Topic}\" threw and is called again when it signals. Feeds of this node have thrown {Count} exceptions.")]
    public static partial void FeedThrew(ILogger logger, Exception exception, string topic, long count);

    [LoggerMessage(1614, LogLevel.Error,
        "Failed to decode message {Sequence} of {Sender} in topic \"{Topic}\". It is reported as a gap. Check that both sides have the "
        + "same contract and codec. {Count} failures in all.")]
    public static partial void PayloadUndecodable(
        ILogger logger, Exception exception, string topic, NamedNode sender, long sequence, long count);

    [LoggerMessage(1616, LogLevel.Error, "A message for topic \"{Topic}\" cannot be sent: {Reason} {Count} failures in all.")]
    public static partial void PublishImpossible(ILogger logger, string topic, string reason, long count);

    [LoggerMessage(1660, LogLevel.Warning,
        "Topic \"{Topic}\": {Count} accepted messages may never arrive. {Dropped} were not sent, and {Unacknowledged} were sent and not "
        + "acknowledged by all members. {Waited} {Remedy}")]
    public static partial void PublishesLost(
        ILogger logger, string topic, long count, long dropped, long unacknowledged, string waited, string remedy);

    [LoggerMessage(1661, LogLevel.Information,
        "Topic \"{Topic}\": {Dropped} accepted messages were not sent, because their endpoint was cancelled.")]
    public static partial void PublishesCancelled(ILogger logger, string topic, long dropped);

    [LoggerMessage(1662, LogLevel.Warning,
        "Topic \"{Topic}\": {Dropped} accepted messages were not sent, because their endpoint has ended. {Reason}")]
    public static partial void PublishesFailed(ILogger logger, string topic, long dropped, string reason);

    [LoggerMessage(1663, LogLevel.Warning,
        "The node has ended although its core thread is blocked. {Messages} accepted messages of its topics were not sent.")]
    public static partial void EndedWithoutCore(ILogger logger, long messages);

    [LoggerMessage(1664, LogLevel.Error, "The protocol {Protocol} threw. {Count} exceptions of protocols in all.")]
    public static partial void ProtocolThrew(ILogger logger, Exception exception, string protocol, long count);

    [LoggerMessage(1665, LogLevel.Error, "A reader of letters threw when it was notified of their end.")]
    public static partial void LettersEndThrew(ILogger logger, Exception exception);

    [LoggerMessage(1617, LogLevel.Warning, "{Why}.")]
    public static partial void TopicStalled(ILogger logger, string why);

    [LoggerMessage(1618, LogLevel.Information, "{What} resumed after {Seconds:0.0} s.")]
    public static partial void TopicGoesOn(ILogger logger, string what, double seconds);

    [LoggerMessage(1615, LogLevel.Error, "The topics of this node failed to apply a configuration.")]
    public static partial void ConfigurationFailed(ILogger logger, Exception exception);
}
