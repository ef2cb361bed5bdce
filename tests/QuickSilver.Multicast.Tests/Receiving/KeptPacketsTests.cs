using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Receiving.Windows;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Tests.Receiving;

// Two partitions: the first keeps the packets 1 to 7 and 16 to 23, the other one 8 to 15.
public sealed class KeptPacketsTests
{
    private const int PacketBytes = 100;
    private const int Packets = 20;

    private static readonly PacketKeepers Keepers = new(members: 4, replicas: 2);

    private readonly PacketWindow _packets;
    private readonly ReceiveWindow _window;
    private readonly Lease _block;

    public KeptPacketsTests()
    {
        var options = new MulticastOptions { ClusterId = 1 };
        var pool = new SlabPool(4L << 20);
        _packets = new PacketWindow(options.WindowPackets, new ReceiveMemory(pool, 1_472));
        _window = new ReceiveWindow(_packets, options);
        _block = pool.TryRent()!;
    }

    [Fact]
    public void Packets_of_the_other_partition_are_kept_until_its_members_hold_them()
    {
        var kept = Kept(Retention.OwnPartition);
        Take(Enumerable.Range(1, Packets));
        kept.Release(_packets, consumed: Packets, stable: 0);
        Assert.Equal(Enumerable.Range(1, Packets), Held());

        Assert.True(kept.Replicate(10));
        kept.Release(_packets, consumed: Packets, stable: 0);
        Assert.Equal([.. Enumerable.Range(1, 7), .. Enumerable.Range(11, Packets - 10)], Held());
    }

    [Fact]
    public void Packets_that_members_of_the_ring_lack_are_kept_although_others_keep_them_too()
    {
        var kept = Kept(Retention.OwnPartition);
        Take(Enumerable.Range(1, Packets));
        kept.KeepFrom = 9;
        kept.Replicate(Packets);
        kept.Release(_packets, consumed: Packets, stable: 0);
        Assert.Equal(Packets - 1, Held().Count);

        kept.KeepFrom = long.MaxValue;
        kept.Release(_packets, consumed: Packets, stable: 0);
        Assert.Equal(Packets - 8, Held().Count);
    }

    [Fact]
    public void Without_a_partition_that_could_keep_its_own_packets_all_are_kept_until_all_members_hold_them()
    {
        var kept = Kept(Retention.All);
        Take(Enumerable.Range(1, Packets));
        kept.Replicate(Packets);
        kept.Release(_packets, consumed: Packets, stable: 3);
        Assert.Equal(Enumerable.Range(4, Packets - 3), Held());
    }

    [Fact]
    public void Nothing_that_was_consumed_is_kept_if_no_other_member_asks_for_it()
    {
        var kept = Kept(Retention.None);
        Take(Enumerable.Range(1, Packets));
        kept.Release(_packets, consumed: 12, stable: 0);
        Assert.Equal(Enumerable.Range(13, Packets - 12), Held());
    }

    [Fact]
    public void A_missing_packet_that_others_keep_does_not_limit_what_this_member_holds_for_others()
    {
        var kept = Kept(Retention.OwnPartition);
        Take(Enumerable.Range(1, Packets).Except([9, 17]));
        Assert.Equal(16, kept.Contiguous(_window));
        Assert.Equal(8, new KeptPackets(new PacketKeepers(members: 4, replicas: 4), 0, Retention.OwnPartition).Contiguous(_window));
    }

    [Fact]
    public void The_replicated_number_only_grows()
    {
        var kept = Kept(Retention.OwnPartition);
        Assert.True(kept.Replicate(5));
        Assert.False(kept.Replicate(5));
        Assert.False(kept.Replicate(4));
        Assert.Equal(5, kept.Replicated);
    }

    private static KeptPackets Kept(Retention retention) => new(Keepers, ownPartition: 0, retention);

    private void Take(IEnumerable<int> numbers)
    {
        foreach (int number in numbers)
        {
            _window.Take(number, _block, number * PacketBytes, PacketBytes, TimeSpan.Zero);
        }
    }

    private List<int> Held() => [.. Enumerable.Range(1, Packets).Where(number => _packets.Holds(number))];
}
