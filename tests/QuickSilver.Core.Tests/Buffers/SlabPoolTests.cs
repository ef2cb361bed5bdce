using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Buffers;

// Covers I17 for packet memory.
public sealed class SlabPoolTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(5)]
    [InlineData(17)]
    [InlineData(32)]
    public void The_bound_is_exact_and_given_back_when_a_block_returns(int blocks)
    {
        var pool = new SlabPool(blocks * (long)SlabPool.BlockBytes + 100);
        var leases = Enumerable.Range(0, blocks).Select(_ => pool.TryRent()).ToList();

        Assert.DoesNotContain(null, leases);
        Assert.Null(pool.TryRent());
        Assert.Equal(blocks, pool.LeasedBlocks);
        Assert.Equal(pool.MaxBytes, pool.AllocatedBytes);

        leases[blocks / 2]!.Release();
        Assert.NotNull(pool.TryRent());
        Assert.Null(pool.TryRent());
    }

    [Fact]
    public void A_pool_without_room_for_one_block_is_refused()
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new SlabPool(SlabPool.BlockBytes - 1));
    }

    [Fact]
    public void Blocks_do_not_overlap()
    {
        var pool = new SlabPool(40L * SlabPool.BlockBytes);
        var leases = Enumerable.Range(0, 40).Select(_ => pool.TryRent()!).ToList();
        for (int i = 0; i < leases.Count; i++)
        {
            leases[i].Span.Fill((byte)i);
        }

        for (int i = 0; i < leases.Count; i++)
        {
            Assert.Equal(SlabPool.BlockBytes, leases[i].Memory.Length);
            Assert.False(leases[i].Span.ContainsAnyExcept((byte)i));
        }
    }

    [Fact]
    public void A_reserved_pool_allocates_nothing_any_more()
    {
        const int Blocks = 1500;
        var pools = new Queue<SlabPool>();
        for (int i = 0; i < Allocations.Tries; i++)
        {
            var pool = new SlabPool(Blocks * (long)SlabPool.BlockBytes);
            pool.Reserve();
            Assert.Equal(pool.MaxBytes, pool.AllocatedBytes);
            pools.Enqueue(pool);
        }

        SlabPool? last = null;
        Assert.Equal(0, Allocations.Of(() =>
        {
            last = pools.Dequeue();
            for (int i = 0; i < Blocks; i++)
            {
                last.TryRent()!.Span[0] = 1;
            }
        }));
        Assert.Null(last!.TryRent());
    }

    [Fact]
    public void A_block_returns_with_its_last_claim()
    {
        var pool = new SlabPool(SlabPool.BlockBytes);
        var lease = pool.TryRent()!;
        lease.AddClaim();
        lease.Release();
        Assert.Equal(1, lease.Claims);
        Assert.Null(pool.TryRent());
        lease.Release();
        Assert.NotNull(pool.TryRent());
    }

    [Fact]
    public void A_claim_too_many_throws()
    {
        var lease = new SlabPool(SlabPool.BlockBytes).TryRent()!;
        lease.Release();
        Assert.Throws<InvalidOperationException>(lease.Release);
        Assert.Throws<InvalidOperationException>(lease.AddClaim);
    }

    [Fact]
    public void The_pool_does_as_a_count_of_claims_does()
    {
        Steps.Hold(steps =>
        {
            const int Blocks = 5;
            var tracker = new LeaseTracker();
            var pool = new SlabPool(Blocks * SlabPool.BlockBytes) { Tracker = steps.Length % 8 == 0 ? tracker : null };
            var held = new List<Lease>();
            foreach (int step in steps)
            {
                if (step % 2 == 0)
                {
                    var lease = pool.TryRent();
                    Assert.Equal(held.Distinct().Count() == Blocks, lease is null);
                    Assert.DoesNotContain(lease, held);
                    if (lease is not null)
                    {
                        held.Add(lease);
                    }
                }
                else if (held.Count > 0)
                {
                    var lease = held[step / 4 % held.Count];
                    if (step % 4 == 1)
                    {
                        lease.AddClaim();
                        held.Add(lease);
                    }
                    else
                    {
                        lease.Release();
                        held.Remove(lease);
                    }
                }

                Assert.Equal(held.Distinct().Count(), pool.LeasedBlocks);
                Assert.All(held, lease => Assert.Equal(held.Count(other => other == lease), lease.Claims));
            }
        });
    }

    [Fact]
    public void A_warm_pool_allocates_nothing()
    {
        var pool = new SlabPool(64L * SlabPool.BlockBytes);
        var leases = new Lease[64];
        long allocated = Allocations.After(() =>
        {
            for (int i = 0; i < leases.Length; i++)
            {
                leases[i] = pool.TryRent()!;
                leases[i].AddClaim();
            }

            foreach (var lease in leases)
            {
                lease.Release();
                lease.Release();
            }
        });

        Assert.Equal(0, allocated);
    }

    [Fact]
    public void The_tracker_names_the_place_of_a_rental_that_was_never_returned()
    {
        var tracker = new LeaseTracker();
        var pool = new SlabPool(4 * SlabPool.BlockBytes) { Tracker = tracker };
        pool.TryRent()!.Release();
        tracker.AssertAllReturned();

        RentAndForget(pool);

        Assert.Equal(1, tracker.Outstanding);
        string message = Assert.Throws<InvalidOperationException>(tracker.AssertAllReturned).Message;
        Assert.StartsWith("1 blocks were never returned", message);
        Assert.Contains(nameof(RentAndForget), message);
        Assert.DoesNotContain(nameof(SlabPool.TryRent), message);
    }

    [Fact]
    public void With_a_tracker_a_late_second_release_is_caught_although_the_block_is_out_again()
    {
        var tracker = new LeaseTracker();
        var pool = new SlabPool(SlabPool.BlockBytes) { Tracker = tracker };
        var first = pool.TryRent()!;
        ReleaseProperly(first);
        var second = pool.TryRent()!;

        string message = Assert.Throws<InvalidOperationException>(first.Release).Message;
        Assert.Contains(nameof(ReleaseProperly), message);
        Assert.Equal(1, second.Claims);
        second.Release();
        tracker.AssertAllReturned();
    }

    [Fact]
    public void With_a_tracker_a_reader_of_a_returned_block_sees_no_packet()
    {
        var pool = new SlabPool(SlabPool.BlockBytes) { Tracker = new LeaseTracker() };
        var lease = pool.TryRent()!;
        var kept = lease.Memory;
        lease.Span.Fill(1);
        lease.Release();

        Assert.False(kept.Span.Contains((byte)1));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void RentAndForget(SlabPool pool) => Assert.NotNull(pool.TryRent());

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReleaseProperly(Lease lease)
    {
        lease.Release();
        Assert.Equal(0, lease.Claims);
    }
}
