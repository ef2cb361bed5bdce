using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Stability;

// Passes tokens, probes and replies to probes to the stability tracker of the view that they name. A node that still has a view open
// which was closed here is notified of that, because it need not wait for this node.
internal sealed class StabilityHandler(NodeContext context, OpenViews views) : IPacketHandler
{
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        var refused = views.Find(header, out var region);
        if (refused != DropReason.None)
        {
            if (refused == DropReason.StaleView && header.Kind is PacketKind.Token or PacketKind.Probe)
            {
                Answer(header, sender, PacketFlags.Final);
            }

            return refused;
        }

        if (region!.IsGone(sender))
        {
            return DropReason.UnknownSender;
        }

        if (header.Kind == PacketKind.Probe)
        {
            Answer(header, sender, PacketFlags.None);
        }
        else if (header.Kind == PacketKind.ProbeReply && (header.Flags & PacketFlags.Final) != 0)
        {
            region.OnMemberClosed(sender);
        }

        return region.Stability.OnPacket(header, sender);
    }

    private void Answer(in PacketHeader probe, NodeKey from, PacketFlags flags)
    {
        if (context.Directory.Find(from) is { } address)
        {
            int bytes = probe.Kind == PacketKind.Probe ? probe.Length : PacketHeader.Bytes;
            var packet = context.Scratch.FullPacket.AsSpan(0, Math.Min(bytes, context.Scratch.FullPacket.Length));
            packet.Clear();
            var template = new PacketTemplate(
                context.Options.ClusterId, context.Self.Id, context.Self.Incarnation, probe.Region, probe.View);
            template.Write(packet, PacketKind.ProbeReply, flags, 0, 0, 0);
            PacketTemplate.Seal(packet);
            context.SendControl(packet, address);
        }
    }
}
