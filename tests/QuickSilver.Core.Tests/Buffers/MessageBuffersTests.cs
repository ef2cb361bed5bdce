using System.Collections.Concurrent;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Buffers;

public sealed class MessageBuffersTests
{
    // Of no other test, so that no other takes what is returned here.
    private const int OwnBytes = 37 << 20;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(MessageBuffers.MostSmallBytes)]
    [InlineData(MessageBuffers.MostSmallBytes + 1)]
    [InlineData(16 << 20)]
    public void A_buffer_has_at_least_the_bytes_that_were_asked_for(int bytes)
    {
        byte[] buffer = MessageBuffers.Rent(bytes);
        Assert.InRange(buffer.Length, bytes, int.MaxValue);
        MessageBuffers.Return(buffer);
    }

    [Fact]
    public void A_large_buffer_that_one_thread_returns_is_rented_by_another()
    {
        byte[] rented = MessageBuffers.Rent(OwnBytes);
        var returning = new Thread(() => MessageBuffers.Return(rented));
        returning.Start();
        Assert.True(returning.Join(Patience.Limit));
        byte[] again = MessageBuffers.Rent(OwnBytes - 1);
        Assert.Same(rented, again);
        Assert.NotSame(rented, MessageBuffers.Rent(OwnBytes));
        GC.KeepAlive(again);
    }

    [Fact]
    public void A_large_buffer_is_not_rented_for_less_than_half_of_it()
    {
        byte[] rented = MessageBuffers.Rent((2 * OwnBytes) + 2);
        MessageBuffers.Return(rented);
        Assert.NotSame(rented, MessageBuffers.Rent(OwnBytes));
        GC.KeepAlive(rented);
    }

    [Fact]
    public void A_large_buffer_that_no_message_uses_is_freed_by_a_collection()
    {
        var returned = Returned();
        GC.Collect();
        Assert.False(returned.TryGetTarget(out _));

        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        static WeakReference<byte[]> Returned()
        {
            byte[] buffer = MessageBuffers.Rent(3 * OwnBytes);
            MessageBuffers.Return(buffer);
            return new WeakReference<byte[]>(buffer);
        }
    }

    [Fact]
    public void No_buffer_is_rented_twice_at_a_time_by_several_threads()
    {
        const int Rounds = 2_000;
        var inUse = new ConcurrentDictionary<byte[], bool>();
        int twice = 0;
        var threads = Enumerable.Range(0, 4).Select(i => new Thread(() =>
        {
            for (int round = 0; round < Rounds; round++)
            {
                byte[] buffer = MessageBuffers.Rent(MessageBuffers.MostSmallBytes + 1 + i);
                Interlocked.Add(ref twice, inUse.TryAdd(buffer, true) ? 0 : 1);
                inUse.TryRemove(buffer, out _);
                MessageBuffers.Return(buffer);
            }
        })).ToList();
        threads.ForEach(static thread => thread.Start());
        Assert.All(threads, static thread => Assert.True(thread.Join(Patience.Limit)));
        Assert.Equal(0, twice);
    }
}
