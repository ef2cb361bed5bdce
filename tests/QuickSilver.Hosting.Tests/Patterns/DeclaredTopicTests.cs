using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using QuickSilver.Serialization;
using QuickSilver.Serialization.Generated;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Patterns;

// Topics that are added without their names, because their payload types declare them.
public sealed class DeclaredTopicTests
{
    private static readonly TopicOptions<Tick> Options = new() { Codec = new TickCodec() };

    [Fact]
    public async Task Declared_topics_are_added_without_their_names_and_have_the_declared_guarantee()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver()
            .AddTopic<Tick>(Options)
            .AddTopicHandler<Tick, Handled>(Options)
            .AddConsumer<Tick, Handled>(options: Options));
        await hosted.Host.StartAsync().OrFail();
        var topic = hosted.Host.Services.GetRequiredService<ITopic<Tick>>();
        await topic.PublishAsync(new Tick(1)).OrFail();
        Assert.Equal("ticks", topic.Name);
        Assert.Same(topic, hosted.Host.Services.GetRequiredKeyedService<ITopicPublisher<Tick>>("ticks"));
        Assert.All(
            Assert.Single(hosted.Parts).Service.Requests, static request => Assert.Equal("BestEffort", request.Contract.Guarantee));
    }

    [Fact]
    public async Task Each_half_of_a_declared_topic_is_added_without_its_name()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver().AddPublisher<Tick>(Options).AddSubscriber<Tick>(Options));
        var services = hosted.Host.Services;
        Assert.Equal("ticks", services.GetRequiredService<ITopicPublisher<Tick>>().Name);
        Assert.Equal("ticks", services.GetRequiredService<ITopicSubscriber<Tick>>().Name);
    }

    [Fact]
    public async Task A_contradicted_or_missing_declaration_is_refused_when_the_topic_is_added()
    {
        await using var hosted = new HostedNodes(static builder =>
        {
            var added = builder.Services.AddQuickSilver();
            Action[] contradicted =
            [
                () => added.AddTopic<Tick>(Reliable()),
                () => added.AddTopic<Tick>("test/ticks", Reliable()),
                () => added.AddConsumer<Tick, Handled>(options: Reliable()),
                () => added.AddPrefix<Tick, Handled>("ticks/", new PrefixOptions<Tick> { Topic = Reliable() }),
            ];
            Assert.All(contradicted, static add => Assert.Throws<ArgumentException>("options", add));
            Assert.Contains(
                "declares no topic", Assert.Throws<InvalidOperationException>(() => added.AddTopic<string>()).Message);
        });
    }

    [Fact]
    public async Task Configuration_with_another_guarantee_than_the_declared_fails_the_start()
    {
        var settings = HostedNodes.Settings(("Q:Topics:ticks:Guarantee", "Reliable")).GetSection("Q");
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(settings).AddTopic<Tick>(Options));
        var failure = await Assert.ThrowsAnyAsync<OptionsValidationException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Equal(
            $"The option Topics:ticks:Guarantee is Reliable. Allowed: BestEffort, which {typeof(Tick)} declares.", failure.Message);
    }

    [Fact]
    public async Task Configuration_may_repeat_the_declared_guarantee_and_change_other_options()
    {
        var settings = HostedNodes
            .Settings(("Q:Topics:ticks:Guarantee", "BestEffort"), ("Q:Topics:ticks:ReaderCapacity", "7")).GetSection("Q");
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(settings).AddTopic<Tick>(Options));
        await hosted.Host.StartAsync().OrFail();
        await hosted.Host.Services.GetRequiredService<ITopic<Tick>>().PublishAsync(new Tick(1)).OrFail();
        Assert.Equal("BestEffort", Assert.Single(hosted.Parts).Service.Requests[^1].Contract.Guarantee);
    }

    private static TopicOptions<Tick> Reliable() => new(Options) { Guarantee = Guarantee.Reliable };

    [Topic("ticks", Guarantee = Guarantee.BestEffort)]
    private sealed record Tick(byte Value);

    private sealed class Handled : ITopicHandler<Tick>, IConsumer<Tick>
    {
        public void Handle(in Message<Tick> message)
        {
        }

        public ValueTask ConsumeAsync(Message<Tick> message, CancellationToken cancellationToken) => default;
    }

    // This project has no generated codecs.
    private sealed class TickCodec : IPayloadCodec<Tick>
    {
        public PayloadSchema Schema { get; } = SchemaOfBytes();

        public int GetSize(in Tick value) => 1;

        public int Write(in Tick value, Span<byte> destination)
        {
            destination[0] = value.Value;
            return 1;
        }

        public Tick Read(ReadOnlySpan<byte> source) => new(source[0]);

        private static PayloadSchema SchemaOfBytes() =>
            GeneratedCodecs.TryGet<byte[]>(out var codec) ? codec.Schema : throw new InvalidOperationException("Bytes have a codec.");
    }
}
