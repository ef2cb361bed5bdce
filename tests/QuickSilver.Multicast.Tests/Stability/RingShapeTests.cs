using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Tests.Stability;

public sealed class RingShapeTests
{
    public static TheoryData<int, int> Rules => new() { { 5, 16 }, { 1, 2 }, { 1, 16 }, { 3, 4 }, { 2, 3 }, { 40, 16 }, { 1_000, 7 } };

    [Theory]
    [MemberData(nameof(Rules))]
    public void Every_rank_has_one_seat_and_no_ring_has_more_seats_than_allowed(int replicas, int ringSize)
    {
        foreach (int members in (int[])[1, 2, 3, 5, 15, 16, 17, 31, 100, 199, 200, 256, 257, 1_000])
        {
            var keepers = new PacketKeepers(members, replicas);
            var shape = new RingShape(members, keepers.Partitions, ringSize);
            Assert.Equal(1, shape.RingsAt(shape.Levels - 1));
            for (int level = 0; level < shape.Levels; level++)
            {
                int next = 0;
                int nextRank = 0;
                for (int ring = 0; ring < shape.RingsAt(level); ring++)
                {
                    var (first, end) = shape.SeatsOf(level, ring);
                    Assert.Equal(next, first);
                    Assert.InRange(end - first, 1, ringSize);
                    next = end;
                    var ranks = shape.RanksOf(level, ring);
                    Assert.Equal(nextRank, ranks.First);
                    nextRank = ranks.End;
                    Assert.Equal(ranks.First, shape.RanksOfSeat(level, first).First);
                    Assert.Equal(ranks.End, shape.RanksOfSeat(level, end - 1).End);
                    for (int rank = ranks.First; rank < ranks.End; rank++)
                    {
                        Assert.Equal(ring, shape.RingOf(level, rank));
                        var seat = shape.RanksOfSeat(level, shape.SeatOf(level, rank));
                        Assert.InRange(rank, seat.First, seat.End - 1);
                    }
                }

                Assert.Equal(level == 0 ? members : shape.RingsAt(level - 1), next);
                Assert.Equal(members, nextRank);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Rules))]
    public void Members_of_one_lowest_ring_keep_the_same_packets_where_there_are_more_rings(int replicas, int ringSize)
    {
        foreach (int members in (int[])[17, 31, 100, 200, 1_000])
        {
            var keepers = new PacketKeepers(members, replicas);
            var shape = new RingShape(members, keepers.Partitions, ringSize);
            for (int ring = 0; ring < shape.RingsAt(0) && shape.RingsAt(0) > 1; ring++)
            {
                var (first, end) = shape.RanksOf(0, ring);
                Assert.Equal(keepers.PartitionOf(first), keepers.PartitionOf(end - 1));
            }
        }
    }

    [Theory]
    [InlineData(200, 5, 40)]
    [InlineData(9, 5, 1)]
    [InlineData(10, 5, 2)]
    [InlineData(3, 5, 1)]
    public void Every_packet_is_kept_by_one_partition_of_at_least_as_many_members_as_there_are_replicas(
        int members, int replicas, int partitions)
    {
        var keepers = new PacketKeepers(members, replicas);

        Assert.Equal(partitions, keepers.Partitions);
        int next = 0;
        for (int partition = 0; partition < partitions; partition++)
        {
            var (first, end) = keepers.MembersOf(partition);
            Assert.Equal(next, first);
            Assert.True(end - first >= Math.Min(replicas, members));
            Assert.All(Enumerable.Range(first, end - first), rank => Assert.Equal(partition, keepers.PartitionOf(rank)));
            next = end;
        }

        Assert.Equal(members, next);
        for (long packet = 0; packet < 2_000; packet++)
        {
            for (int partition = 0; partition < partitions; partition++)
            {
                long kept = keepers.FirstKeptBy(partition, packet);
                Assert.Equal(partition, keepers.KeeperOf(kept));
                Assert.True(kept >= packet && kept - packet <= PacketKeepers.BlockPackets * partitions);
                Assert.True(kept == packet || keepers.KeeperOf(kept - 1) != partition);
            }
        }
    }
}
