using Microsoft.Extensions.DependencyInjection;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Health;

// The reasons that only a host has, as its check gives them.
internal static class HostReasons
{
    public static async Task<StatusReason> StartFailedAsync()
    {
        await using var hosted = new HostedNodes(static builder => builder.Services.AddQuickSilver())
        {
            StartFault = static _ => new MembershipUnreachableException("No service there."),
        };
        await hosted.Host.StartAsync().OrFail();
        await Patience.Until(() => hosted.Logs.Entries.Any(static entry => entry.Id == 1700));
        return await ReasonAsync(hosted, StatusReasonKind.StartFailed);
    }

    public static async Task<StatusReason> TooFewMembersAsync()
    {
        await using var hosted = new HostedNodes(
            static builder => builder.Services.AddQuickSilver().ConfigureHosting(options => options.ReadyWhenMembers = 3))
        {
            Prepare = static parts => parts.Members = 1,
        };
        await StartAsync(hosted);
        return await ReasonAsync(hosted, StatusReasonKind.TooFewMembers);
    }

    public static async Task<StatusReason> TopicNotOpenAsync()
    {
        await using var hosted = new HostedNodes(static builder => builder.Services.AddQuickSilver().AddTopic<string>("orders"))
        {
            Prepare = static parts =>
                parts.Service.Refuse = static request => $"Topic '{request.Name}' carries int; this endpoint has text.",
        };
        await StartAsync(hosted);
        await Patience.Until(() => hosted.Logs.Entries.Any(static entry => entry.Id == 1701));
        return await ReasonAsync(hosted, StatusReasonKind.TopicNotOpen);
    }

    public static async Task<StatusReason> ConsumerFailedAsync()
    {
        await using var hosted = new HostedNodes(static builder => builder.Services.AddQuickSilver().AddTopic<string>("orders"));
        await hosted.Host.StartAsync().OrFail();
        var topic = hosted.Host.Services.GetRequiredService<ITopic<string>>();
        var consumption = topic.Subscribe(
            static (_, _) => throw new FormatException("No number."), new ConsumerOptions<string> { OnError = ConsumerErrors.Stop });
        await hosted.Nodes.GetAsync().OrFail();
        await topic.PublishAsync("x").OrFail();
        await hosted.Parts[0].Core.RunAsync(() => hosted.Parts[0].ReceiverOf("orders").Deliver(1, "x"u8));
        await consumption.Completion.OrFail();
        return await ReasonAsync(hosted, StatusReasonKind.ConsumerFailed);
    }

    private static async Task StartAsync(HostedNodes hosted)
    {
        await hosted.Host.StartAsync().OrFail();
        await hosted.Nodes.GetAsync().OrFail();
    }

    private static async Task<StatusReason> ReasonAsync(HostedNodes hosted, StatusReasonKind kind) =>
        Assert.IsType<StatusReason>((await hosted.CheckAsync("ready")).Data[kind.ToString()]);
}
