using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Receiving.Windows;

// Which packets of one stream a member keeps for others. It keeps those of its partition until all members hold them, and the others until
// the keepers of a packet hold it.
//
// Invariant: what is dropped is not kept again, and what is replicated only grows.
internal struct KeptPackets(PacketKeepers keepers, int ownPartition, Retention retention)
{
    // Packets up to here that other members keep are dropped.
    private long _dropped;

    public Retention Retention { get; set; } = retention;

    // Packets from here on are not dropped although other members keep them: members of this member's ring lack them.
    public long KeepFrom { get; set; } = long.MaxValue;

    // The keepers of each packet up to here hold it, so other members need not keep it.
    public long Replicated { get; private set; }

    /// <summary>This member holds all packets up to there that it must keep for others.</summary>
    public readonly long Contiguous(ReceiveWindow window) =>
        keepers.Partitions == 1 ? window.Contiguous : (keepers.FirstKeptBy(ownPartition, window.Missing) ?? window.Arrived + 1) - 1;

    /// <summary>All members hold the packets up to this one, and nothing of them is needed again.</summary>
    public void SkipTo(long through) => Replicated = _dropped = through;

    /// <summary>The keepers hold all packets up to this one. Returns whether that is news.</summary>
    public bool Replicate(long through)
    {
        bool isMore = through > Replicated;
        Replicated = isMore ? through : Replicated;
        return isMore;
    }

    /// <summary>Releases the packets that no member needs from this one any more.</summary>
    /// <param name="packets">The packets.</param>
    /// <param name="consumed">All messages in packets up to this one were accepted above.</param>
    /// <param name="stable">All members hold the packets up to this one.</param>
    public void Release(PacketWindow packets, long consumed, long stable)
    {
        packets.ReleaseThrough(Retention == Retention.None ? consumed : Math.Min(consumed, stable));
        if (keepers.Partitions > 1 && Retention != Retention.All)
        {
            DropWhatOthersKeep(packets, Math.Min(Math.Min(consumed, Replicated), KeepFrom - 1));
        }
    }

    private void DropWhatOthersKeep(PacketWindow packets, long through)
    {
        for (long n = Math.Max(_dropped + 1, packets.Base); n <= through; n++)
        {
            if (keepers.KeeperOf(n) != ownPartition)
            {
                packets.Drop(n);
            }
        }

        _dropped = Math.Max(_dropped, through);
    }
}

// What a member keeps of a stream beyond its own needs.
internal enum Retention : byte
{
    // No other member asks for packets: the member is alone, or the stream is not repaired.
    None,
    // The packets of its partition, until all members hold them.
    OwnPartition,
    // All packets, because a partition has no live member that could keep its own.
    All,
}
