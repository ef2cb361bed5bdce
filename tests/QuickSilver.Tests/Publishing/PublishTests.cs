using System.Buffers.Binary;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Multicast;
using QuickSilver.Publishing.Requests;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// I4, F7.
public sealed class PublishTests
{
    private const string Name = "orders";
    private static readonly QuickSilverOptions SmallQueue = new() { Limits = { PublishQueueBytes = 64 << 10 } };

    [Fact]
    public async Task Messages_of_one_publisher_go_out_in_order()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        for (int i = 0; i < 5_000; i++)
        {
            await topic.PublishAsync(Number(i)).OrFail();
        }

        var sender = parts.SenderOf(Name);
        await Patience.Until(() => sender.Count == 5_000);
        Assert.Equal(Enumerable.Range(0, 5_000), sender.Sent.Select(ToNumber));
    }

    [Fact]
    public async Task Messages_of_many_publishers_all_go_out_and_each_ones_in_order_although_the_queue_is_small()
    {
        const int Publishers = 6;
        const int Each = 3_000;
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        await Task.WhenAll(Enumerable.Range(0, Publishers).Select(publisher => Task.Run(async () =>
        {
            for (int i = 0; i < Each; i++)
            {
                await topic.PublishAsync(Number((publisher * Each) + i));
            }
        }))).OrFail();

        var sender = parts.SenderOf(Name);
        await Patience.Until(() => sender.Count == Publishers * Each);
        var numbers = sender.Sent.Select(ToNumber).ToArray();
        for (int publisher = 0; publisher < Publishers; publisher++)
        {
            Assert.Equal(Enumerable.Range(publisher * Each, Each), numbers.Where(number => number / Each == publisher));
        }

        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }

    [Fact]
    public async Task A_burst_of_publishes_wakes_the_core_thread_once()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        int before = parts.Core.Posts;
        for (int i = 0; i < 500; i++)
        {
            Assert.True(topic.PublishAsync(Number(i)).IsCompletedSuccessfully);
        }

        Assert.Equal(before + 1, parts.Core.Posts);
        parts.Core.Pump();
        Assert.Equal(500, parts.SenderOf(Name).Count);
    }

    [Fact]
    public async Task A_full_queue_makes_publishers_wait_and_room_lets_them_on_in_their_order()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        var sender = parts.SenderOf(Name);
        sender.GiveRoom(0);
        int accepted = 0;
        while (topic.PublishAsync(Payload(accepted, 1000)) is { IsCompleted: true } done)
        {
            await done;
            accepted++;
            parts.Core.Pump();
        }

        // The lane is a quarter of the queue, and a message of 1,000 bytes takes 1,024 of it; the one that waits is number `accepted`.
        Assert.Equal((16 << 10) / 1024, accepted);
        var waiting = Enumerable.Range(accepted + 1, 20).Select(i => topic.PublishAsync(Payload(i, 1000)).AsTask()).ToArray();
        parts.Core.Pump();
        Assert.DoesNotContain(waiting, task => task.IsCompleted);
        Assert.Equal(21, node.Read(NodeFigures.PublishWaits));

        sender.GiveRoom(int.MaxValue);
        parts.Core.Pump();
        await Task.WhenAll(waiting).OrFail();
        Assert.Equal(Enumerable.Range(0, accepted + 21), sender.Sent.Select(ToNumber));
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }

    [Fact]
    public async Task A_topic_without_room_leaves_room_for_the_others()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        var stuck = await parts.OpenPublisherAsync<byte[]>(node, "stuck");
        var stuckToo = await parts.OpenPublisherAsync<byte[]>(node, "stuck too");
        var free = await parts.OpenPublisherAsync<byte[]>(node, "free");
        parts.SenderOf("stuck").GiveRoom(0);
        parts.SenderOf("stuck too").GiveRoom(0);
        foreach (var topic in new[] { stuck, stuckToo })
        {
            while (topic.PublishAsync(new byte[1000]).IsCompleted)
            {
                parts.Core.Pump();
            }

            parts.Core.Advance(TimeSpan.FromMilliseconds(1));
            parts.Core.Pump();
        }

        for (int i = 0; i < 100; i++)
        {
            Assert.True(free.PublishAsync(new byte[1000]).IsCompletedSuccessfully);
            parts.Core.Pump();
        }

        Assert.Equal(100, parts.SenderOf("free").Count);
    }

    [Fact]
    public async Task A_message_larger_than_the_queue_passes_when_nothing_else_waits()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        Assert.True(topic.PublishAsync(new byte[MulticastOptions.MaxMessageBytes]).IsCompletedSuccessfully);
        parts.Core.Pump();
        Assert.Equal(MulticastOptions.MaxMessageBytes, Assert.Single(parts.SenderOf(Name).Sent).Length);
    }

    [Fact]
    public async Task A_message_over_the_limit_is_refused_with_both_sizes()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        var refusal = await Assert.ThrowsAsync<MessageTooLargeException>(() => topic.PublishAsync(new byte[(16 << 20) + 1]).AsTask());
        Assert.Equal((16 << 20) + 1, refusal.Bytes);
        Assert.Contains("16,777,217", refusal.Message);
        Assert.Contains("16,777,216", refusal.Message);
    }

    [Fact]
    public async Task A_waiting_publish_can_be_cancelled_and_its_message_is_not_sent()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        var sender = parts.SenderOf(Name);
        sender.GiveRoom(0);
        await topic.PublishAsync(Payload(0, 40_000)).OrFail();
        using var cancellation = new CancellationTokenSource();
        var cancelled = topic.PublishAsync(Payload(1, 40_000), cancellation.Token).AsTask();
        var patient = topic.PublishAsync(Payload(2, 40_000)).AsTask();
        Assert.False(cancelled.IsCompleted);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled).OrFail();

        sender.GiveRoom(int.MaxValue);
        parts.Core.Pump();
        sender.GiveRoom(int.MaxValue);
        parts.Core.Pump();
        await patient.OrFail();
        parts.Core.Pump();
        Assert.Equal([0, 2], sender.Sent.Select(ToNumber));
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }

    [Fact]
    public async Task A_publish_with_a_cancelled_token_sends_nothing()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        var token = new CancellationToken(canceled: true);
        Assert.True(topic.PublishAsync([1], token).IsCanceled);
        Assert.True(topic.PublishAsync([1], PublishCompletion.Stable, token).IsCanceled);
        parts.Core.Pump();
        Assert.Equal(0, parts.SenderOf(Name).Count);
    }

    [Fact]
    public async Task A_handler_may_publish_although_the_queue_is_full()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.OpenAsync<byte[]>(node, Name);
        var publishes = new List<Task>();
        using var handler = topic.SubscribeInline(
            (in Message<byte[]> message) => publishes.Add(topic.PublishAsync(message.Value).AsTask()));
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() =>
        {
            sender.GiveRoom(0);
            for (int i = 0; i < 100; i++)
            {
                parts.ReceiverOf(Name).Deliver(i + 1, Payload(i, 4000));
            }

            sender.GiveRoom(int.MaxValue);
        }).OrFail();
        await Task.WhenAll(publishes).OrFail();
        await Patience.Until(() => sender.Count == 100);
        Assert.Equal(Enumerable.Range(0, 100), sender.Sent.Select(ToNumber));
    }

    [Fact]
    public async Task A_stable_publish_completes_when_all_hold_the_message_and_not_before()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        var stable = topic.PublishAsync([1], PublishCompletion.Stable).AsTask();
        parts.Core.Pump();
        Assert.Equal(1, parts.SenderOf(Name).Count);
        Assert.False(stable.IsCompleted);
        parts.SenderOf(Name).MakeStable();
        await stable.OrFail();
    }

    [Fact]
    public async Task A_stable_publish_that_is_cancelled_before_it_was_sent_is_not_sent()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<byte[]>(node, Name);
        using var cancellation = new CancellationTokenSource();
        var stable = topic.PublishAsync([1], PublishCompletion.Stable, cancellation.Token).AsTask();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => stable).OrFail();
        parts.Core.Pump();
        Assert.Equal(0, parts.SenderOf(Name).Count);
    }

    [Fact]
    public async Task Buffers_of_requests_stay_bounded_however_sizes_mix()
    {
        await using var parts = new FakeParts(threaded: false);
        var options = new QuickSilverOptions { Limits = { PublishQueueBytes = 256 << 10 } };
        var pool = new PublishRequestPool(options.Limits.PublishQueueBytes);
        var random = new Random(3);
        for (int round = 0; round < 2_000; round++)
        {
            var rented = Enumerable.Range(0, 50).Select(_ => pool.Rent()).ToArray();
            foreach (var request in rented)
            {
                request.Prepare(random.Next(0, 70_000));
                request.Recycle();
            }
        }

        Assert.InRange(pool.OwnBytes, 1, 2 * options.Limits.PublishQueueBytes);
    }

    private static byte[] Number(int number) => Payload(number, 4);

    private static byte[] Payload(int number, int bytes)
    {
        var payload = new byte[bytes];
        BinaryPrimitives.WriteInt32LittleEndian(payload, number);
        return payload;
    }

    private static int ToNumber(byte[] payload) => BinaryPrimitives.ReadInt32LittleEndian(payload);
}
