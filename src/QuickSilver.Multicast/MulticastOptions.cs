using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Stability;

namespace QuickSilver.Multicast;

// The options of a node, and the schemes that it uses.
internal sealed record MulticastOptions : NodeOptions
{
    // How losses are repaired, how packets reach the members of a view, and how the members determine what all of them hold. These must be
    // the same at all nodes of a cluster.
    public IRepairScheme Repair { get; init; } = PeerPullRepair.Scheme;

    public IDisseminationScheme Dissemination { get; init; } = GroupMulticast.Scheme;

    public IStabilityScheme Stability { get; init; } = RingHierarchy.Scheme;

    /// <summary>
    /// The least packet memory of a node: twice the largest message, and so much that the senders' share has room for the largest message
    /// in packets of this size.
    /// </summary>
    public static long LeastBufferBytes(int packetBytes) =>
        Math.Max(2L * MaxMessageBytes, MemoryShares.LeastBytes(Packer.MostBlocks(MaxMessageBytes, packetBytes)));

    public override void Validate()
    {
        base.Validate();
        AtMost(PacketHeader.Bytes + MessageHeader.Bytes + StartTable.MaxBytes + 1 + MessageExtensions.MostBytes, MinPacketBytes);
        AtMost(2L * MaxMessageBytes, LeastBufferBytes(PacketBytes));
        AtMost(Packer.MostBlocks(MaxMessageBytes, PacketBytes), new MemoryShares(LeastBufferBytes(PacketBytes) / SlabPool.BlockBytes).Send);
    }
}
