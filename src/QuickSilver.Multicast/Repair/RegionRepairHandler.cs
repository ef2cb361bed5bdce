using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Repair;

// Passes the packets of a repair scheme's own kinds to its part of the view that they name.
internal sealed class RegionRepairHandler(OpenViews views) : IPacketHandler
{
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        var refused = views.Find(header, out var region);
        if (refused != DropReason.None)
        {
            return refused;
        }

        if (!region!.Live.Contains(sender) || region.IsGone(sender))
        {
            return DropReason.NotMember;
        }

        return region.Healing?.OnPacket(header, sender) ?? DropReason.UnknownKind;
    }
}
