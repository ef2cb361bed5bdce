using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Dispatch;

// Takes the packets of the kinds for which it was registered. Core thread; the packet is valid during the call only.
internal interface IPacketHandler
{
    /// <summary>None, or why the packet was refused: that is counted, and nothing else happens.</summary>
    DropReason OnPacket(in PacketHeader header, NodeKey sender);
}
