using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Dissemination;

// A way of reaching the members of a view. A node has one scheme, which may consist of several (RegionalDissemination), and all nodes of a
// cluster have the same.
internal interface IDisseminationScheme
{
    INodeDissemination ForNode(IDisseminationParts parts);
}

// What a scheme may use of the node. The ports and the deaf members are set before the node has its first view.
internal interface IDisseminationParts
{
    NodeContext Node { get; }

    SendingPorts Ports { get; }

    DeafMembers Deaf { get; }
}

// A node's part of a scheme. It lasts as long as the node, such as the links of an overlay, on which the trees of many regions lie.
internal interface INodeDissemination : IGroupUse, IPacketHandler
{
    /// <summary>The kinds of the scheme's own packets, of the range of protocols. They come to this object.</summary>
    IReadOnlyList<PacketKind> Kinds => [];

    /// <summary>
    /// Whether packets for several regions may be sent once, to the address of their topic. All regions use their groups then.
    /// </summary>
    bool SharesTopics { get; }

    IDisseminator ToSend(RegionView view);

    /// <summary>Returns what a member does with packets besides delivering them; null: nothing.</summary>
    IForwarder? ToForward(RegionView view) => null;

    DropReason IPacketHandler.OnPacket(in PacketHeader header, NodeKey sender) => DropReason.UnknownKind;

    /// <summary>The node ends. Its views are closed.</summary>
    void Close()
    {
    }
}

// A member's part of a scheme in which members forward packets.
internal interface IForwarder
{
    /// <summary>Called when a data packet was accepted for the first time. The packet is valid during the call only.</summary>
    void OnReceived(in PacketHeader header, ReadOnlySpan<byte> packet);

    /// <summary>Called when the view is closed here.</summary>
    void Close();
}
