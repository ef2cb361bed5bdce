using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using QuickSilver.Membership.Contracts;
using QuickSilver.Multicast.Channels;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

public sealed class TopicInjectionTests
{
    [Fact]
    public async Task An_injected_topic_can_be_used_before_the_node_has_joined()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t")) { HoldsStarts = true };
        await hosted.Host.StartAsync().OrFail();
        var topic = hosted.Host.Services.GetRequiredService<ITopic<string>>();
        var published = topic.PublishAsync("early").AsTask();
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        var read = reader.MoveNextAsync().AsTask();
        int pulled = 0;
        using var feed = topic.AttachFeed((out string value) =>
        {
            value = "fed";
            return pulled++ == 0;
        });
        Assert.Equal((false, false, 0), (published.IsCompleted, read.IsCompleted, topic.Subscribers));
        hosted.Gate.SetResult();
        await published.OrFail();
        var parts = Assert.Single(hosted.Parts);
        await Patience.Until(() => parts.SenderOf("t").Count == 2);
        Assert.Equal(1, topic.Subscribers);
        await parts.Core.RunAsync(() => parts.ReceiverOf("t").Deliver(1, "x"u8));
        Assert.True(await read.OrFail());
        Assert.Equal("x", reader.Current.Value);
    }

    [Fact]
    public async Task Topics_of_one_type_are_injected_by_name()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver().AddTopic<string>("a").AddTopic<string>("b").AddTopic<byte[]>("c"));
        var services = hosted.Host.Services;
        Assert.Equal("a", services.GetRequiredKeyedService<ITopic<string>>("a").Name);
        Assert.Equal("b", services.GetRequiredKeyedService<ITopic<string>>("b").Name);
        Assert.Equal("c", services.GetRequiredService<ITopic<byte[]>>().Name);
        var refusal = Assert.Throws<InvalidOperationException>(() => services.GetRequiredService<ITopic<string>>());
        Assert.Contains("a, b", refusal.Message);
    }

    [Fact]
    public async Task A_topic_is_injected_as_what_it_was_added_for()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver()
            .AddTopic<string>("both").AddPublisher<byte[]>("halves").AddSubscriber<byte[]>("halves"));
        var services = hosted.Host.Services;
        var both = services.GetRequiredService<ITopic<string>>();
        Assert.Same(both, services.GetRequiredService<ITopicPublisher<string>>());
        Assert.Same(both, services.GetRequiredKeyedService<ITopicSubscriber<string>>("both"));
        var publisher = services.GetRequiredService<ITopicPublisher<byte[]>>();
        Assert.Same(publisher, services.GetRequiredKeyedService<ITopicPublisher<byte[]>>("halves"));
        Assert.NotSame(publisher, services.GetRequiredService<ITopicSubscriber<byte[]>>());
        Assert.Null(services.GetService<ITopic<byte[]>>());
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        await Patience.Until(() => hosted.CheckAsync("ready").Result.Status == HealthStatus.Healthy);
        Assert.Equal(
            [TopicRole.Publish, TopicRole.Publish | TopicRole.Subscribe, TopicRole.Publish | TopicRole.Subscribe],
            Assert.Single(hosted.Parts).Service.Requests.Select(request => request.Role).Order());
    }

    [Fact]
    public void A_service_whose_topic_the_host_does_not_add_is_found_when_the_container_is_built()
    {
        AssertMissing<ITopicPublisher<string>>(static quickSilver => quickSilver);
        AssertMissing<ITopicPublisher<string>>(static quickSilver => quickSilver.AddSubscriber<string>("t"));
        AssertMissing<ITopic<string>>(static quickSilver => quickSilver.AddSubscriber<string>("t").AddPublisher<string>("t"));
        AssertMissing<ITopicSubscriber<string>>(static quickSilver => quickSilver.AddConsumer<string, Needing<IServiceProvider>>("t"));

        static void AssertMissing<TNeeded>(Func<QuickSilverBuilder, QuickSilverBuilder> add)
        {
            var services = new ServiceCollection();
            services.AddLogging();
            add(services.AddQuickSilver());
            services.AddSingleton<Needing<TNeeded>>();
            var refusal = Assert.Throws<AggregateException>(
                () => services.BuildServiceProvider(new ServiceProviderOptions { ValidateOnBuild = true }));
            Assert.Contains($"Unable to resolve service for type '{typeof(TNeeded)}'", refusal.Message);
        }
    }

    [Fact]
    public async Task An_observer_of_an_injected_topic_gets_its_messages_and_completes_with_the_host()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddSubscriber<string>("t"));
        var topic = hosted.Host.Services.GetRequiredService<ITopicSubscriber<string>>();
        var observer = new RecordingObserver();
        using var subscription = topic.AsObservable().Subscribe(observer);
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        await Patience.Until(() => hosted.CheckAsync("ready").Result.Status == HealthStatus.Healthy);
        var parts = Assert.Single(hosted.Parts);
        await parts.Core.RunAsync(() => parts.ReceiverOf("t").Deliver(1, "x"u8));
        await hosted.Host.StopAsync().OrFail();
        Assert.Equal(["x", "completed"], observer.Told);
        var late = new RecordingObserver();
        topic.AsObservable().Subscribe(late).Dispose();
        Assert.Equal(["completed"], late.Told);
    }

    [Fact]
    public async Task An_observer_that_throws_at_its_end_is_logged_and_the_others_are_notified()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver().AddSubscriber<string>("a").AddSubscriber<string>("b"))
        {
            // Where a node has opened the topics, it ends their observers itself.
            HoldsStarts = true,
        };
        var topics = new[] { "a", "b" }.Select(hosted.Host.Services.GetRequiredKeyedService<ITopicSubscriber<string>>).ToArray();
        var observers = new List<RecordingObserver>();
        foreach (var topic in topics)
        {
            var (throwing, calm) = (new RecordingObserver { Throws = true }, new RecordingObserver());
            topic.AsObservable().Subscribe(throwing);
            topic.AsObservable().Subscribe(calm);
            observers.AddRange([throwing, calm]);
        }

        await hosted.Host.StartAsync().OrFail();
        await hosted.Host.StopAsync().OrFail();
        Assert.All(observers, observer => Assert.Equal(["completed"], observer.Told));
        topics[0].AsObservable().Subscribe(new RecordingObserver { Throws = true }).Dispose();
        Assert.Equal(3, hosted.Logs.Entries.Count(entry => entry.Id == 1704));
    }

    [Fact]
    public async Task A_handler_service_gets_its_topics_messages_and_gaps()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopicHandler<string, Recorder>("t"));
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        var parts = Assert.Single(hosted.Parts);
        await Patience.Until(() => hosted.CheckAsync("ready").Result.Status == HealthStatus.Healthy);
        await parts.Core.RunAsync(() =>
        {
            parts.ReceiverOf("t").Deliver(1, "x"u8);
            parts.ReceiverOf("t").Gap(2, 3, TopicGapReason.SenderGone);
        });
        Assert.Equal(["x", "2-3"], hosted.Host.Services.GetRequiredService<Recorder>().Seen);
        Assert.Empty(parts.Wire.Senders);
    }

    [Fact]
    public async Task A_topic_that_is_refused_fails_readiness_and_its_users_but_not_the_host()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver().AddTopic<string>("bad").AddTopic<byte[]>("good"))
        {
            Prepare = parts => parts.Service.Refuse = request => request.Name == "bad" ? "field 2 differs" : null,
        };
        await hosted.Host.StartAsync().OrFail();
        var failure = await Assert.ThrowsAsync<ContractMismatchException>(
            () => hosted.Host.Services.GetRequiredService<ITopic<string>>().PublishAsync("x").AsTask()).OrFail();
        Assert.StartsWith("field 2 differs.", failure.Message);
        await hosted.Host.Services.GetRequiredService<ITopic<byte[]>>().PublishAsync([1]).OrFail();
        var ready = await hosted.CheckAsync("ready");
        Assert.Contains("topic \"bad\": field 2 differs", ready.Description);
        Assert.Contains(hosted.Logs.Entries, entry => entry.Id == 1701);
    }

    [Fact]
    public async Task A_topic_that_is_refused_is_tried_again_while_its_node_lives()
    {
        int requests = 0;
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t"))
        {
            Prepare = parts => parts.Service.Refuse = _ => ++requests <= 3 ? "field 2 differs" : null,
        };
        var topic = hosted.Host.Services.GetRequiredService<ITopic<string>>();
        var handled = new List<string>();
        using var handler = topic.SubscribeInline((in Message<string> message) => handled.Add(message.Value));
        await hosted.Host.StartAsync().OrFail();
        await Assert.ThrowsAsync<ContractMismatchException>(() => topic.PublishAsync("early").AsTask()).OrFail();
        await hosted.Time.RunUntilAsync(Patience.Until(() => requests == 4));
        await Patience.Until(() => topic.Subscribers > 0);
        // Handlers are attached before waiting calls continue.
        await topic.WaitForSubscribersAsync(1).OrFail();
        await topic.PublishAsync("late").OrFail();
        var parts = Assert.Single(hosted.Parts);
        await parts.Core.RunAsync(() => parts.ReceiverOf("t").Deliver(1, "heard"u8));
        Assert.Equal(["heard"], handled);
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("ready")).Status);
        Assert.Equal(1, hosted.Logs.Entries.Count(entry => entry.Id == 1701));
        Assert.Equal(1, hosted.Logs.Entries.Count(entry => entry.Id == 1610));
        // Logged when the topic is in use already.
        await Patience.Until(() => hosted.Logs.Entries.Any(static entry => entry.Id == 1931));
        var opened = Assert.Single(hosted.Logs.Entries, entry => entry.Id == 1931);
        Assert.Equal("Topic \"t\" is open (failures before: 3).", opened.Text);
    }

    [Fact]
    public async Task A_reader_of_a_topic_that_is_refused_waits_until_it_is_open()
    {
        int requests = 0;
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddSubscriber<string>("t"))
        {
            Prepare = parts => parts.Service.Refuse = _ => ++requests <= 3 ? "field 2 differs" : null,
        };
        var topic = hosted.Host.Services.GetRequiredService<ITopicSubscriber<string>>();
        await using var early = topic.ReadAllAsync().GetAsyncEnumerator();
        var read = early.MoveNextAsync().AsTask();
        await hosted.Host.StartAsync().OrFail();
        await Patience.Until(() => hosted.Logs.Entries.Any(static entry => entry.Id == 1701));
        using var patience = new CancellationTokenSource();
        await using var impatient = topic.ReadAllAsync(cancellationToken: patience.Token).GetAsyncEnumerator(CancellationToken.None);
        var cancelled = impatient.MoveNextAsync().AsTask();
        await patience.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled).OrFail();
        await hosted.Time.RunUntilAsync(Patience.Until(() => requests == 4));
        await Patience.Until(() => hosted.Logs.Entries.Any(static entry => entry.Id == 1931));
        var parts = Assert.Single(hosted.Parts);
        await parts.Core.RunAsync(() => parts.ReceiverOf("t").Deliver(1, "x"u8));
        Assert.True(await read.OrFail());
        Assert.Equal("x", early.Current.Value);
    }

    [Fact]
    public async Task Each_change_of_the_reason_for_which_a_topic_is_refused_is_logged_once()
    {
        int requests = 0;
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t"))
        {
            Prepare = parts => parts.Service.Refuse = _ => ++requests <= 2 ? "field 2 differs" : "field 3 differs",
        };
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        await hosted.Time.RunUntilAsync(Patience.Until(() => requests == 4));
        foreach (int id in (int[])[1610, 1701])
        {
            string[] fields = [.. hosted.Logs.Entries.Where(entry => entry.Id == id)
                .Select(static entry => entry.Text.Split("field ")[1][..1])];
            Assert.Equal(["2", "3"], fields);
        }
    }

    [Fact]
    public async Task A_container_may_be_disposed_either_way_and_without_having_started()
    {
        var services = new ServiceCollection().AddLogging();
        services.AddQuickSilver().AddTopic<string>("t");
        var first = services.BuildServiceProvider();
        Assert.Single(first.GetServices<Microsoft.Extensions.Hosting.IHostedService>(), service => service is NodeLifetime);
        first.Dispose();
        var second = services.BuildServiceProvider();
        Assert.NotNull(second.GetRequiredService<ITopic<string>>());
        await second.DisposeAsync();
    }

    private sealed class Recorder : ITopicHandler<string>
    {
        public List<string> Seen { get; } = [];

        public void Handle(in Message<string> message) => Seen.Add(message.Value);

        public void OnGap(GapNotice gap) => Seen.Add($"{gap.First}-{gap.Last}");
    }

    private sealed class Needing<T>(T needed) : IConsumer<string>
    {
        public ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken) =>
            needed is null ? throw new InvalidOperationException() : default;
    }
}
