using QuickSilver.Core.Requests;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Topics;

// A protocol that composition registers carries its topics without a change in the node: here one that counts what goes through it, and
// sends every payload backwards.
public sealed class TopicProtocolTests
{
    private readonly List<Mirror> _mirrors = [];
    private readonly TopicProtocolFactory _factory;

    public TopicProtocolTests() => _factory = new TopicProtocolFactory("Mirrored", node =>
    {
        _mirrors.Add(new Mirror(node));
        return _mirrors[^1];
    })
    {
        IsPinned = true,
    };

    private TopicOptions Mirrored => new() { Protocol = new ProtocolChoice(_factory) };

    [Fact]
    public async Task A_registered_protocol_carries_the_topics_of_its_guarantee_and_no_other()
    {
        await using var parts = new FakeParts();
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
        var mirror = Assert.Single(_mirrors);
        Assert.Equal(4, mirror.Opened);
        Assert.False(mirror.IsClosed);
        await node.DisposeAsync().AsTask().OrFail();
        Assert.True(mirror.IsClosed);
    }

    [Fact]
    public async Task Its_guarantee_and_whether_it_pins_stand_in_the_contract()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        var contract = parts.Service.Requests[^1].Contract;
        Assert.Equal("Mirrored", contract.Guarantee);
        Assert.True(contract.IsPinned);
        await Assert.ThrowsAsync<ContractMismatchException>(() => parts.OpenAsync<byte[]>(node, "mirrored"));
    }

    [Fact]
    public async Task The_parameters_stand_in_the_contract_and_reach_the_protocol_with_the_settings_of_the_first_endpoint()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var settings = new Settings();
        var options = new TopicOptions
        {
            Protocol = new ProtocolChoice(_factory) { Parameters = ContractParameters.Of("depth=2"), Settings = settings },
        };
        await parts.OpenPublisherAsync<byte[]>(node, "mirrored", options);
        await parts.OpenSubscriberAsync<byte[]>(node, "mirrored", new TopicOptions
        {
            Protocol = options.Protocol with { Settings = new Settings() },
        });

        Assert.Equal(ContractParameters.Of("depth=2"), parts.Service.Requests[^1].Contract.Parameters);
        var topics = Assert.Single(_mirrors).Topics;
        Assert.Equal(["mirrored", "mirrored"], topics.Select(topic => topic.Name));
        Assert.All(topics, topic => Assert.Equal("depth=2"u8.ToArray(), topic.Parameters.ToArray()));
        Assert.All(topics, topic => Assert.Same(settings, topic.Settings));
        await Assert.ThrowsAsync<ContractMismatchException>(() => parts.OpenAsync<byte[]>(node, "mirrored", Mirrored));
    }

    [Fact]
    public async Task Another_protocol_of_the_same_guarantee_is_refused_by_its_name()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        foreach (string guarantee in (string[])["Mirrored", "Reliable"])
        {
            var other = new TopicOptions { Protocol = new ProtocolChoice(_factory with { Guarantee = guarantee, IsPinned = false }) };
            var refusal = await Assert.ThrowsAsync<InvalidOperationException>(() => parts.OpenAsync<byte[]>(node, "topic", other));
            Assert.Equal(
                $"Another protocol of this node provides the guarantee {guarantee}. Give one of them another name.", refusal.Message);
        }
    }

    [Fact]
    public async Task A_protocol_that_the_composition_has_is_used_without_registration()
    {
        await using var parts = new FakeParts { Protocols = TopicProtocols.BuiltIn.With(_factory) };
        var node = await parts.StartAsync();
        await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        Assert.Single(_mirrors);
    }

    [Fact]
    public async Task A_stage_of_the_composition_stands_in_front_of_protocols_that_are_registered_later()
    {
        var staged = new List<ITopicProtocol>();
        await using var parts = new FakeParts
        {
            Protocols = TopicProtocols.BuiltIn.With(protocol =>
            {
                staged.Add(protocol);
                return protocol;
            }),
        };
        var node = await parts.StartAsync();
        await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        Assert.Same(Assert.Single(_mirrors), Assert.Single(staged));
    }

    [Fact]
    public async Task A_wait_of_a_protocol_without_progress_is_reported_until_it_ends()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync(new QuickSilverOptions { StallWarning = TimeSpan.FromSeconds(1) });
        await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        var mirror = Assert.Single(_mirrors);
        mirror.Wait = new Waiting();
        parts.Core.Post(new ActionRequest(mirror.Node.OnWait));
        parts.Core.Pump();
        for (int i = 0; i < 12; i++)
        {
            parts.Core.Advance(TimeSpan.FromMilliseconds(100));
        }

        var reason = Assert.Single(node.Status.Reasons);
        Assert.Equal(StatusReasonKind.ProtocolWaits, reason.Kind);
        Assert.StartsWith("The mirror waits for light. Waiting for 1", reason.Description);
        Assert.Equal("the sun", reason.WaitsFor);
        Assert.Equal(1, node.GetCounters().Stalls);

        mirror.Wait = null;
        parts.Core.Advance(TimeSpan.FromSeconds(2));
        Assert.Empty(node.Status.Reasons);
    }

    [Fact]
    public async Task The_logs_of_a_protocol_are_opened_once_and_share_no_names_with_those_of_another()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        await parts.OpenAsync<byte[]>(node, "mirrored", Mirrored);
        var mirror = Assert.Single(_mirrors);
        Assert.Equal("mirrored.", mirror.Node.OpenLogs("Mirrored").Prefix);
        Assert.Equal("durable.", mirror.Node.OpenLogs("Durable").Prefix);
        foreach (string same in new[] { "Mirrored", "mirrored" })
        {
            var refusal = Assert.Throws<InvalidOperationException>(() => mirror.Node.OpenLogs(same));
            Assert.Contains($"The logs of the protocol {same} are open already", refusal.Message, StringComparison.Ordinal);
        }

        Assert.False(node.HasStorage);
    }

    [Fact]
    public void Two_protocols_cannot_provide_one_guarantee() =>
        Assert.Throws<ArgumentException>(() => TopicProtocols.BuiltIn.With(PlainTopics.Of("Reliable", default)));

    private sealed class Settings : ProtocolSettings;

    private sealed class Waiting : IProtocolWait
    {
        public long Progress => 3;

        public string What => "The mirror waits for light";

        public string? WaitsFor => "the sun";
    }

    private sealed class Mirror(IProtocolNode node) : ITopicProtocol
    {
        public IProtocolNode Node => node;

        public int Opened => Topics.Count;

        public List<ProtocolTopic> Topics { get; } = [];

        public IProtocolWait? Wait { get; set; }

        public bool IsClosed { get; private set; }

        public ITopicSender OpenPublisher(in ProtocolTopic topic)
        {
            Topics.Add(topic);
            return new Sender(node.Multicast.OpenPublisher(new ChannelSpec(topic.Id) { IsPinned = true }));
        }

        public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink)
        {
            Topics.Add(topic);
            return node.Multicast.OpenSubscription(new ChannelSpec(topic.Id) { IsPinned = true }, new Sink(sink));
        }

        public void AddWaits(List<IProtocolWait> waits)
        {
            if (Wait is not null)
            {
                waits.Add(Wait);
            }
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
