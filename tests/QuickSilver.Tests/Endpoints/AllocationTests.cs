using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Feeds;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints;

[CollectionDefinition(nameof(AllocationTests), DisableParallelization = true)]
public sealed class AllocationCollection;

// The core thread is the test's own thread here, so that what it allocates is what the path allocates.
[Collection(nameof(AllocationTests))]
public sealed class AllocationTests
{
    private const string Name = "hot";
    private const int Messages = 20_000;
    private static readonly byte[] Payload = new byte[1000];

    [Fact]
    public async Task Publishing_allocates_nothing_per_message()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        parts.SenderOf(Name).Keeps = false;
        Assert.Equal(0, Allocations.After(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                Assert.True(topic.PublishAsync(Payload).IsCompletedSuccessfully);
                if (i % 50 == 0)
                {
                    parts.Core.Pump();
                }
            }

            parts.Core.Pump();
        }));
    }

    [Fact]
    public async Task Publishing_that_waits_for_room_allocates_nothing_per_message()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } });
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        var sender = parts.SenderOf(Name);
        sender.Keeps = false;
        Assert.Equal(0, Allocations.After(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                var published = topic.PublishAsync(Payload);
                if (!published.IsCompleted)
                {
                    parts.Core.Pump();
                }

                Assert.True(published.IsCompletedSuccessfully);
                published.GetAwaiter().GetResult();
            }
        }));
        Assert.True(node.Read(NodeFigures.PublishWaits) > Messages / 100);
    }

    [Fact]
    public async Task Handling_allocates_nothing_per_message()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        long bytes = 0;
        int rounds = 0;
        using var handler = topic.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) => bytes += message.Value.Length);
        var receiver = parts.ReceiverOf(Name);
        Assert.Equal(0, Allocations.After(() =>
        {
            rounds++;
            for (int i = 0; i < Messages; i++)
            {
                receiver.Deliver(i + 1, Payload);
            }
        }));
        Assert.Equal((long)rounds * Messages * Payload.Length, bytes);
    }

    [Theory]
    [InlineData(SlowReaderPolicy.Wait)]
    [InlineData(SlowReaderPolicy.DropOldest)]
    [InlineData(SlowReaderPolicy.DropWrite)]
    public async Task Reading_allocates_nothing_per_message(SlowReaderPolicy policy)
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(
            node, Name, new TopicOptions { ReaderCapacity = 64, SlowReader = policy });
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        var receiver = parts.ReceiverOf(Name);
        long read = 0;
        Assert.Equal(0, Allocations.After(() =>
        {
            for (int i = 0; i < Messages; i += 60)
            {
                for (int j = 0; j < 60; j++)
                {
                    Assert.True(receiver.Deliver(i + j + 1, Payload));
                }

                for (int j = 0; j < 60; j++)
                {
                    var next = reader.MoveNextAsync();
                    Assert.True(next.IsCompletedSuccessfully && next.Result);
                    read += reader.Current.Value.Length;
                }
            }
        }));
        Assert.True(read > Messages * Payload.Length);
    }

    [Fact]
    public async Task Reading_that_waits_for_each_message_allocates_nothing_per_message()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        var receiver = parts.ReceiverOf(Name);
        int read = 0;
        using var readOne = new SemaphoreSlim(0);
        var reading = Task.Run(async () =>
        {
            await foreach (var message in topic.ReadAllAsync())
            {
                Volatile.Write(ref read, read + 1);
                readOne.Release();
            }
        });
        int delivered = 0;
        void Run(int messages)
        {
            for (int i = 0; i < messages; i++)
            {
                receiver.Deliver(++delivered, Payload);
                readOne.Wait();
            }
        }

        Run(2_000);
        // What the rest of the process allocates differs from round to round; what the path allocates is in all of them.
        long least = long.MaxValue;
        for (int round = 0; round < 10; round++)
        {
            long before = GC.GetTotalAllocatedBytes(precise: true);
            Run(500);
            least = Math.Min(least, GC.GetTotalAllocatedBytes(precise: true) - before);
        }

        topic.Cancel();
        await reading.OrFail();
        // One object per message would be three times this.
        Assert.InRange(least / 500, 0, 8);
        Assert.Equal(7_000, read);
    }

    [Fact]
    public async Task A_feed_allocates_nothing_per_message()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        parts.SenderOf(Name).Keeps = false;
        int left = 0;
        int rounds = 0;
        using var feed = topic.AttachFeed((out ReadOnlyMemory<byte> value) =>
        {
            value = Payload;
            return left-- > 0;
        });
        Assert.Equal(0, Allocations.After(() =>
        {
            rounds++;
            left = Messages;
            feed.Signal();
            parts.Core.Pump();
        }));
        Assert.Equal(rounds * Messages, parts.SenderOf(Name).Count);
    }

    [Fact]
    public async Task A_feed_that_learns_what_is_stable_allocates_nothing_per_message()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        var sender = parts.SenderOf(Name);
        sender.Keeps = false;
        sender.RoomBytes = 20_000;
        var feed = new StableFeed();
        using var attached = topic.AttachFeed(feed);
        Assert.Equal(0, Allocations.After(() =>
        {
            feed.Left = Messages;
            attached.Signal();
            parts.Core.Pump();
            sender.MakeStableInPlace();
            parts.Core.Pump();
        }));
        Assert.True(feed.Given >= 2 * Messages);
        Assert.Equal((sender.Count, feed.Given), (feed.Given, feed.Stable));
    }

    private sealed class StableFeed : IMessageFeed<ReadOnlyMemory<byte>>
    {
        public int Left { get; set; }

        public long Given { get; private set; }

        public long Stable { get; private set; }

        public bool Pull(IFeedWriter<ReadOnlyMemory<byte>> writer)
        {
            while (Left > 0 && writer.CanWrite)
            {
                writer.Write(Payload);
                Left--;
                Given++;
            }

            return Left > 0;
        }

        public void OnStable(long through) => Stable = through;
    }
}
