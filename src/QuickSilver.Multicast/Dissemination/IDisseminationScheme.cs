using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Dissemination;

// A way of reaching the members of a view. A node has one scheme, and all nodes of a cluster have the same.
internal interface IDisseminationScheme
{
    IDisseminator ToSend(NodeContext context, SendingPorts ports, DeafMembers deaf, RegionView view);

    /// <summary>Returns what a member does with packets besides delivering them; null: nothing.</summary>
    IForwarder? ToForward(NodeContext context, RegionView view) => null;
}

// A member's part of a scheme in which members forward packets.
internal interface IForwarder
{
    /// <summary>Called when a data packet was accepted for the first time. The packet is valid during the call only.</summary>
    void OnReceived(in PacketHeader header, ReadOnlySpan<byte> packet);

    /// <summary>Called when the view is closed here.</summary>
    void Close();
}
