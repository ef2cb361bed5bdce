using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Topics;

// A protocol that composition registers carries its topics without a change in the node: here one that counts what goes through it, and
// sends every payload backwards.
public sealed class TopicProtocolTests
{
    private static readonly TopicOptions Mirrored = new() { Protocol = "Mirrored" };

    [Fact]
    public async Task A_registered_protocol_carries_the_topics_of_its_guarantee_and_no_other()
    {
        var mirrors = new List<Mirror>();
        await using var parts = With(mirrors);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        var plain = await parts.OpenAsync<byte[]>(node, "plain");
        await parts.OpenAsync<byte[]>(node, "mirrored too", Mirrored);
        foreach (var sender in parts.Wire.Senders.Values)
        {
            sender.Stabilizes = true;
        }

        var received = new TaskCompletionSource<byte[]>();
        using var subscription = topic.SubscribeInline((in Message<byte[]> message) => received.TrySetResult([.. message.Value]));
        parts.SenderOf("mirrored").OnTaken = (_, payload) => parts.ReceiverOf("mirrored").Deliver(1, payload);

        await topic.PublishAsync([1, 2, 3]).OrFail();
        await plain.PublishAsync([1, 2, 3]).OrFail();
        Assert.Equal([1, 2, 3], await received.Task.OrFail());

        await Patience.Until(() => parts.SenderOf("plain").Count == 1);
        Assert.Equal([3, 2, 1], Assert.Single(parts.SenderOf("mirrored").Sent));
        Assert.Equal([1, 2, 3], Assert.Single(parts.SenderOf("plain").Sent));
        var mirror = Assert.Single(mirrors);
        Assert.Equal(4, mirror.Opened);
        Assert.False(mirror.IsClosed);
        await node.DisposeAsync().AsTask().OrFail();
        Assert.True(mirror.IsClosed);
    }

    [Fact]
    public async Task Its_guarantee_and_whether_it_pins_stand_in_the_contract()
    {
        await using var parts = With([]);
        var node = await parts.StartAsync();
        await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        var contract = parts.Service.Requests[^1].Contract;
        Assert.Equal("Mirrored", contract.Guarantee);
        Assert.True(contract.IsPinned);
        await Assert.ThrowsAsync<ContractMismatchException>(() => parts.OpenAsync<byte[]>(node, "mirrored"));
    }

    [Fact]
    public async Task A_guarantee_that_no_protocol_provides_is_refused_by_name()
    {
        await using var parts = With([]);
        var node = await parts.StartAsync();
        var refusal = await Assert.ThrowsAsync<NotSupportedException>(
            () => parts.OpenAsync<byte[]>(node, "topic", new TopicOptions { Protocol = "Sorted" }));
        Assert.Equal(
            "No protocol of this node provides the guarantee Sorted. Available guarantees: Reliable, BestEffort, Inbox, Mirrored.",
            refusal.Message);
    }

    [Fact]
    public void Two_protocols_cannot_provide_one_guarantee() =>
        Assert.Throws<ArgumentException>(() => TopicProtocols.BuiltIn.With(PlainTopics.Of("Reliable", default)));

    private static FakeParts With(List<Mirror> mirrors) => new()
    {
        Protocols = TopicProtocols.BuiltIn.With(new TopicProtocolFactory("Mirrored", context =>
        {
            mirrors.Add(new Mirror(context.Multicast));
            return mirrors[^1];
        })
        {
            IsPinned = true,
        }),
    };

    private sealed class Mirror(IMulticast multicast) : ITopicProtocol
    {
        public int Opened { get; private set; }

        public bool IsClosed { get; private set; }

        public ITopicSender OpenPublisher(ulong topic)
        {
            Opened++;
            return new Sender(multicast.OpenPublisher(new ChannelSpec(topic) { IsPinned = true }));
        }

        public ITopicReceiver OpenSubscription(ulong topic, IDeliverySink sink)
        {
            Opened++;
            return multicast.OpenSubscription(new ChannelSpec(topic) { IsPinned = true }, new Sink(sink));
        }

        public void Close() => IsClosed = true;
    }

    private sealed class Sender(ITopicSender sender) : ITopicSender
    {
        public ISenderFeed? Feed
        {
            get => sender.Feed;
            set => sender.Feed = value;
        }

        public bool IsStable => sender.IsStable;

        public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
        {
            byte[] mirrored = payload.ToArray();
            Array.Reverse(mirrored);
            return sender.TrySend(mirrored, observer, extensions);
        }

        public void ObserveTaken(IStabilityObserver observer, long number, bool isLast) => sender.ObserveTaken(observer, number, isLast);

        public bool AwaitRoom() => sender.AwaitRoom();

        public void WhenStable(Action callback) => sender.WhenStable(callback);

        public void Close() => sender.Close();
    }

    private sealed class Sink(IDeliverySink sink) : IDeliverySink
    {
        public bool TryAccept(in DeliveredMessage message)
        {
            byte[] mirrored = message.Span.ToArray();
            Array.Reverse(mirrored);
            var copy = new DeliveredMessage(message.Sender);
            copy.Set(message.TopicId, message.Sequence, mirrored, 0, mirrored.Length);
            return sink.TryAccept(copy);
        }

        public void OnGap(in TopicGap gap) => sink.OnGap(gap);
    }
}
