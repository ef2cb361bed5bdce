using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Diagnostics;

// Event ids 1200 to 1299: the service; 1300 to 1399: client and discovery. An id is never given to another event.
internal static partial class MembershipLog
{
    [LoggerMessage(1200, LogLevel.Information, "Membership service of cluster '{Cluster}' is listening on {EndPoint}.")]
    public static partial void ServiceListens(this ILogger logger, string cluster, IPEndPoint endPoint);

    [LoggerMessage(1201, LogLevel.Information, "Epoch {Epoch} begins with configuration {Configuration}.")]
    public static partial void EpochBegins(this ILogger logger, long epoch, long configuration);

    [LoggerMessage(1202, LogLevel.Information, "Nodes of an earlier service return. No views for {Grace}, so that all nodes can register.")]
    public static partial void Gathering(this ILogger logger, TimeSpan grace);

    [LoggerMessage(1203, LogLevel.Information, "Node {Node} at {EndPoint} joined with its topics ({Topics}).")]
    public static partial void NodeJoined(this ILogger logger, NamedNode node, IPEndPoint endPoint, int topics);

    [LoggerMessage(1204, LogLevel.Information, "Node {Node} resumed its session.")]
    public static partial void NodeResumed(this ILogger logger, NamedNode node);

    [LoggerMessage(1205, LogLevel.Information, "Node {Node} left.")]
    public static partial void NodeLeft(this ILogger logger, NamedNode node);

    [LoggerMessage(1206, LogLevel.Warning, "Node {Node} is removed: {Reason}.")]
    public static partial void NodeRemoved(this ILogger logger, NamedNode node, string reason);

    [LoggerMessage(1207, LogLevel.Information, "Node {Reporter} suspects node {Node}: {Reason}.")]
    public static partial void NodeSuspected(this ILogger logger, NamedNode node, NamedNode reporter, string reason);

    [LoggerMessage(1208, LogLevel.Warning, "Refused a join from {EndPoint}: {Reason}")]
    public static partial void JoinRefused(this ILogger logger, IPEndPoint? endPoint, string reason);

    [LoggerMessage(1209, LogLevel.Warning, "Closed the session from {EndPoint}: {Reason}.")]
    public static partial void SessionClosed(this ILogger logger, IPEndPoint? endPoint, string reason);

    [LoggerMessage(1210, LogLevel.Debug, "Configuration {Configuration}: {Nodes} nodes, {Topics} topics, {Regions} regions.")]
    public static partial void ConfigurationMade(this ILogger logger, long configuration, int nodes, int topics, int regions);

    [LoggerMessage(1211, LogLevel.Warning, "The epoch could not be {Action}: {Reason}. Returning nodes report the epoch they know.")]
    public static partial void StoreFailed(this ILogger logger, string action, string reason);

    [LoggerMessage(1212, LogLevel.Warning, "The multicast range is exhausted: regions share addresses ({Shared}). Set a larger range.")]
    public static partial void AddressesShared(this ILogger logger, long shared);

    [LoggerMessage(1213, LogLevel.Information, "Refused topic '{Topic}' to node {Node}: {Refusal}")]
    public static partial void TopicRefused(this ILogger logger, string topic, NamedNode node, string refusal);

    [LoggerMessage(1214, LogLevel.Information, "The membership service is stopping.")]
    public static partial void ServiceEnds(this ILogger logger);

    [LoggerMessage(1215, LogLevel.Information,
        "Node {Node} stood still for {Milliseconds:F0} ms ({Cause}) and was silent for {SilentMilliseconds:F0} ms. "
        + "Pauses that it has reported: {Count}.")]
    public static partial void NodeStoodStill(
        this ILogger logger, NamedNode node, double milliseconds, PauseCause cause, double silentMilliseconds, long count);

    [LoggerMessage(1216, LogLevel.Information,
        "The membership service stood still for {Milliseconds:F0} ms ({Cause}). This does not count as silence of its members.")]
    public static partial void ServiceStoodStill(this ILogger logger, double milliseconds, PauseCause cause);

    [LoggerMessage(1217, LogLevel.Information,
        "{Adopted} of {Regions} regions continue with the views that their members have from the earlier service.")]
    public static partial void RegionsAdopted(this ILogger logger, int adopted, int regions);

    [LoggerMessage(1218, LogLevel.Warning,
        "The rights of this program ({Rights}) threw when they were asked whether '{Identity}' may {Right} topic '{Topic}'. "
        + "It may not. They have thrown {Count} exceptions.")]
    public static partial void RightsThrew(
        this ILogger logger, Exception exception, string rights, string identity, string right, string topic, long count);

    [LoggerMessage(1230, LogLevel.Warning,
        "The group ports {Ports} are in the system's ephemeral port range, so other programs may use them. Choose other ports "
        + "(FirstGroupPort and LastGroupPort, or --group-ports), or reserve them (Linux: net.ipv4.ip_local_reserved_ports).")]
    public static partial void GroupPortsEphemeral(this ILogger logger, Regions.Addresses.GroupPorts ports);

    [LoggerMessage(1240, LogLevel.Debug, "Node {Node} reached {Met} of {Tried} members while {Suspect} is suspected.")]
    public static partial void Found(this ILogger logger, NamedNode node, int met, int tried, NamedNode suspect);

    [LoggerMessage(1300, LogLevel.Information, "Connected to the membership service at {EndPoint}.")]
    public static partial void ServiceFound(this ILogger logger, IPEndPoint? endPoint);

    [LoggerMessage(1301, LogLevel.Warning, "Lost the connection to the membership service: {Reason}. The last views stay in effect.")]
    public static partial void ServiceLost(this ILogger logger, string reason);

    [LoggerMessage(1313, LogLevel.Information,
        "The membership service at {EndPoint} is ending. The last views stay in effect while this node connects to the next one.")]
    public static partial void ServiceEnded(this ILogger logger, IPEndPoint? endPoint);

    [LoggerMessage(1302, LogLevel.Warning, "The membership service refused this node: {Reason}")]
    public static partial void Refused(this ILogger logger, string reason);

    [LoggerMessage(1303, LogLevel.Error, "The membership service removed this node: {Reason}")]
    public static partial void Expelled(this ILogger logger, string reason);

    [LoggerMessage(1304, LogLevel.Warning, "Configuration {Number} is based on {Previous}, but this node has {Known}. It requests all.")]
    public static partial void ConfigurationGap(this ILogger logger, long number, long previous, long known);

    [LoggerMessage(1305, LogLevel.Error, "The new membership service refused topic '{Topic}', which is open on this node: {Refusal}")]
    public static partial void TopicLost(this ILogger logger, string topic, string refusal);

    [LoggerMessage(1306, LogLevel.Information, "No membership service found. This node hosts one at {EndPoint}.")]
    public static partial void Hosting(this ILogger logger, IPEndPoint endPoint);

    [LoggerMessage(1307, LogLevel.Information, "The membership service hosted here yields to the one at {EndPoint}.")]
    public static partial void Yielding(this ILogger logger, IPEndPoint endPoint);

    [LoggerMessage(1322, LogLevel.Warning, "Datagrams to or from this node are lost: {Isolation}.")]
    public static partial void Isolated(this ILogger logger, string isolation);

    [LoggerMessage(1321, LogLevel.Information, "Datagrams to and from this node are no longer known to be lost.")]
    public static partial void IsolationEnded(this ILogger logger);

    [LoggerMessage(1308, LogLevel.Warning, "Discovery failed: {Reason}. Other nodes may not find this node.")]
    public static partial void DiscoveryFailed(this ILogger logger, string reason);

    [LoggerMessage(1309, LogLevel.Warning, "Nodes of this cluster speak version {Version} of the membership protocol "
        + "({Count} datagrams of other versions so far). This node speaks version {Own} and does not join them.")]
    public static partial void OtherVersion(this ILogger logger, int version, int own, long count);

    [LoggerMessage(1311, LogLevel.Warning,
        "Discovery from {EndPoint} for this cluster is not authenticated by a secret of this node, and is ignored ({Count} so far). "
        + "All nodes of a cluster must have the same secret, or none.")]
    public static partial void DiscoveryNotAuthentic(this ILogger logger, IPEndPoint endPoint, long count);

    [LoggerMessage(EventId = 1310, Message = "Cannot join the membership service at {EndPoint}: {Reason}. Retrying.")]
    public static partial void ServiceDoesNotComeThrough(this ILogger logger, LogLevel level, IPEndPoint? endPoint, string reason);

    [LoggerMessage(1312, LogLevel.Warning,
        "Discovery named another host of the membership service at {EndPoint}, which has not proved that it is one: {Reason} "
        + "This node continues unchanged ({Count} so far).")]
    public static partial void HostNotProved(this ILogger logger, IPEndPoint endPoint, string reason, long count);

    [LoggerMessage(1314, LogLevel.Warning,
        "The service at {EndPoint} answers discovery, and has not taken this node in for {Limit} ({Reason}). It does not count as found "
        + "until it does.")]
    public static partial void ServiceGivenUp(this ILogger logger, IPEndPoint endPoint, TimeSpan limit, string? reason);

    [LoggerMessage(1315, LogLevel.Warning,
        "No interface of this machine has the address {Address} of this node any more. If it does not come back within {Limit}, the node "
        + "ends.")]
    public static partial void AddressLost(this ILogger logger, IPAddress address, TimeSpan limit);

    [LoggerMessage(1316, LogLevel.Information, "This machine has the address {Address} of this node again.")]
    public static partial void AddressReturned(this ILogger logger, IPAddress address);

    [LoggerMessage(1317, LogLevel.Warning, "{Trouble} Start all servers with the same --etcd and --cluster, or name one server.")]
    public static partial void ServersApart(this ILogger logger, string trouble);

    [LoggerMessage(1320, LogLevel.Error, "This node is leaving the cluster: {Reason}.")]
    public static partial void GaveUp(this ILogger logger, string reason);

    [LoggerMessage(1323, LogLevel.Information,
        "No leading membership server has acknowledged that this node is leaving. It waits up to {Limit} for one, so that the other "
        + "members are notified.")]
    public static partial void WaitsToLeave(this ILogger logger, TimeSpan limit);

    [LoggerMessage(1333, LogLevel.Warning,
        "The number of the next configuration has not been granted for {Time}: {Reason} The members are notified that changes wait.")]
    public static partial void ChangesWait(this ILogger logger, TimeSpan time, string reason);

    [LoggerMessage(1334, LogLevel.Information, "Changes are made again, after {Time}.")]
    public static partial void ChangesGoOn(this ILogger logger, TimeSpan time);

    [LoggerMessage(1335, LogLevel.Warning, "{Trouble}")]
    public static partial void ServiceWaits(this ILogger logger, string trouble);

    [LoggerMessage(1336, LogLevel.Warning,
        "The state file {File} cannot be written: {Reason}. The service starts, and continues from what returning nodes report. Free space "
        + "on the disk. The service saves its epoch again with the next configuration.")]
    public static partial void StateNotWritten(this ILogger logger, string? file, string reason);

    [LoggerMessage(1324, LogLevel.Warning,
        "This process may open {Limit} files and sockets, of which {Reserve} stay in reserve. This is too few for {MaxSessions} sessions, "
        + "which the membership service takes otherwise. To raise the limit: ulimit -n (systemd: LimitNOFILE).")]
    public static partial void FewDescriptors(this ILogger logger, int limit, int reserve, int maxSessions);

    [LoggerMessage(1330, LogLevel.Warning, "{Trouble}")]
    public static partial void HostsAlone(this ILogger logger, string trouble);

    [LoggerMessage(1331, LogLevel.Information,
        "No other node has been found since this node started to host the membership service at {Service}. The loopback "
        + "interface reaches this machine only. To find nodes on other machines, set the option Interface on all nodes.")]
    public static partial void HostsAloneOnLoopback(this ILogger logger, IPEndPoint service);
}
