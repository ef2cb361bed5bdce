using QuickSilver.Core.Buffers;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Buffers;

// No holder of packet memory can take what another needs to continue (I17, I22).
public sealed class MemorySharesTests
{
    private const int PacketBytes = 1472;

    [Fact]
    public void The_guaranteed_shares_do_not_exceed_the_memory()
    {
        for (int blocks = 1; blocks < 300_000; blocks = (blocks * 17 / 16) + 1)
        {
            var shares = new MemoryShares(blocks);
            Assert.InRange(shares.Intake + shares.Places + shares.Receive + shares.Send, 0, blocks);
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(272)]
    [InlineData(515)]
    public void The_least_memory_for_a_message_has_room_for_it(int toSend)
    {
        long least = MemoryShares.LeastBytes(toSend) / SlabPool.BlockBytes;

        Assert.InRange(new MemoryShares(least).Send, toSend, toSend + 1);
        Assert.True(least == 1 || new MemoryShares(least - 2).Send < toSend);
    }

    [Fact]
    public void Receivers_leave_senders_and_the_intake_their_shares()
    {
        var pool = new SlabPool(512L * SlabPool.BlockBytes);
        Keep(pool);
        Assert.Equal(pool.Shares.MostToKeep, pool.LeasedBlocks);

        for (int i = 0; i < pool.Shares.Send; i++)
        {
            Assert.NotNull(pool.TryRentToSend());
        }

        Assert.Null(pool.TryRentToSend());
        Assert.Equal(pool.Shares.Intake + pool.Shares.Places, pool.AvailableBlocks);
        Assert.True(pool.IsShort);
    }

    [Fact]
    public void Senders_leave_receivers_their_share()
    {
        var pool = new SlabPool(512L * SlabPool.BlockBytes);
        while (pool.TryRentToSend() is not null)
        {
        }

        Assert.Equal(pool.Shares.MostToSend, pool.LeasedBlocks);
        Assert.False(pool.IsShort);
        Assert.Equal(pool.Shares.Receive, Keep(pool));
    }

    [Fact]
    public void A_block_that_senders_give_back_is_theirs_again()
    {
        var pool = new SlabPool(64L * SlabPool.BlockBytes);
        Keep(pool);
        var sent = pool.TryRentToSend()!;
        long free = pool.FreeToSend;
        sent.Release();

        Assert.Equal(free + 1, pool.FreeToSend);
    }

    // Each stream asks for places at random; a stream without one gets one as long as no more streams than half of the places ask.
    [Fact]
    public void Every_stream_gets_a_place_whatever_the_others_hold() => Steps.Hold(
        asks =>
        {
            const int Streams = 200;
            var pool = new SlabPool(160L * SlabPool.BlockBytes);
            Keep(pool);
            var places = new PacketPlaces(pool, PacketBytes);
            Assert.InRange(places.Count / 2, Streams, long.MaxValue);
            var held = Enumerable.Range(0, Streams).Select(_ => new Stack<Lease>()).ToArray();
            foreach (int ask in asks)
            {
                // Few streams ask often.
                int stream = ask % 8 == 0 ? ask / 8 % Streams : ask / 8 % 4;
                var place = places.TryTake(held[stream].Count);
                Assert.True(held[stream].Count > 0 || place is not null);
                if (place is null)
                {
                    held[stream].Pop().Release();
                }
                else
                {
                    place.Span.Fill((byte)stream);
                    held[stream].Push(place);
                }
            }

            Assert.Equal(held.Sum(mine => mine.Count), places.Taken);
            for (int stream = 0; stream < Streams; stream++)
            {
                foreach (var place in held[stream])
                {
                    Assert.Equal(PacketBytes, place.Span.Length);
                    Assert.False(place.Span.ContainsAnyExcept((byte)stream));
                    place.Release();
                }
            }

            Assert.Equal(0, places.Taken);
            Assert.Equal(pool.Shares.MostToKeep, pool.LeasedBlocks);
        },
        runs: 50,
        longest: 2000);

    private static long Keep(SlabPool pool)
    {
        long kept = 0;
        while (!pool.IsShort)
        {
            pool.TryRent();
            kept++;
        }

        return kept;
    }
}
