using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Nodes;

// Handles the packets of the kinds for which it is registered. Called on the core thread; the packet is valid during the call only.
internal interface IPacketHandler
{
    /// <summary>Returns None, or the reason for refusing the packet. A refusal is counted and has no other effect.</summary>
    DropReason OnPacket(in PacketHeader header, NodeKey sender);
}
