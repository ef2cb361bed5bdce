using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using QuickSilver;
using QuickSilver.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace StopNode;

internal static class HostedPublisher
{
    public static async Task RunAsync(Settings settings)
    {
        var builder = Host.CreateApplicationBuilder();
        builder.Services.AddSingleton<ILoggerFactory>(settings.Logs);
        builder.Services.AddQuickSilver(settings.Set).AddPublisher<string>(Settings.Topic);
        builder.Services.Configure<QuickSilverHostingOptions>(options => options.DrainLimit = settings.Limit);
        using var host = builder.Build();
        await host.StartAsync();
        var node = await host.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync();
        long accepted = await Publication.PublishAsync(
            host.Services.GetRequiredService<ITopicPublisher<string>>(), settings.Number);
        await host.WaitForShutdownAsync();
        Publication.Report(accepted, node.GetCounters(), isStable: false);
    }
}

internal static class BarePublisher
{
    public static async Task RunAsync(Settings settings)
    {
        var node = await settings.StartAsync();
        var publisher = await node.OpenPublisherAsync<string>(Settings.Topic);
        long accepted = await Publication.PublishAsync(publisher, settings.Number);
        string? verb = await Console.In.ReadLineAsync();
        bool isStable = verb == "drain" && await DrainWithin.LimitAsync(settings.Limit, publisher.DrainAsync);
        if (verb == "cancel")
        {
            publisher.Cancel();
        }

        if (verb != "node")
        {
            await publisher.DisposeAsync();
        }

        await node.DisposeAsync();
        Publication.Report(accepted, node.GetCounters(), isStable);
    }
}

internal static class Publication
{
    public static async Task<long> PublishAsync(ITopicPublisher<string> publisher, int messages)
    {
        await publisher.WaitForSubscribersAsync(1);
        for (int i = 1; i <= messages; i++)
        {
            await publisher.PublishAsync(i.ToString(CultureInfo.InvariantCulture));
        }

        Console.Error.WriteLine("ready");
        return messages;
    }

    public static void Report(long accepted, NodeCounters counters, bool isStable) => Console.Out.WriteLine(string.Create(
        CultureInfo.InvariantCulture,
        $"accepted {accepted} sent {counters.Published} dropped {counters.PublishDrops} unacknowledged {counters.Unacknowledged} "
        + $"stable {(isStable ? 1 : 0)}"));
}
