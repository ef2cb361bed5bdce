using QuickSilver.Endpoints;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// Publishes under way while another thread ends their endpoint: what completes is sent, and what is not sent throws.
public sealed class PublishAtTheEndTests
{
    private const string Name = "ending";
    private const int ForTheLane = 10;
    private const int PastTheLane = 20_000;

    [Theory]
    [InlineData(ForTheLane)]
    [InlineData(PastTheLane)]
    public async Task A_publish_that_is_overtaken_by_dispose_throws_as_one_after_it(int bytes)
    {
        var codec = new HeldCodec(bytes);
        await using var parts = new FakeParts();
        var topic = await (await parts.StartAsync()).OpenTopicAsync<int>(Name, new TopicOptions<int> { Codec = codec }).OrFail();
        var publish = Task.Run(async () => await topic.PublishAsync(HeldCodec.Held));
        await codec.IsWriting.Task.OrFail();
        await topic.DisposeAsync().OrFail();
        codec.GoesOn.Set();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => publish).OrFail();
    }

    [Theory]
    [InlineData(ForTheLane)]
    [InlineData(PastTheLane)]
    public async Task A_drain_that_ended_without_a_publish_makes_it_throw(int bytes)
    {
        var codec = new HeldCodec(bytes);
        await using var parts = new FakeParts();
        var topic = await (await parts.StartAsync()).OpenTopicAsync<int>(Name, new TopicOptions<int> { Codec = codec }).OrFail();
        parts.SenderOf(Name).Stabilizes = true;
        await topic.PublishAsync(0).OrFail();
        var publish = Task.Run(async () => await topic.PublishAsync(HeldCodec.Held));
        await codec.IsWriting.Task.OrFail();
        var drain = topic.DrainAsync();
        if (bytes == PastTheLane)
        {
            await drain.OrFail();
        }

        codec.GoesOn.Set();
        await Assert.ThrowsAsync<InvalidOperationException>(() => publish).OrFail();
        await drain.OrFail();
    }

    [Fact]
    public async Task A_publish_that_comes_for_room_after_the_end_does_not_wait_for_it()
    {
        var codec = new HeldCodec(PastTheLane);
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } });
        var topic = await node.OpenTopicAsync<int>(Name, new TopicOptions<int> { Codec = codec }).OrFail();
        await parts.Core.RunAsync(() => parts.SenderOf(Name).GiveRoom(0));
        var publish = Task.Run(async () => await topic.PublishAsync(HeldCodec.Held));
        await codec.IsWriting.Task.OrFail();
        var filling = Enumerable.Range(0, 10).Select(_ => topic.PublishAsync(0).AsTask()).ToArray();
        var drain = topic.DrainAsync();
        codec.GoesOn.Set();
        await Assert.ThrowsAsync<InvalidOperationException>(() => publish).OrFail();

        var sender = parts.SenderOf(Name);
        sender.Stabilizes = true;
        await parts.Core.RunAsync(() => sender.GiveRoom(int.MaxValue));
        await drain.OrFail();
        await Task.WhenAll(filling).OrFail();
        Assert.Equal(filling.Length, sender.Count);
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }

    [Theory]
    [InlineData(ForTheLane)]
    [InlineData(PastTheLane)]
    public async Task However_publishes_and_dispose_interleave_what_completed_was_sent(int bytes)
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } });
        byte[] payload = new byte[bytes];
        for (int round = 0; round < 200; round++)
        {
            var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
            var sender = parts.SenderOf(Name);
            sender.Stabilizes = true;
            sender.Keeps = false;
            using var start = new Barrier(3);
            var publishers = Enumerable.Range(0, 2).Select(_ => Task.Factory.StartNew(
                () => PublishUntilDisposed(topic, payload, start), TaskCreationOptions.LongRunning)).ToArray();
            start.SignalAndWait();
            Thread.SpinWait(round * 20);
            await topic.DisposeAsync().OrFail();
            int[] completed = await Task.WhenAll(publishers).OrFail();
            await parts.Core.RunAsync(() => { });
            Assert.InRange(completed.Sum(), 0, sender.Count);
        }
    }

    // The publisher may look between any two steps of the thread that ends the endpoint, so there are many rounds.
    [Fact]
    public async Task However_publishes_and_an_expulsion_interleave_a_publish_throws_its_reason()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var expelled = new NodeExpelledException("ten heartbeats missed");
        for (int round = 0; round < 2000; round++)
        {
            await using var topic = await node.OpenPublisherAsync<byte[]>(Name).OrFail();
            parts.SenderOf(Name).Keeps = false;
            using var start = new Barrier(2);
            var publisher = Task.Run(() => PublishUntilFailed(topic, start));
            start.SignalAndWait();
            Thread.SpinWait(round % 50);
            ((TopicEndpoint)topic).OnFailed(expelled);
            Assert.Same(expelled, await publisher.OrFail());
        }
    }

    [Fact]
    public async Task After_an_expulsion_a_publish_throws_its_reason_also_where_the_endpoint_was_cancelled_before()
    {
        await using var parts = new FakeParts();
        var topic = await (await parts.StartAsync()).OpenPublisherAsync<byte[]>(Name).OrFail();
        topic.Cancel();
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        var failure = await Assert.ThrowsAsync<NodeExpelledException>(() => topic.PublishAsync([]).AsTask());
        Assert.Contains("ten heartbeats missed", failure.Message);
    }

    private static Exception PublishUntilFailed(ITopicPublisher<byte[]> topic, Barrier start)
    {
        byte[] payload = new byte[ForTheLane];
        start.SignalAndWait();
        while (true)
        {
            try
            {
                _ = topic.PublishAsync(payload);
            }
            catch (Exception failure)
            {
                return failure;
            }
        }
    }

    private static int PublishUntilDisposed(ITopicPublisher<byte[]> topic, byte[] payload, Barrier start)
    {
        start.SignalAndWait();
        for (int completed = 0; ; completed++)
        {
            try
            {
                topic.PublishAsync(payload).AsTask().GetAwaiter().GetResult();
            }
            catch (ObjectDisposedException)
            {
                return completed;
            }
        }
    }
}
