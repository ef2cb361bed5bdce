using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Multicast.Protocols;

// The node as its protocols know it. A protocol asks the environment alone for time, random numbers, alarms and requests. Core thread only.
internal interface IProtocolNode
{
    INodeEnvironment Environment { get; }

    /// <summary>The channels that carry the topics of a protocol.</summary>
    IMulticast Multicast { get; }

    ILogger Log { get; }

    /// <summary>This node.</summary>
    NodeKey Self { get; }

    /// <summary>The live nodes of the cluster, each with its address, the configuration that admitted it, and the identity that it has
    /// proved.</summary>
    NodeRoster Roster { get; }

    /// <summary>
    /// Whether the membership service is known to have this node as a member: it was heard within its heartbeat limit.
    /// </summary>
    bool IsServiceHeard { get; }

    /// <summary>The problems of the node that it reports in its status. A protocol begins and ends its own.</summary>
    Troubles Troubles { get; }

    /// <summary>The packets of protocols.</summary>
    IPacketExchange Packets { get; }

    /// <summary>A node as a person reads it.</summary>
    NamedNode Named(NodeKey node);

    /// <summary>The newest view of a topic that this node has open; null if there is none yet.</summary>
    TopicView? ViewOf(ulong topicId);

    /// <summary>The newest view of a region in which this node is, or to which it may send; null if there is none.</summary>
    RegionView? RegionOf(ulong region);

    /// <summary>
    /// Opens the letters of a protocol: from now on the reader gets what the same protocol of other nodes sends to this node alone.
    /// </summary>
    /// <param name="protocol">The guarantee of the protocol, the same on all nodes.</param>
    /// <param name="reader">The reader.</param>
    /// <exception cref="InvalidOperationException">The letters are open, or another protocol has the same number.</exception>
    ILetters OpenLetters(string protocol, ILetterReader reader);

    /// <summary>Opens the transfers of a protocol: from now on the source gives what the same protocol of other nodes asks for.</summary>
    /// <param name="protocol">The guarantee of the protocol, the same on all nodes.</param>
    /// <param name="source">What this node gives.</param>
    /// <exception cref="InvalidOperationException">The transfers are open, or another protocol has the same number.</exception>
    ITransfers OpenTransfers(string protocol, ITransferSource source);

    /// <summary>Opens the logs of a protocol, which are on the disk of this node and outlive it.</summary>
    /// <param name="protocol">The guarantee of the protocol, the same in all processes that have the same logs.</param>
    /// <exception cref="InvalidOperationException">They are open, or those of another protocol would have the same names.</exception>
    ProtocolLogs OpenLogs(string protocol);

    /// <summary>
    /// Called when a protocol begins to wait for something that may take long: from now on the node calls
    /// <see cref="ITopicProtocol.AddWaits"/> until nothing waits.
    /// </summary>
    void OnWait();
}
