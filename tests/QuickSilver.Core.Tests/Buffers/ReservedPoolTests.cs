using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Buffers;

// Packet memory that is reserved outside the collector's heap: it costs what is used of it, and is given back after a burst (I17).
public sealed class ReservedPoolTests
{
    private const int Blocks = 1100;
    // Calls after which a block counts as unused, and in which all that is unused is given back.
    private const int Calls = 6 + (Blocks / 256) + 1;

    [Fact]
    public void The_default_memory_takes_less_than_1_MB_of_the_collectors_heap()
    {
        const long Bytes = 256L << 20;
        long allocated = Allocations.Of(() => GC.KeepAlive(Reserved(Bytes)));

        Assert.InRange(allocated, 1, 1_000_000);
    }

    [Fact]
    public void A_pool_that_has_grown_cannot_be_reserved()
    {
        var pool = new SlabPool(Blocks * (long)SlabPool.BlockBytes);
        pool.TryRent();

        Assert.Throws<InvalidOperationException>(pool.Reserve);
    }

    [Fact]
    public void Memory_that_a_burst_used_is_given_back_after_some_time_without_use()
    {
        var pool = Reserved();
        Assert.Equal(0, pool.TouchedBlocks);
        Burst(pool);
        Assert.Equal(Blocks, pool.TouchedBlocks);

        pool.GiveBack();
        Assert.Equal(Blocks, pool.TouchedBlocks);
        GiveBack(pool);

        Assert.Equal(0, pool.TouchedBlocks);
        if (OperatingSystem.IsLinux())
        {
            foreach (var lease in RentAll(pool))
            {
                Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)0));
            }
        }
    }

    [Fact]
    public void Memory_in_constant_use_is_never_given_back()
    {
        const int Steady = 100;
        var pool = Reserved();
        Burst(pool);
        for (int i = 0; i < Calls * 3; i++)
        {
            var leases = Enumerable.Range(0, Steady).Select(_ => pool.TryRent()!).ToList();
            foreach (var lease in leases)
            {
                // Nothing of it was given back since the burst.
                Assert.Equal(-1, lease.Span.IndexOfAnyExcept((byte)1));
                lease.Release();
            }

            pool.GiveBack();
        }

        Assert.Equal(Steady, pool.TouchedBlocks);
    }

    [Fact]
    public void Giving_back_allocates_nothing()
    {
        var pool = Reserved();
        Assert.Equal(0, Allocations.After(() =>
        {
            var held = pool.TryRent()!;
            held.Span[0] = 1;
            held.Release();
            GiveBack(pool);
        }));
    }

    [Fact]
    public void Blocks_that_are_leased_keep_their_bytes_whatever_is_given_back() => Steps.Hold(steps =>
    {
        const int Few = 40;
        var pool = Reserved(Few * (long)SlabPool.BlockBytes);
        var held = new List<(Lease Lease, byte Mark)>();
        foreach (int step in steps)
        {
            switch (step % 4)
            {
                case 0 or 1 when pool.TryRent() is { } lease:
                    lease.Span[0] = lease.Span[^1] = (byte)step;
                    held.Add((lease, (byte)step));
                    break;
                case 2 when held.Count > 0:
                    held[step / 4 % held.Count].Lease.Release();
                    held.RemoveAt(step / 4 % held.Count);
                    break;
                case 3:
                    pool.GiveBack();
                    break;
            }

            Assert.All(held, one => Assert.Equal((one.Mark, one.Mark), (one.Lease.Span[0], one.Lease.Span[^1])));
            Assert.InRange(pool.TouchedBlocks, held.Count, Few);
            Assert.Equal(held.Count, pool.LeasedBlocks);
        }

        Assert.Equal(Few - held.Count, RentAll(pool).Distinct().Count());
    });

    [Fact]
    public void Bytes_of_a_pool_that_ended_can_be_read_by_each_holder()
    {
        var (lease, kept) = Ended();
        GC.Collect();
        GC.WaitForPendingFinalizers();

        byte expected = OperatingSystem.IsLinux() ? (byte)0 : (byte)1;
        Assert.Equal(expected, lease.Span[^1]);
        Assert.Equal(expected, kept.Span[^1]);
    }

    [Fact]
    public void The_memory_of_pools_that_are_gone_is_used_again()
    {
        var addresses = new HashSet<nint>();
        int pools = 0;
        // Each pool here needs one piece; what other tests return may come between.
        while (pools < 1000 && addresses.Count == pools)
        {
            addresses.Add(Address());
            pools++;
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        Assert.InRange(addresses.Count, 1, pools - 1);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static unsafe nint Address() => (nint)Reserved(SlabPool.BlockBytes).TryRent()!.Address;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (Lease Lease, Memory<byte> Kept) Ended()
    {
        var pool = Reserved();
        Burst(pool);
        var lease = pool.TryRent()!;
        pool.End();
        return (lease, pool.TryRent()!.Memory);
    }

    private static SlabPool Reserved(long bytes = Blocks * (long)SlabPool.BlockBytes)
    {
        var pool = new SlabPool(bytes);
        pool.Reserve();
        return pool;
    }

    // Returned in an order that is not the one of memory.
    private static void Burst(SlabPool pool)
    {
        var leases = RentAll(pool);
        foreach (var lease in leases.Where((_, i) => i % 3 == 0).Concat(leases.Where((_, i) => i % 3 != 0)))
        {
            lease.Span.Fill(1);
            lease.Release();
        }
    }

    private static void GiveBack(SlabPool pool)
    {
        for (int i = 0; i < Calls; i++)
        {
            pool.GiveBack();
        }
    }

    private static List<Lease> RentAll(SlabPool pool)
    {
        var leases = new List<Lease>();
        while (pool.TryRent() is { } lease)
        {
            leases.Add(lease);
        }

        return leases;
    }
}
