using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Nodes.Packets;

// The packets of protocols: registers their handlers, and sends by the unicast port of the node.
internal sealed class PacketExchange(NodeContext context, PacketHandlers handlers) : IPacketExchange
{
    public int MostBytes => context.Options.PacketBytes - PacketHeader.Bytes;

    public int SafeBytes => Math.Min(MostBytes, NodeOptions.MinPacketBytes - PacketHeader.Bytes);

    public void Register(PacketKind kind, string owner, IPacketHandler handler, bool keepsEarly = false) =>
        handlers.Register(kind, owner, handler, keepsEarly);

    public bool TrySend(PacketKind kind, RegionView view, NodeKey to, long number, ReadOnlySpan<byte> body)
    {
        PacketKinds.CheckOfProtocol(kind);
        ArgumentOutOfRangeException.ThrowIfNegative(number);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(body.Length, MostBytes);
        if (context.Directory.Find(to) is not { } address)
        {
            return false;
        }

        var packet = context.Scratch.FullPacket.AsSpan(0, PacketHeader.Bytes + body.Length);
        context.Template(view).Write(packet, kind, PacketFlags.None, number, 0, 0);
        body.CopyTo(packet[PacketHeader.Bytes..]);
        PacketTemplate.Seal(packet);
        if (to == context.Self)
        {
            // Not over the network, so the handler must not count on one packet being handled before the next is sent.
            // In memory of its own, because what the handler sends is written where this packet was.
            handlers.Find(kind)?.OnPacket(new PacketHeader(packet.ToArray()), to);
        }
        else
        {
            context.SendControl(packet, address);
        }

        return true;
    }
}
