using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Diagnostics;

// Event ids 1200 to 1299: the service; 1300 to 1399: client and discovery. An id is never given to another event.
internal static partial class MembershipLog
{
    [LoggerMessage(1200, LogLevel.Information, "Membership service of cluster '{Cluster}' listens on {EndPoint}.")]
    public static partial void ServiceListens(this ILogger logger, string cluster, IPEndPoint endPoint);

    [LoggerMessage(1201, LogLevel.Information, "Epoch {Epoch} begins with configuration {Configuration}.")]
    public static partial void EpochBegins(this ILogger logger, long epoch, long configuration);

    [LoggerMessage(1202, LogLevel.Information, "Nodes of an earlier service return; no views are made for {Grace}, so that all register.")]
    public static partial void Gathering(this ILogger logger, TimeSpan grace);

    [LoggerMessage(1203, LogLevel.Information, "Node {Node} at {EndPoint} joined with {Topics} topics.")]
    public static partial void NodeJoined(this ILogger logger, NodeKey node, IPEndPoint endPoint, int topics);

    [LoggerMessage(1204, LogLevel.Information, "Node {Node} resumed its session.")]
    public static partial void NodeResumed(this ILogger logger, NodeKey node);

    [LoggerMessage(1205, LogLevel.Information, "Node {Node} left.")]
    public static partial void NodeLeft(this ILogger logger, NodeKey node);

    [LoggerMessage(1206, LogLevel.Warning, "Node {Node} is removed: {Reason}.")]
    public static partial void NodeRemoved(this ILogger logger, NodeKey node, string reason);

    [LoggerMessage(1207, LogLevel.Information, "Node {Reporter} suspects node {Node}: {Reason}.")]
    public static partial void NodeSuspected(this ILogger logger, NodeKey node, NodeKey reporter, string reason);

    [LoggerMessage(1208, LogLevel.Warning, "A join from {EndPoint} is refused: {Reason}")]
    public static partial void JoinRefused(this ILogger logger, IPEndPoint? endPoint, string reason);

    [LoggerMessage(1209, LogLevel.Warning, "The session from {EndPoint} is closed: {Reason}.")]
    public static partial void SessionClosed(this ILogger logger, IPEndPoint? endPoint, string reason);

    [LoggerMessage(1210, LogLevel.Debug, "Configuration {Configuration}: {Nodes} nodes, {Topics} topics, {Regions} regions.")]
    public static partial void ConfigurationMade(this ILogger logger, long configuration, int nodes, int topics, int regions);

    [LoggerMessage(1211, LogLevel.Warning, "The epoch could not be {Action} ({Reason}); it grows by what the nodes that return know.")]
    public static partial void StoreFailed(this ILogger logger, string action, string reason);

    [LoggerMessage(1212, LogLevel.Warning, "The multicast range is used up: {Shared} regions share an address. Give a larger range.")]
    public static partial void AddressesShared(this ILogger logger, long shared);

    [LoggerMessage(1213, LogLevel.Information, "Topic '{Topic}' is refused to node {Node}: {Refusal}")]
    public static partial void TopicRefused(this ILogger logger, string topic, NodeKey node, string refusal);

    [LoggerMessage(1214, LogLevel.Information, "The membership service ends.")]
    public static partial void ServiceEnds(this ILogger logger);

    [LoggerMessage(1230, LogLevel.Warning,
        "This system gives each of the ports {Ports} to sockets which ask for any: other programs may have those of groups. Choose others "
        + "(FirstGroupPort and LastGroupPort, or --group-ports), or reserve them (Linux: net.ipv4.ip_local_reserved_ports).")]
    public static partial void GroupPortsEphemeral(this ILogger logger, Regions.GroupPorts ports);

    [LoggerMessage(1240, LogLevel.Debug, "Node {Node} has met {Met} of {Tried} members, as {Suspect} is suspected.")]
    public static partial void Found(this ILogger logger, NodeKey node, int met, int tried, NodeKey suspect);

    [LoggerMessage(1300, LogLevel.Information, "Connected to the membership service at {EndPoint}.")]
    public static partial void ServiceFound(this ILogger logger, IPEndPoint? endPoint);

    [LoggerMessage(1301, LogLevel.Warning, "The membership service is lost ({Reason}); the last views stay in force.")]
    public static partial void ServiceLost(this ILogger logger, string reason);

    [LoggerMessage(1302, LogLevel.Error, "The membership service refuses this node: {Reason}")]
    public static partial void Refused(this ILogger logger, string reason);

    [LoggerMessage(1303, LogLevel.Error, "The membership service has removed this node: {Reason}")]
    public static partial void Expelled(this ILogger logger, string reason);

    [LoggerMessage(1304, LogLevel.Warning, "Configuration {Number} builds on {Previous}, but this node has {Known}: it asks for all.")]
    public static partial void ConfigurationGap(this ILogger logger, long number, long previous, long known);

    [LoggerMessage(1305, LogLevel.Error, "Topic '{Topic}' was open and is refused by the new membership service: {Refusal}")]
    public static partial void TopicLost(this ILogger logger, string topic, string refusal);

    [LoggerMessage(1306, LogLevel.Information, "No membership service answers; this node hosts one at {EndPoint}.")]
    public static partial void Hosting(this ILogger logger, IPEndPoint endPoint);

    [LoggerMessage(1307, LogLevel.Information, "The membership service at {EndPoint} goes on; the one hosted here yields to it.")]
    public static partial void Yielding(this ILogger logger, IPEndPoint endPoint);

    [LoggerMessage(1322, LogLevel.Warning, "Datagrams do not pass at this node: {Isolation}.")]
    public static partial void Isolated(this ILogger logger, string isolation);

    [LoggerMessage(1321, LogLevel.Information, "Datagrams are no longer known to fail at this node.")]
    public static partial void IsolationEnded(this ILogger logger);

    [LoggerMessage(1308, LogLevel.Warning, "Discovery cannot use the network: {Reason}. Other nodes may not find this one.")]
    public static partial void DiscoveryFailed(this ILogger logger, string reason);

    [LoggerMessage(1309, LogLevel.Warning, "Nodes of this cluster speak version {Version} of the membership protocol. "
        + "This node speaks version {Own} and does not join them.")]
    public static partial void OtherVersion(this ILogger logger, int version, int own);

    [LoggerMessage(1310, LogLevel.Information, "This node waits for the membership service at {EndPoint}, and tries again: {Reason}.")]
    public static partial void ServiceDoesNotComeThrough(this ILogger logger, IPEndPoint? endPoint, string reason);

    [LoggerMessage(1320, LogLevel.Error, "This node leaves the cluster: {Reason}.")]
    public static partial void GaveUp(this ILogger logger, string reason);

    [LoggerMessage(1330, LogLevel.Warning, "{Trouble}")]
    public static partial void HostsAlone(this ILogger logger, string trouble);

    [LoggerMessage(1331, LogLevel.Information, "No other node has been found since this one hosts the membership service, at {Service}. "
        + "The loopback interface reaches this machine only: nodes on other machines are found when all set the option Interface.")]
    public static partial void HostsAloneOnLoopback(this ILogger logger, IPEndPoint service);
}
