using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Hosting.Tests;

public sealed class LifetimeTests
{
    [Fact]
    public async Task The_host_starts_although_the_node_cannot_and_the_node_follows()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver()) { HoldsStarts = true };
        await hosted.Host.StartAsync().OrFail();
        Assert.Null(hosted.Nodes.Current);
        var waiting = hosted.Nodes.GetAsync();
        Assert.False(waiting.IsCompleted);
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("live")).Status);
        var ready = await hosted.CheckAsync("ready");
        Assert.Equal(HealthStatus.Unhealthy, ready.Status);
        Assert.StartsWith("The node has not joined yet. Waiting for a membership service that admits it since ", ready.Description);

        hosted.Gate.SetResult();
        Assert.Same(await waiting.OrFail(), hosted.Nodes.Current);
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("ready")).Status);
    }

    [Fact]
    public async Task A_start_that_fails_is_logged_and_tried_again_after_a_growing_pause()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver())
        {
            StartFault = attempt => attempt <= 3 ? new MembershipUnreachableException("no service there") : null,
        };
        await hosted.Host.StartAsync().OrFail();
        var begun = hosted.Time.Elapsed;
        await hosted.Time.RunUntilAsync(hosted.Nodes.GetAsync());
        Assert.Equal(4, hosted.Attempts);
        Assert.InRange(hosted.Time.Elapsed - begun, TimeSpan.FromSeconds(7), TimeSpan.FromSeconds(8));
        Assert.Equal(3, hosted.Logs.Entries.Count(entry => entry.Id == 1700));
    }

    [Fact]
    public async Task Readiness_says_why_the_last_start_failed_until_one_succeeds()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver())
        {
            StartFault = attempt => attempt <= 1 ? new MembershipUnreachableException("no service there") : null,
        };
        await hosted.Host.StartAsync().OrFail();
        await Patience.Until(() => hosted.Logs.Entries.Any(entry => entry.Id == 1700));
        var ready = await hosted.CheckAsync("ready");
        Assert.StartsWith(
            "The node has not joined yet. The last attempt to start it failed: no service there. Waiting for the next attempt since ",
            ready.Description);
        Assert.EndsWith(" UTC. Correct the cause. The host starts the node again by itself.", ready.Description);
        var line = Assert.Single(hosted.Logs.Entries, entry => entry.Id == 1700);
        Assert.Equal("The node failed to start and is started again in 1 s. no service there", line.Text);
        await hosted.Time.RunUntilAsync(hosted.Nodes.GetAsync());
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("ready")).Status);
    }

    [Fact]
    public async Task Stopping_the_host_drains_and_ends_the_node()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t"));
        await hosted.Host.StartAsync().OrFail();
        var topic = hosted.Host.Services.GetRequiredService<ITopic<string>>();
        await topic.PublishAsync("x").OrFail();
        var parts = Assert.Single(hosted.Parts);
        var stopping = hosted.Host.StopAsync();
        while (!stopping.IsCompleted)
        {
            await parts.Core.RunAsync(parts.SenderOf("t").MakeStable).WaitAsync(TimeSpan.FromMilliseconds(100)).ContinueWith(_ => { });
        }

        await stopping;
        Assert.True(parts.Service.HasLeft);
        Assert.True(parts.IsStopped);
        Assert.DoesNotContain(hosted.Logs.Entries, entry => entry.Id == 1660);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => hosted.Nodes.GetAsync()).OrFail();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => topic.PublishAsync("x").AsTask()).OrFail();
    }

    [Fact]
    public async Task Stopping_the_host_before_the_node_has_started_is_no_trouble()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t")) { HoldsStarts = true };
        await hosted.Host.StartAsync().OrFail();
        var publish = hosted.Host.Services.GetRequiredService<ITopic<string>>().PublishAsync("x").AsTask();
        await hosted.Host.StopAsync().OrFail();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => publish).OrFail();
    }

    [Fact]
    public async Task Where_the_host_is_to_stop_when_its_node_is_expelled_it_stops_and_starts_no_other()
    {
        await using var hosted = new HostedNodes(builder => builder.Services
            .AddQuickSilver(HostedNodes.Settings(("Hosting:WhenExpelled", "StopHost")))
            .AddTopic<string>("t"));
        var stopping = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var stops = hosted.Host.Services.GetRequiredService<IHostApplicationLifetime>()
            .ApplicationStopping.Register(stopping.SetResult);
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        var first = hosted.Parts[0];
        await first.Core.RunAsync(() => first.Service.Observer!.OnExpelled("it was silent"));
        await hosted.Time.RunUntilAsync(first.Time.RunUntilAsync(stopping.Task));
        await hosted.Time.RunUntilAsync(first.Time.RunUntilAsync(hosted.Host.StopAsync()));
        Assert.Equal(1, hosted.Attempts);
        Assert.Contains(hosted.Logs.Entries, entry => entry.Id == 1708);
        Assert.DoesNotContain(hosted.Logs.Entries, entry => entry.Id == 1702);
    }

    [Fact]
    public async Task An_expelled_node_is_followed_by_another_with_the_topics_and_their_handlers()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t"));
        var topic = hosted.Host.Services.GetRequiredService<ITopic<string>>();
        var handled = new List<string>();
        var handler = topic.SubscribeInline((in Message<string> message) => handled.Add(message.Value));
        await hosted.Host.StartAsync().OrFail();
        await topic.WaitForSubscribersAsync(1).OrFail();
        var first = hosted.Parts[0];
        await first.Core.RunAsync(() => first.Service.Observer!.OnExpelled("it was silent"));
        await hosted.Time.RunUntilAsync(first.Time.RunUntilAsync(Patience.Until(() => first.IsStopped)));
        await hosted.Time.RunUntilAsync(Patience.Until(() => hosted.Parts.Length == 2));
        await hosted.Nodes.GetAsync().OrFail();
        await topic.WaitForSubscribersAsync(1).OrFail();
        var second = hosted.Parts[1];
        await second.Core.RunAsync(() => second.ReceiverOf("t").Deliver(1, "again"u8));
        Assert.Equal(["again"], handled);
        await topic.PublishAsync("and again").OrFail();
        await Patience.Until(() => second.SenderOf("t").Count == 1);
        Assert.Contains(hosted.Logs.Entries, entry => entry.Id == 1702);
        Assert.False(handler.HasEnded);
        await handler.DisposeAsync().OrFail();
        Assert.Equal(SubscriptionEndReason.Disposed, (await handler.Completion.OrFail()).Reason);
        await second.Core.RunAsync(() => second.ReceiverOf("t").Deliver(2, "not handled"u8));
        Assert.Equal(["again"], handled);
    }

    [Fact]
    public async Task A_feed_is_attached_to_each_node_in_turn_and_notified_of_each_end()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddPublisher<string>("t"));
        var feed = ScriptedFeed.Counting(messages: 3);
        using var attached = hosted.Host.Services.GetRequiredService<ITopicPublisher<string>>().AttachFeed(feed);
        await hosted.Host.StartAsync().OrFail();
        await Patience.Until(() => hosted.Parts.Length == 1 && feed.Asked == 1);
        var first = hosted.Parts[0];
        await first.Core.RunAsync(() => first.Service.Observer!.OnExpelled("it was silent"));
        await hosted.Time.RunUntilAsync(first.Time.RunUntilAsync(Patience.Until(() => first.IsStopped)));
        Assert.IsType<NodeExpelledException>(Assert.Single(feed.Ends));
        await hosted.Time.RunUntilAsync(Patience.Until(() => hosted.Parts.Length == 2));
        await Patience.Until(() => feed.Asked == 2);
        attached.Dispose();
        await Patience.Until(() => feed.Ends.Count == 2);
        Assert.Null(feed.Ends[1]);
    }

    [Fact]
    public async Task Liveness_and_readiness_are_distinguished()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver());
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        var parts = Assert.Single(hosted.Parts);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnServiceReachable(false));
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("live")).Status);
        Assert.Contains("unreachable", (await hosted.CheckAsync("ready")).Description);
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnServiceReachable(true));
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("ready")).Status);
        parts.Time.Advance(TimeSpan.FromSeconds(10));
        var live = await hosted.CheckAsync("live");
        Assert.Equal(HealthStatus.Unhealthy, live.Status);
        Assert.Contains("has not run for", live.Description);
        Assert.Equal(HealthStatus.Unhealthy, (await hosted.CheckAsync("ready")).Status);
    }

    [Fact]
    public async Task Handlers_that_were_there_before_the_node_each_get_what_came_while_the_topic_was_opened()
    {
        FakeParts? early = null;
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t"))
        {
            Prepare = parts =>
            {
                early = parts;
                parts.Service.HoldsAnswers = true;
            },
        };
        var topic = hosted.Host.Services.GetRequiredService<ITopic<string>>();
        var first = new List<string>();
        var second = new List<string>();
        using var a = topic.SubscribeInline((in Message<string> message) => first.Add(message.Value));
        using var b = topic.SubscribeInline((in Message<string> message) => second.Add(message.Value));
        await hosted.Host.StartAsync().OrFail();
        await Patience.Until(() => early is not null && early.Service.Answers.Count == 1);
        await early!.Core.RunAsync(() =>
        {
            early.Service.Answers.Dequeue()();
            early.ReceiverOf("t").Deliver(1, "at once"u8);
        });
        await topic.WaitForSubscribersAsync(1).OrFail();
        await early.Core.RunAsync(() => early.ReceiverOf("t").Deliver(2, "later"u8));
        Assert.Equal(["at once", "later"], first);
        Assert.Equal(["at once", "later"], second);
    }

    [Fact]
    public async Task The_host_stops_in_order_although_its_node_was_disposed()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver());
        await hosted.Host.StartAsync().OrFail();
        var node = await hosted.Nodes.GetAsync().OrFail();
        var parts = Assert.Single(hosted.Parts);
        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask());
        await hosted.Host.StopAsync().OrFail();
    }
}
