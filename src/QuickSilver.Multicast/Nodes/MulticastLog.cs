using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Nodes;

// Event ids 1400 to 1499. Never reuse an id for another event.
internal static partial class MulticastLog
{
    [LoggerMessage(1400, LogLevel.Warning,
        "The system refuses the group {Group}: {Reason}. The node gets copies by unicast, tries again, and leaves the cluster "
        + "after {Limit}.")]
    public static partial void GroupRefused(ILogger logger, IPEndPoint group, string reason, TimeSpan limit);

    [LoggerMessage(1401, LogLevel.Information, "The group {Group} is open, after {Time}.")]
    public static partial void GroupOpened(ILogger logger, IPEndPoint group, TimeSpan time);

    [LoggerMessage(1403, LogLevel.Warning,
        "The group {Group} uses one of the ports {Ports} that this system assigns automatically, so another program may have it. "
        + "Give the membership service other ports, or reserve its ports here (Linux: net.ipv4.ip_local_reserved_ports).")]
    public static partial void GroupPortEphemeral(ILogger logger, IPEndPoint group, EphemeralPorts ports);

    [LoggerMessage(1410, LogLevel.Warning, "{Why}. ({Stalls} stalls so far.)")]
    public static partial void Stalled(ILogger logger, string why, long stalls);

    [LoggerMessage(1411, LogLevel.Information, "The stall ended after {Time}.")]
    public static partial void StallOver(ILogger logger, TimeSpan time);

    [LoggerMessage(1420, LogLevel.Information,
        "This node stood still for {Milliseconds:F0} ms ({Cause}). It reported that to its ring neighbours ({Nodes}).")]
    public static partial void StoodStill(ILogger logger, double milliseconds, PauseCause cause, int nodes);

    [LoggerMessage(1421, LogLevel.Information,
        "Node {Node} stood still for {Milliseconds:F0} ms ({Cause}), and reported that {Ago:F0} ms after it had resumed. "
        + "Pauses that it has reported: {Count}.")]
    public static partial void MemberStoodStill(
        ILogger logger, NamedNode node, double milliseconds, PauseCause cause, double ago, long count);

    [LoggerMessage(1430, LogLevel.Warning,
        "Packets of more than {Bytes} bytes do not pass between this node and {Node}, and PacketBytes is {PacketBytes}. This node sends "
        + "smaller packets in the regions of that node. A tunnel, an overlay network or an interface on the way has a small MTU.")]
    public static partial void PathShrunk(ILogger logger, IPEndPoint node, int bytes, int packetBytes);

    [LoggerMessage(1431, LogLevel.Information,
        "Packets of {Bytes} bytes pass between this node and {Node} now; PacketBytes is {PacketBytes}.")]
    public static partial void PathGrew(ILogger logger, IPEndPoint node, int bytes, int packetBytes);

    [LoggerMessage(1432, LogLevel.Warning,
        "Node {Sender} publishes in {Topic} without the right. Its messages there are dropped ({Count} so far).")]
    public static partial void WithoutRight(ILogger logger, NamedNode sender, string topic, long count);

    [LoggerMessage(1433, LogLevel.Error,
        "Messages {First} to {Last} of node {Sender} in {Topic} never came to this subscription, and no view is left that could bring "
        + "them. They are reported as a gap. No fault of the network explains this: please report it with the logs of both nodes.")]
    public static partial void Unaccounted(ILogger logger, long first, long last, NamedNode sender, string topic);

    [LoggerMessage(1434, LogLevel.Warning,
        "The heap of this process has no memory for messages. They wait, nothing of them is lost, and their senders wait too. "
        + "Refusals: {Count}. Shortages: {Shortages}. Raise the limit of the heap, or lower Limits:ReceivedMessageBytes and what the "
        + "readers keep.")]
    public static partial void HeapFull(ILogger logger, long count, long shortages);

    // Of the level of the event that it ends: a log without it would show a shortage that lasts.
    [LoggerMessage(1435, LogLevel.Warning,
        "The heap of this process has memory for messages again. Refusals: {Count}. Shortages: {Shortages}.")]
    public static partial void HeapFreed(ILogger logger, long count, long shortages);

    [LoggerMessage(1436, LogLevel.Error,
        "The handler of packets of kind {Kind} threw at a packet of node {Sender} that had waited for its view. The packet is dropped.")]
    public static partial void EarlyPacketFailed(ILogger logger, Exception exception, int kind, ulong sender);

    [LoggerMessage(1460, LogLevel.Information,
        "The publisher of {Topic} is held to {Rate:0.#} messages a second by a reader on node {Reader}.")]
    public static partial void TopicPaced(ILogger logger, string topic, NamedNode reader, double rate);

    [LoggerMessage(1461, LogLevel.Information, "The publisher of {Topic} is no longer held by a reader.")]
    public static partial void TopicNotPaced(ILogger logger, string topic);

    [LoggerMessage(1402, LogLevel.Error, "Configuration {Number} could not be applied; the node leaves the cluster.")]
    public static partial void ConfigurationFailed(ILogger logger, Exception exception, long number);
}
