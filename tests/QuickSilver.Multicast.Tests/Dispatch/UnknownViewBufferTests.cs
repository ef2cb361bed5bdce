using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Tests.Dispatch;

public sealed class UnknownViewBufferTests
{
    private const int MaxBytes = 200_000;

    private static readonly TimeSpan Age = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Start = TimeSpan.FromSeconds(100);

    private readonly SlabPool _pool = new(16L << 20);
    private readonly UnknownViewBuffer _buffer = new(MaxBytes, Age, new MulticastCounters());

    [Fact]
    public void Packets_come_out_in_the_order_in_which_they_went_in_with_the_time_of_their_arrival()
    {
        byte[] packet = [1, 2, 3];
        Assert.True(_buffer.TryKeep(_pool, Start, Start, packet));
        packet[0] = 9;
        Assert.True(_buffer.TryKeep(_pool, Start + Seconds(2), Start + Seconds(1), packet));
        Assert.Equal(2, _buffer.Count);

        Assert.Equal(("010203", Start), Take());
        Assert.Equal(("090203", Start + Seconds(1)), Take());
        Assert.False(_buffer.TryTake(out _, out _, out _, out _));
        Assert.Equal(0, _pool.LeasedBlocks);
    }

    [Fact]
    public void The_bound_counts_what_is_kept_and_not_what_was_taken()
    {
        Assert.True(Keep(MaxBytes / 4));
        Assert.True(Keep(MaxBytes / 4));
        Assert.True(Keep(MaxBytes / 4));
        Assert.True(Keep(MaxBytes / 4));
        Assert.False(Keep(1));

        Take();
        Assert.True(Keep(MaxBytes / 4));
        Assert.False(Keep(1));
    }

    [Fact]
    public void A_packet_that_is_as_old_as_allowed_is_forgotten()
    {
        Assert.True(Keep(10, at: Start));
        Assert.True(Keep(10, at: Start + Seconds(1)));
        Assert.Equal(Start + Age, _buffer.ExpiresAt);

        _buffer.Expire(Start + Age - TimeSpan.FromTicks(1));
        Assert.Equal(2, _buffer.Count);
        _buffer.Expire(Start + Age);
        Assert.Equal(1, _buffer.Count);
        Assert.Equal(Start + Age + Seconds(1), _buffer.ExpiresAt);
        _buffer.Expire(TimeSpan.MaxValue);
        Assert.Null(_buffer.ExpiresAt);
        Assert.Equal(0, _pool.LeasedBlocks);
    }

    [Fact]
    public void A_packet_that_is_too_old_is_not_kept_again()
    {
        Assert.False(_buffer.TryKeep(_pool, Start + Age, Start, new byte[10]));
        Assert.True(_buffer.TryKeep(_pool, Start + Age - TimeSpan.FromTicks(1), Start, new byte[10]));
    }

    [Fact]
    public void Entries_that_are_too_old_make_room()
    {
        for (int i = 0; i < 4; i++)
        {
            Assert.True(Keep(MaxBytes / 4, at: Start));
        }

        Assert.True(_buffer.TryKeep(_pool, Start + Age, Start + Age, new byte[MaxBytes / 4]));
        Assert.Equal(1, _buffer.Count);
    }

    [Fact]
    public void Packets_share_blocks_and_a_block_goes_back_with_its_last_packet()
    {
        // Two in each block of 64 KiB.
        for (int i = 0; i < 6; i++)
        {
            Assert.True(Keep(30_000));
        }

        Assert.Equal(3, _pool.LeasedBlocks);
        Take();
        Assert.Equal(3, _pool.LeasedBlocks);
        Take();
        Assert.Equal(2, _pool.LeasedBlocks);
        Take();
        Take();
        Take();
        Take();
        Assert.Equal(0, _pool.LeasedBlocks);

        Assert.True(Keep(30_000));
        Assert.Equal(1, _pool.LeasedBlocks);
    }

    [Fact]
    public void Nothing_is_kept_while_packet_memory_is_short()
    {
        var leases = new List<Lease>();
        while (!_pool.IsShort)
        {
            leases.Add(_pool.TryRent()!);
        }

        Assert.NotEqual(0, _pool.AvailableBlocks);
        Assert.False(Keep(10));
        Assert.Equal(0, _buffer.Count);
        leases.ForEach(static lease => lease.Release());
        Assert.True(Keep(10));
    }

    private static TimeSpan Seconds(double seconds) => TimeSpan.FromSeconds(seconds);

    private bool Keep(int bytes, TimeSpan? at = null) => _buffer.TryKeep(_pool, at ?? Start, at ?? Start, new byte[bytes]);

    private (string Packet, TimeSpan At) Take()
    {
        Assert.True(_buffer.TryTake(out var lease, out int offset, out int length, out var at));
        string packet = Convert.ToHexString(lease.Span.Slice(offset, length));
        lease.Release();
        return (packet, at);
    }
}
