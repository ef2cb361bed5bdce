using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Nodes.Packets;

namespace QuickSilver.InMemory;

// The packets of protocols from one node of the cluster to another. None is lost, except one that comes before its view. Core thread only.
internal sealed class InMemoryPackets(InMemoryParts node, InMemoryCluster cluster) : IPacketExchange
{
    private readonly PacketHandlers _handlers = new();

    public int MostBytes => QuickSilverOptions.DefaultPacketBytes - PacketHeader.Bytes;

    public int SafeBytes => NodeOptions.MinPacketBytes - PacketHeader.Bytes;

    public void Register(PacketKind kind, string owner, IPacketHandler handler, bool keepsEarly = false) =>
        _handlers.Register(kind, owner, handler, keepsEarly);

    public bool TrySend(PacketKind kind, RegionView view, NodeKey to, long number, ReadOnlySpan<byte> body)
    {
        PacketKinds.CheckOfProtocol(kind);
        ArgumentOutOfRangeException.ThrowIfNegative(number);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(body.Length, MostBytes);
        if (cluster.FindNode(to) is not { } receiver)
        {
            return false;
        }

        byte[] packet = new byte[PacketHeader.Bytes + body.Length];
        new PacketTemplate(0, node.Self.Id, node.Self.Incarnation, view.RegionId, view.Number).Write(
            packet, kind, PacketFlags.None, number, 0, 0);
        body.CopyTo(packet.AsSpan(PacketHeader.Bytes));
        PacketTemplate.Seal(packet);
        var sender = node.Self;
        receiver.Post(() => receiver.ProtocolPackets.Take(packet, sender));
        return true;
    }

    private void Take(byte[] packet, NodeKey sender)
    {
        var header = new PacketHeader(packet);
        _handlers.Find(header.Kind)?.OnPacket(header, sender);
    }
}
