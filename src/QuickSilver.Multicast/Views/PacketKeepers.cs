using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Views;

// Determines which members of a view keep which packets until all members hold them (cooperative caching: 000, section 2). A view of r
// members has ⌊r/k⌋ partitions of at least k members, and each packet is kept by one partition. Partitions are intervals of ranks, so
// every member computes the same result from the view alone.
internal sealed class PacketKeepers(int members, int replicas)
{
    // The same members keep adjacent packets, because these share one buffer, and its memory is freed only as a whole. The number is
    // small, because all requests for recent packets go to the keepers of that block.
    public const int BlockPackets = 8;

    public int Partitions { get; } = Math.Max(1, members / replicas);

    /// <summary>The partition whose members keep the packet.</summary>
    public int KeeperOf(long packet) => (int)(packet / BlockPackets % Partitions);

    /// <summary>The first packet, from this one on, that the partition keeps.</summary>
    public long FirstKeptBy(int partition, long packet)
    {
        long block = packet / BlockPackets;
        long ahead = (partition - (block % Partitions) + Partitions) % Partitions;
        return ahead == 0 ? packet : (block + ahead) * BlockPackets;
    }

    /// <summary>The first of these packets that the partition keeps; null if it keeps none of them.</summary>
    public long? FirstKeptBy(int partition, SequenceRanges packets)
    {
        for (int i = 0; i < packets.Count; i++)
        {
            var (first, last) = packets[i];
            long kept = FirstKeptBy(partition, first);
            if (kept <= last)
            {
                return kept;
            }
        }

        return null;
    }

    public int PartitionOf(int rank) => Interval.PartOf(rank, members, Partitions);

    /// <summary>The members of the partition, as ranks.</summary>
    public (int First, int End) MembersOf(int partition) =>
        (Interval.Start(partition, members, Partitions), Interval.Start(partition + 1, members, Partitions));
}
