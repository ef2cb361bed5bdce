using System.Buffers.Binary;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Serialization;
using QuickSilver.Tests.Endpoints;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// The lane is one line for all topics of a node; each topic's order and room must not feel the others.
[Collection(nameof(AllocationTests))]
public sealed class PublishIntakeTests
{
    // Too large for the lane of a small queue: goes past it.
    private const int Large = 4_000;

    private static readonly QuickSilverOptions SmallQueue = new() { Limits = { PublishQueueBytes = 64 << 10 } };

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task Messages_in_the_lane_and_past_it_stay_in_their_order(int seed)
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        ITopicPublisher<byte[]>[] topics = [await OpenAsync("a"), await OpenAsync("b"), await OpenAsync("c")];
        int[] published = new int[topics.Length];
        var waiting = new List<Task>[topics.Length];
        var random = new Random(seed);
        for (int i = 0; i < topics.Length; i++)
        {
            waiting[i] = [];
        }

        for (int step = 0; step < 5_000; step++)
        {
            int at = random.Next(topics.Length);
            switch (random.Next(8))
            {
                case 0:
                    parts.Core.Advance(TimeSpan.FromMilliseconds(random.Next(2)));
                    parts.Core.Pump();
                    break;
                case 1:
                    parts.SenderOf(topics[at].Name).GiveRoom(random.Next(200));
                    break;
                default:
                    // Like a program that awaits: none is begun before the last one was accepted.
                    waiting[at].RemoveAll(task => task.IsCompleted);
                    if (waiting[at].Count == 0)
                    {
                        int bytes = random.Next(10) == 0 ? Large : random.Next(4, 600);
                        waiting[at].Add(topics[at].PublishAsync(Payload(published[at]++, bytes)).AsTask());
                    }

                    break;
            }
        }

        foreach (var topic in topics)
        {
            parts.SenderOf(topic.Name).GiveRoom(int.MaxValue);
        }

        await parts.Settle(Task.WhenAll(waiting.SelectMany(tasks => tasks)).ContinueWith(_ => 0, TaskScheduler.Default));
        parts.Core.Pump();
        for (int i = 0; i < topics.Length; i++)
        {
            Assert.True(published[i] > 50);
            Assert.Equal(Enumerable.Range(0, published[i]), parts.SenderOf(topics[i].Name).Sent.Select(ToNumber));
        }

        Assert.Equal(0, node.GetGauges().PublishQueueBytes);

        Task<ITopicPublisher<byte[]>> OpenAsync(string name) => parts.OpenPublisherAsync<byte[]>(node, name);
    }

    [Fact]
    public async Task A_topic_that_gets_room_goes_although_one_before_it_in_the_lane_has_none()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var stuck = await parts.OpenPublisherAsync<byte[]>(node, "stuck");
        var other = await parts.OpenPublisherAsync<byte[]>(node, "other");
        parts.SenderOf("stuck").GiveRoom(0);
        parts.SenderOf("other").GiveRoom(0);
        for (int i = 0; i < 10; i++)
        {
            await stuck.PublishAsync(Payload(i, 100));
            await other.PublishAsync(Payload(i, 100));
        }

        parts.Core.Pump();
        Assert.Equal(0, parts.SenderOf("other").Count);
        parts.Core.Advance(TimeSpan.FromMilliseconds(1));
        parts.Core.Pump();
        parts.SenderOf("other").GiveRoom(int.MaxValue);
        parts.Core.Pump();
        Assert.Equal(Enumerable.Range(0, 10), parts.SenderOf("other").Sent.Select(ToNumber));

        await stuck.PublishAsync(Payload(10, 100));
        parts.SenderOf("stuck").GiveRoom(int.MaxValue);
        parts.Core.Pump();
        Assert.Equal(Enumerable.Range(0, 11), parts.SenderOf("stuck").Sent.Select(ToNumber));
    }

    [Fact]
    public async Task A_cancelled_endpoint_sends_nothing_more_although_its_messages_flowed_until_then_and_others_flow_on()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var cancelled = await parts.OpenPublisherAsync<byte[]>(node, "shared");
        var other = await parts.OpenPublisherAsync<byte[]>(node, "shared");
        for (int i = 0; i < 3; i++)
        {
            await cancelled.PublishAsync(Payload(i, 100));
            parts.Core.Pump();
        }

        await cancelled.PublishAsync(Payload(100, 100));
        await other.PublishAsync(Payload(3, 100));
        cancelled.Cancel();
        parts.Core.Pump();
        await other.PublishAsync(Payload(4, 100));
        parts.Core.Pump();
        Assert.Equal(Enumerable.Range(0, 5), parts.SenderOf("shared").Sent.Select(ToNumber));
    }

    [Fact]
    public async Task Messages_of_a_cancelled_endpoint_in_the_lane_are_not_sent_and_block_no_other()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var cancelled = await parts.OpenPublisherAsync<byte[]>(node, "cancelled");
        var other = await parts.OpenPublisherAsync<byte[]>(node, "other");
        parts.SenderOf("cancelled").GiveRoom(0);
        parts.SenderOf("other").GiveRoom(0);
        await cancelled.PublishAsync(Payload(0, 100));
        await other.PublishAsync(Payload(0, 100));
        parts.Core.Pump();
        cancelled.Cancel();
        parts.SenderOf("cancelled").GiveRoom(int.MaxValue);
        parts.SenderOf("other").GiveRoom(int.MaxValue);
        parts.Core.Pump();
        Assert.Equal(0, parts.SenderOf("cancelled").Count);
        Assert.Equal(1, parts.SenderOf("other").Count);
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }

    [Theory]
    [InlineData(100)]
    [InlineData(Large)]
    public async Task A_codec_that_writes_a_wrong_size_fails_its_publish_only(int bytes)
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.Settle(node.OpenPublisherAsync<int>("liar", new TopicOptions<int> { Codec = new LyingCodec(bytes) }));
        var refusal = await Assert.ThrowsAsync<InvalidOperationException>(async () => await topic.PublishAsync(bytes + 1));
        Assert.Contains(nameof(LyingCodec), refusal.Message);
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await topic.PublishAsync(-1));
        await topic.PublishAsync(bytes);
        parts.Core.Pump();
        Assert.Equal(bytes, Assert.Single(parts.SenderOf("liar").Sent).Length);
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }

    [Theory]
    [InlineData(101)]
    [InlineData(-1)]
    public async Task A_feeds_codec_that_writes_another_size_than_it_may_counts_as_a_fault_and_the_feed_continues(int lie)
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.Settle(node.OpenPublisherAsync<int>("liar", new TopicOptions<int> { Codec = new LyingCodec(100) }));
        var written = new Queue<int>([100, lie, 50]);
        using var feed = topic.AttachFeed((out int value) => written.TryDequeue(out value));
        parts.Core.Pump();
        Assert.Equal(1, node.Read(NodeFigures.FeedFaults));
        feed.Signal();
        parts.Core.Pump();
        Assert.Equal([100, 50], parts.SenderOf("liar").Sent.Select(payload => payload.Length));
    }

    [Fact]
    public async Task A_codec_with_a_negative_size_fails_its_publish_and_no_other_topic()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(SmallQueue);
        var topic = await parts.Settle(node.OpenPublisherAsync<int>("liar", new TopicOptions<int> { Codec = new LyingCodec(-1) }));
        var other = await parts.OpenPublisherAsync<byte[]>(node, "other");
        var refusal = await Assert.ThrowsAsync<InvalidOperationException>(async () => await topic.PublishAsync(0));
        Assert.Contains($"{nameof(LyingCodec)} returned -1.", refusal.Message);
        using var feed = topic.AttachFeed((out int value) => (value = 0) == 0);
        parts.Core.Pump();
        Assert.Equal(1, node.Read(NodeFigures.FeedFaults));
        await other.PublishAsync([1]);
        parts.Core.Pump();
        Assert.Single(parts.SenderOf("other").Sent);
    }

    [Fact]
    public async Task A_codec_that_does_not_return_from_write_is_named_as_long_as_others_wait_for_it()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var codec = new HeldCodec(bytes: 1);
        var topic = await parts.Settle(node.OpenPublisherAsync<int>("slow", new TopicOptions<int> { Codec = codec }));
        var other = await parts.OpenPublisherAsync<byte[]>(node, "other");
        var publishing = Task.Run(async () => await topic.PublishAsync(HeldCodec.Held));
        await codec.IsWriting.Task.OrFail();
        await other.PublishAsync([1]);
        parts.Core.Pump();
        for (int i = 0; i < 4; i++)
        {
            parts.Core.Advance(TimeSpan.FromSeconds(2.5));
        }

        Assert.Contains("wait for one message whose codec has not returned from Write", node.Status.Reason);
        Assert.Equal(1, node.GetCounters().Stalls);
        codec.GoesOn.Set();
        await publishing.OrFail();
        parts.Core.Pump();
        parts.Core.Advance(TimeSpan.FromSeconds(5));
        Assert.Null(node.Status.Reason);
        Assert.Single(parts.SenderOf("other").Sent);
    }

    [Fact]
    public async Task Publishing_allocates_nothing()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<ReadOnlyMemory<byte>>(node, "steady");
        parts.SenderOf("steady").Keeps = false;
        byte[] payload = new byte[100];
        Assert.Equal(0, Allocations.After(() =>
        {
            for (int i = 0; i < 10_000; i++)
            {
                Assert.True(topic.PublishAsync(payload).IsCompletedSuccessfully);
                if (i % 100 == 99)
                {
                    parts.Core.Pump();
                }
            }
        }));
    }

    // Asks for so many bytes, and says that it wrote as many as the value names.
    private sealed class LyingCodec(int bytes) : IPayloadCodec<int>
    {
        public PayloadSchema Schema { get; } = new("lie", PayloadSchema.BytesKind, []);

        public int GetSize(in int value) => bytes;

        public int Write(in int value, Span<byte> destination) => value;

        public int Read(ReadOnlySpan<byte> source) => source.Length;
    }

    private static byte[] Payload(int number, int bytes)
    {
        byte[] payload = new byte[bytes];
        BinaryPrimitives.WriteInt32LittleEndian(payload, number);
        return payload;
    }

    private static int ToNumber(byte[] payload) => BinaryPrimitives.ReadInt32LittleEndian(payload);
}
