using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// Event ids 1450 to 1459. Never reuse an id for another event.
internal static partial class HearingLog
{
    [LoggerMessage(1450, LogLevel.Warning,
        "This node does not hear {Count} of its senders over multicast, for example {Sender} at {Address}. They send copies by unicast. "
        + "The network or a firewall blocks the group {Group}. If this is permanent, set Dissemination to Unicast on all nodes.")]
    public static partial void SendersNotHeard(ILogger logger, int count, NamedNode sender, string address, IPEndPoint? group);

    [LoggerMessage(1451, LogLevel.Information, "This node hears all its senders over multicast again.")]
    public static partial void SendersHeard(ILogger logger);

    [LoggerMessage(1452, LogLevel.Warning,
        "{Count} of the nodes to which this node sends do not hear it over multicast, for example {Member} at {Address}: {Consequence}.")]
    public static partial void MembersDeaf(ILogger logger, int count, NamedNode member, string address, string consequence);

    [LoggerMessage(1453, LogLevel.Information, "All nodes to which this node sends hear it over multicast again.")]
    public static partial void MembersHear(ILogger logger);
}
