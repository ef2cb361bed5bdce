using QuickSilver.Publishing;
using QuickSilver.Publishing.Requests;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// The heap refuses memory on the way from the publishers to the senders. Nothing that was accepted is lost, and everything continues when
// there is memory.
public sealed class PublishShortageTests
{
    private const int Messages = 10;

    [Fact]
    public async Task Messages_that_cannot_make_way_for_others_stay_in_the_lane_and_all_are_sent_in_order_later()
    {
        await using var parts = new FakeParts(threaded: false);
        var heap = new RefusingHeap { Refuses = true };
        parts.Core.Heap = heap;
        var node = await parts.StartAsync();
        var stuck = await parts.OpenPublisherAsync<byte[]>(node, "stuck");
        var other = await parts.OpenPublisherAsync<byte[]>(node, "other");
        parts.SenderOf("stuck").GiveRoom(0);
        for (int i = 0; i < Messages; i++)
        {
            await stuck.PublishAsync([(byte)i]);
            await other.PublishAsync([(byte)i]);
        }

        for (int i = 0; i < 50; i++)
        {
            parts.Core.Advance(TimeSpan.FromMilliseconds(1));
            parts.Core.Pump();
        }

        // A refusal costs a collection.
        Assert.Equal(1, heap.Asked);
        Assert.Equal(0, parts.SenderOf("other").Count);

        heap.Refuses = false;
        parts.Core.Advance(TimeSpan.FromMilliseconds(100));
        parts.Core.Pump();
        Assert.Equal(Enumerable.Range(0, Messages), NumbersOf("other"));
        parts.SenderOf("stuck").GiveRoom(int.MaxValue);
        parts.Core.Pump();
        Assert.Equal(Enumerable.Range(0, Messages), NumbersOf("stuck"));
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);

        IEnumerable<int> NumbersOf(string topic) => parts.SenderOf(topic).Sent.Select(static payload => (int)payload[0]);
    }

    [Fact]
    public async Task The_lane_continues_without_memory_when_the_topic_at_its_head_has_room()
    {
        await using var parts = new FakeParts(threaded: false);
        parts.Core.Heap = new RefusingHeap { Refuses = true };
        var node = await parts.StartAsync();
        var stuck = await parts.OpenPublisherAsync<byte[]>(node, "stuck");
        var other = await parts.OpenPublisherAsync<byte[]>(node, "other");
        parts.SenderOf("stuck").GiveRoom(0);
        await stuck.PublishAsync([1]);
        await other.PublishAsync([2]);
        parts.Core.Advance(TimeSpan.FromMilliseconds(5));
        parts.Core.Pump();
        Assert.Equal(0, parts.SenderOf("other").Count);

        parts.SenderOf("stuck").GiveRoom(int.MaxValue);
        parts.Core.Pump();
        Assert.Equal([1], parts.SenderOf("stuck").Sent[0]);
        Assert.Equal([2], parts.SenderOf("other").Sent[0]);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Messages_left_by_an_exception_are_sent_after_a_pause_although_nothing_else_comes(bool goesPastTheLane)
    {
        var bench = new PublishBench();
        var sender = new FakeSender { Room = int.MaxValue, Throws = new InvalidOperationException("a test") };
        bench.Publisher.Open(sender);
        for (int i = 1; i <= Messages; i++)
        {
            if (goesPastTheLane)
            {
                bench.Push(i);
            }
            else
            {
                bench.Commit(i);
            }
        }

        Assert.Throws<InvalidOperationException>(() => bench.Core.Pump());
        bench.Core.Pump();
        Assert.Empty(sender.Sent);
        sender.Throws = null;
        bench.Core.Advance(TimeSpan.FromMilliseconds(99));
        bench.Core.Pump();
        Assert.Empty(sender.Sent);
        bench.Core.Advance(TimeSpan.FromMilliseconds(1));
        bench.Core.Pump();
        Assert.Equal(Enumerable.Range(1, Messages), PublishBench.NumbersOf(sender));
        Assert.Equal(0, bench.Gate.UsedBytes);
    }

    [Fact]
    public void A_sender_without_memory_gets_the_message_again_and_keeps_no_room_of_publishers()
    {
        var bench = new PublishBench();
        var sender = new FakeSender();
        sender.GiveRoom(0);
        bench.Publisher.Open(sender);
        for (int i = 1; i <= Messages; i++)
        {
            bench.Push(i);
        }

        bench.Core.Pump();
        long used = bench.Gate.UsedBytes;
        int taken = 0;
        sender.OnTaken = (_, _) => sender.Throws = ++taken == Messages / 2 ? new OutOfMemoryException("a test") : null;
        Assert.Throws<OutOfMemoryException>(() =>
        {
            sender.GiveRoom(int.MaxValue);
            bench.Core.Pump();
        });
        Assert.Equal(used / 2, bench.Gate.UsedBytes);

        sender.Throws = null;
        bench.Publisher.Pump();
        bench.Core.Pump();
        Assert.Equal(Enumerable.Range(1, Messages), PublishBench.NumbersOf(sender));
        Assert.Equal(0, bench.Gate.UsedBytes);
    }

    [Fact]
    public void A_sender_without_memory_leaves_no_trace_of_a_message_whose_publisher_waits_for_it()
    {
        var bench = new PublishBench();
        var sender = new FakeSender { Throws = new OutOfMemoryException("a test"), Stabilizes = true };
        sender.GiveRoom(int.MaxValue);
        var request = bench.Request(1);
        var stable = request.Stable = new StableCompletion(new PublishLatency(bench.Core, null), TaskCreationOptions.None);
        Assert.Throws<OutOfMemoryException>(() =>
        {
            bench.Publisher.Open(sender);
            Assert.True(bench.Gate.TryEnter(request));
            bench.Core.Pump();
        });
        sender.Throws = null;
        bench.Publisher.Pump();
        bench.Core.Pump();
        Assert.Equal([1], PublishBench.NumbersOf(sender));
        Assert.True(stable.WaitAsync(false, default, default).IsCompletedSuccessfully);

        // Ends only if the list has it not twice.
        bench.Endpoint.Unstable.FailAll(new InvalidOperationException("a test"));
    }

    [Fact]
    public void A_request_that_takes_over_a_buffer_holds_the_message_and_returns_to_the_pool()
    {
        var pool = new PublishRequestPool(64 << 10);
        byte[] buffer = new byte[512];
        buffer[2] = 7;
        var request = pool.Adopt(new StubOrigin(), buffer, 3);
        Assert.Equal([0, 0, 7], request.Payload.ToArray());
        Assert.True(request.Extensions.IsEmpty);
        Assert.Equal(3 + PublishBudget.MessageOverhead, request.Charge);

        request.Recycle();
        Assert.Same(request, pool.Rent());
        Assert.Equal(0, pool.OwnBytes);
    }

    // Under a limit of the heap there may be no memory for a second one.
    [Fact]
    public void The_buffer_of_a_large_message_that_the_core_thread_returns_serves_the_next_message()
    {
        const int Bytes = 29 << 20;
        var pool = new PublishRequestPool(publishQueueBytes: 1 << 20);
        Publish();
        long before = GC.GetAllocatedBytesForCurrentThread();
        Publish();
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, Bytes - 1);

        void Publish()
        {
            var request = pool.Rent();
            request.Prepare(Bytes);
            var core = new Thread(request.Recycle);
            core.Start();
            core.Join();
        }
    }
}
