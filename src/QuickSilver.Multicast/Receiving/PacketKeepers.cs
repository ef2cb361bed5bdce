namespace QuickSilver.Multicast.Receiving;

// Which members of a view keep which packets until all members hold them (cooperative caching in the QSM paper): a view of r members has
// ⌊r/k⌋ partitions of at least k, and each packet is kept by one of them. Partitions are intervals of ranks, so every member works out
// the same from the view alone.
internal sealed class PacketKeepers(int members, int replicas)
{
    // Packets next to each other are kept by the same members, since they come in one buffer, and its memory is freed only as a
    // whole; but few, or those who keep a run of packets get all that is asked for while it is new.
    public const int BlockPackets = 8;

    public int Partitions { get; } = Math.Max(1, members / replicas);

    /// <summary>The partition whose members keep the packet.</summary>
    public int KeeperOf(long packet) => (int)(packet / BlockPackets % Partitions);

    /// <summary>The first packet from this one on that the partition keeps.</summary>
    public long FirstKeptBy(int partition, long packet)
    {
        long block = packet / BlockPackets;
        long ahead = (partition - (block % Partitions) + Partitions) % Partitions;
        return ahead == 0 ? packet : (block + ahead) * BlockPackets;
    }

    public int PartitionOf(int rank) => Interval.PartOf(rank, members, Partitions);

    /// <summary>Its members, as ranks.</summary>
    public (int First, int End) MembersOf(int partition) =>
        (Interval.Start(partition, members, Partitions), Interval.Start(partition + 1, members, Partitions));
}

// A number of items cut into parts that differ by one at most: part i of n begins at i * of / n.
internal static class Interval
{
    /// <summary>How many parts of at most so many.</summary>
    public static int Parts(int of, int most) => (of + most - 1) / most;

    public static int Start(int part, int of, int parts) => (int)((long)part * of / parts);

    public static int PartOf(int item, int of, int parts) => (int)((((long)item + 1) * parts - 1) / of);
}
