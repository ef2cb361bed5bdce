using QuickSilver.Multicast.Protocols;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Topics;

// Topics that are declared at their payload types.
public sealed class DeclaredTopicTests
{
    private static readonly EmptyCodec<Order> OrderCodec = new();
    private static readonly EmptyCodec<Tick> TickCodec = new();

    [Fact]
    public async Task A_declared_topic_is_opened_without_its_name_and_with_its_guarantee()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await using var orders = await node.OpenTopicAsync<Order>(new TopicOptions<Order> { Codec = OrderCodec }).OrFail();
        await using var publisher = await node.OpenPublisherAsync<Tick>(new TopicOptions<Tick> { Codec = TickCodec }).OrFail();
        await using var subscriber = await node.OpenSubscriberAsync<Tick>(new TopicOptions<Tick> { Codec = TickCodec }).OrFail();
        Assert.Equal(["orders", "ticks", "ticks"], [orders.Name, publisher.Name, subscriber.Name]);
        Assert.Equal(
            ["Reliable", "BestEffort", "BestEffort"], parts.Service.Requests.Select(static request => request.Contract.Guarantee));
    }

    [Fact]
    public async Task A_declared_topic_is_read_without_its_name()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        await using var publisher = await node.OpenPublisherAsync<Order>(new TopicOptions<Order> { Codec = OrderCodec }).OrFail();
        await using var reader = node.ReadAllAsync<Order>(new TopicOptions<Order> { Codec = OrderCodec }).GetAsyncEnumerator();
        var read = reader.MoveNextAsync().AsTask();
        await publisher.WaitForSubscribersAsync(1).OrFail();
        await publisher.PublishAsync(new Order()).OrFail();
        Assert.True(await read.OrFail());
        Assert.Equal("orders", reader.Current.Topic);
    }

    [Fact]
    public async Task A_declared_type_has_its_guarantee_under_other_names_too()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var options = new TopicOptions<Tick> { Codec = TickCodec };
        await using var topic = await node.OpenTopicAsync<Tick>("test/ticks", options).OrFail();
        Assert.Equal("BestEffort", Assert.Single(parts.Service.Requests).Contract.Guarantee);
        options.Guarantee = Guarantee.BestEffort;
        await using var same = await node.OpenTopicAsync<Tick>("test/other", options).OrFail();
    }

    [Fact]
    public async Task A_declared_guarantee_that_does_not_exist_names_the_type()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var thrown = await Assert.ThrowsAsync<InvalidOperationException>(
            () => node.OpenTopicAsync<Odd>(new TopicOptions<Odd> { Codec = new EmptyCodec<Odd>() }));
        Assert.StartsWith(
            $"{typeof(Odd)} declares the topic \"odd\" with the guarantee 17, which does not exist.",
            thrown.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_topic_of_a_protocol_of_its_own_has_the_guarantee_of_the_protocol()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var options = new TopicOptions<Tick> { Codec = TickCodec, Protocol = new ProtocolChoice(PlainTopics.Inbox) };
        await using var topic = await node.OpenTopicAsync<Tick>(options).OrFail();
        var contract = Assert.Single(parts.Service.Requests).Contract;
        Assert.Equal(("ticks", PlainTopics.Inbox.Guarantee), (topic.Name, contract.Guarantee));
    }

    [Fact]
    public async Task Topics_of_a_prefix_have_the_declared_guarantee()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        var options = new TopicOptions<Tick> { Codec = TickCodec };
        await using var publisher = await node.OpenPublisherAsync<Tick>("ticks/a", options).OrFail();
        var opened = new TaskCompletionSource<PrefixTopicState>();
        await using var prefix = await node.OpenPrefixAsync<Tick>(
            "ticks/",
            static (_, _, _) => default,
            new PrefixOptions<Tick>
            {
                Topic = options,
                OnTopic = topic =>
                {
                    if (topic.State != PrefixTopicState.Opening)
                    {
                        opened.TrySetResult(topic.State);
                    }
                },
            }).OrFail();
        Assert.Equal(PrefixTopicState.Open, await opened.Task.OrFail());
    }

    [Theory]
    [InlineData(null)]
    [InlineData("test/ticks")]
    public async Task Options_with_another_guarantee_than_the_declared_are_refused_with_both(string? name)
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        // It is the default of options, too. Here it is set.
        var reliable = new TopicOptions<Tick>(new TopicOptions { Guarantee = Guarantee.Reliable }) { Codec = TickCodec };
        Func<Task>[] calls = name is null
            ?
            [
                () => node.OpenTopicAsync<Tick>(reliable),
                () => node.OpenPublisherAsync<Tick>(reliable),
                () => node.OpenSubscriberAsync<Tick>(reliable),
                () => Task.FromResult(node.ReadAllAsync<Tick>(reliable)),
            ]
            :
            [
                () => node.OpenTopicAsync<Tick>(name, reliable),
                () => Task.FromResult(node.ReadAllAsync<Tick>(name, reliable)),
                () => node.OpenPrefixAsync<Tick>(name, static (_, _, _) => default, new() { Topic = reliable }),
            ];
        foreach (var call in calls)
        {
            var refused = await Assert.ThrowsAsync<ArgumentException>(call).OrFail();
            Assert.Equal("options", refused.ParamName);
            Assert.StartsWith(
                $"The options have the guarantee Reliable, and {typeof(Tick)} declares the topic \"ticks\" with the guarantee BestEffort. "
                + "Do not set TopicOptions.Guarantee, or change the declaration.",
                refused.Message,
                StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_type_without_a_declaration_needs_a_name_which_the_exception_asks_for()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        using var token = new CancellationTokenSource();
        Func<Task>[] calls =
        [
            () => node.OpenTopicAsync<string>(),
            () => node.OpenPublisherAsync<string>(),
            () => node.OpenSubscriberAsync<string>(cancellationToken: token.Token),
            () => Task.FromResult(node.ReadAllAsync<string>()),
            () => Task.FromResult(node.ReadAllAsync<string>(token.Token)),
            () => node.OpenTopicAsync<DerivedOrder>(),
        ];
        foreach (var call in calls)
        {
            var refused = await Assert.ThrowsAsync<InvalidOperationException>(call).OrFail();
            Assert.EndsWith(
                " declares no topic. Pass the name of the topic, or declare it at the type with [Topic(\"name\")].",
                refused.Message,
                StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task An_invalid_name_in_a_declaration_is_refused_with_its_fault()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        var wild = await Assert.ThrowsAsync<InvalidOperationException>(() => node.OpenTopicAsync<Wild>()).OrFail();
        Assert.StartsWith(
            $"{typeof(Wild)} declares a topic with an invalid name. The topic name contains '*' at position 0.",
            wild.Message,
            StringComparison.Ordinal);
        var nameless = await Assert.ThrowsAsync<InvalidOperationException>(() => node.OpenTopicAsync<Nameless>()).OrFail();
        Assert.Equal($"{typeof(Nameless)} declares a topic with an invalid name. It is null.", nameless.Message);
    }

    [Fact]
    public void Options_whose_guarantee_is_not_set_read_as_reliable_and_stay_unset_in_copies()
    {
        Assert.Equal(Guarantee.Reliable, new TopicOptions().Guarantee);
        Assert.Null(new TopicOptions<string>(new TopicOptions()).Copy().GivenGuarantee);
        var given = new TopicOptions<string>(new TopicOptions { Guarantee = Guarantee.Reliable }).Copy();
        Assert.Equal(Guarantee.Reliable, given.GivenGuarantee);
    }

    [Topic("orders")]
    private class Order;

    private sealed class DerivedOrder : Order;

    [Topic("ticks", Guarantee = Guarantee.BestEffort)]
    private readonly record struct Tick;

    [Topic("odd", Guarantee = (Guarantee)17)]
    private sealed class Odd;

    [Topic("*")]
    private sealed class Wild;

    [Topic(null!)]
    private sealed class Nameless;

    // This project has no generated codecs. A value is new.
    private sealed class EmptyCodec<T> : IPayloadCodec<T>
        where T : new()
    {
        public PayloadSchema Schema { get; } = SchemaOfBytes();

        public int GetSize(in T value) => 0;

        public int Write(in T value, Span<byte> destination) => 0;

        public T Read(ReadOnlySpan<byte> source) => new();

        private static PayloadSchema SchemaOfBytes()
        {
            Assert.True(GeneratedCodecs.TryGet<byte[]>(out var codec));
            return codec.Schema;
        }
    }
}
