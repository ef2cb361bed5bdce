using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Nodes.Measures;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Health;

public sealed class HealthReasonTests
{
    [Fact]
    public async Task A_node_is_ready_when_its_cluster_has_the_members_that_the_host_requires()
    {
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver().ConfigureHosting(options => options.ReadyWhenMembers = 3))
        {
            Prepare = static parts => parts.Members = 1,
        };
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        var ready = await hosted.CheckAsync("ready");
        Assert.Equal(HealthStatus.Unhealthy, ready.Status);
        Assert.StartsWith(
            "The cluster has 1 member, and the host requires 3. Waiting for 2 more members since ", ready.Description);
        var reason = Assert.IsType<StatusReason>(ready.Data["TooFewMembers"]);
        Assert.Equal("2 more members", reason.WaitsFor);
        Assert.Equal(1, ready.Data["Members"]);
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("live")).Status);
        Assert.Single(hosted.Parts).Members = 3;
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("ready")).Status);
    }

    [Fact]
    public async Task A_start_that_fails_is_a_reason_with_its_time_and_one_line_without_a_stack_trace()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver())
        {
            StartFault = static attempt =>
                attempt == 1 ? new MembershipUnreachableException("No service there.") : new InvalidCastException("A defect."),
        };
        var before = DateTimeOffset.UtcNow;
        await hosted.Host.StartAsync().OrFail();
        await Patience.Until(() => hosted.Logs.Entries.Any(static entry => entry.Id == 1700));
        var line = Assert.Single(hosted.Logs.Entries, static entry => entry.Id == 1700);
        Assert.Equal(("The node failed to start and is started again in 1 s. No service there.", null), (line.Text, line.Exception));
        var reason = Assert.IsType<StatusReason>((await hosted.CheckAsync("ready")).Data["StartFailed"]);
        Assert.EndsWith("failed: No service there.", reason.Description);
        Assert.InRange(reason.Since, before, DateTimeOffset.UtcNow);

        // An unexpected exception is logged with its stack.
        hosted.Time.Advance(TimeSpan.FromSeconds(1));
        await Patience.Until(() => hosted.Logs.Entries.Any(static entry => entry.Id == 1706));
        Assert.IsType<InvalidCastException>(Assert.Single(hosted.Logs.Entries, static entry => entry.Id == 1706).Exception);
    }

    [Fact]
    public async Task Topics_that_are_refused_are_reasons_of_their_own_and_one_line_each()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("a").AddTopic<byte[]>("b"))
        {
            Prepare = static parts =>
                parts.Service.Refuse = static request => $"Topic '{request.Name}' carries int; this endpoint has text.",
        };
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        await Patience.Until(() => hosted.Logs.Entries.Count(static entry => entry.Id == 1701) == 2);
        var ready = await hosted.CheckAsync("ready");
        Assert.Equal(HealthStatus.Unhealthy, ready.Status);
        string[] said =
        [
            .. new[] { "TopicNotOpen", "TopicNotOpen2" }.Select(key => Assert.IsType<StatusReason>(ready.Data[key]).Description),
        ];
        Assert.StartsWith("Failed to open topic \"a\": Topic 'a' carries int; this endpoint has text. Make the types and options", said[0]);
        Assert.StartsWith("Failed to open topic \"b\": Topic 'b' carries int; this endpoint has text. Make the types and options", said[1]);
        Assert.All(hosted.Logs.Entries.Where(static entry => entry.Id == 1701), static entry => Assert.Null(entry.Exception));
    }

    [Fact]
    public async Task A_consumer_that_failed_is_a_reason_with_its_time()
    {
        var before = DateTimeOffset.UtcNow;
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddTopic<string>("t"));
        await hosted.Host.StartAsync().OrFail();
        var topic = hosted.Host.Services.GetRequiredService<ITopic<string>>();
        var consumption = topic.Subscribe(
            static (_, _) => throw new FormatException("No number."), new ConsumerOptions<string> { OnError = ConsumerErrors.Stop });
        await hosted.Nodes.GetAsync().OrFail();
        await topic.PublishAsync("x").OrFail();
        await hosted.Parts[0].Core.RunAsync(() => hosted.Parts[0].ReceiverOf("t").Deliver(1, "x"u8));
        await consumption.Completion.OrFail();
        var ready = await hosted.CheckAsync("ready");
        var reason = Assert.IsType<StatusReason>(ready.Data["ConsumerFailed"]);
        Assert.Contains("of topic \"t\" (System.String) has stopped: The consumer of the topic \"t\"", reason.Description);
        Assert.InRange(reason.Since, before, DateTimeOffset.UtcNow);
    }

    [Fact]
    public async Task A_ready_node_with_a_problem_is_healthy_and_its_data_names_it()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver());
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
        Assert.Null((await hosted.CheckAsync("ready")).Description);
        hosted.Parts[0].Troubles = [new Trouble(TroubleKind.NotHeard, "Two nodes do not hear this one.", DateTimeOffset.UnixEpoch)];
        var ready = await hosted.CheckAsync("ready");
        Assert.Equal(HealthStatus.Healthy, ready.Status);
        Assert.Equal(StatusReasons.RemedyFor(StatusReasonKind.NotHeard), Assert.IsType<StatusReason>(ready.Data["NotHeard"]).Remedy);
        Assert.StartsWith("Two nodes do not hear this one. Since 1970-01-01", ready.Description);
    }
}
