using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

public sealed class ThrowingLoggerTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_node_whose_logger_throws_continues_and_ends(bool throwsFromTheBeginning)
    {
        var logs = new ThrowingLogs { Throws = throwsFromTheBeginning };
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(logs: logs);
        var topic = await node.OpenTopicAsync<string>("logged").OrFail();
        logs.Throws = true;
        using var handler = topic.SubscribeInline((in Message<string> _) => throw new InvalidOperationException("to be logged"));
        await parts.Core.RunAsync(() => Assert.True(parts.ReceiverOf("logged").Deliver(1, "x"u8)));
        await parts.Core.RunAsync(() => Assert.True(parts.ReceiverOf("logged").Deliver(2, "x"u8)));
        Assert.Equal(2, node.GetCounters().HandlerFaults);
        Assert.Equal(throwsFromTheBeginning ? 3 : 2, node.Read(NodeFigures.LogFaults));

        var sender = parts.SenderOf("logged");
        sender.Stabilizes = true;
        await topic.PublishAsync("still sent").OrFail();
        await Patience.Until(() => sender.Count == 1);
        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask()).OrFail();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_node_of_the_machine_whose_logger_throws_hosts_its_cluster_until_it_is_disposed(bool throwsFromTheBeginning)
    {
        var logs = new ThrowingLogs { Throws = throwsFromTheBeginning };
        var options = new QuickSilverOptions { Cluster = $"throwing {Guid.NewGuid():N}" };
        var host = await QuickSilverNode.StartAsync(options, logs).OrFail();
        logs.Throws = true;
        await using (var guest = await QuickSilverNode.StartAsync(options, logs).OrFail())
        {
            await using var sent = await guest.OpenTopicAsync<string>("logged").OrFail();
            await using var received = await host.OpenTopicAsync<string>("logged").OrFail();
            await sent.WaitForSubscribersAsync(2).OrFail();
            await sent.PublishAsync("still sent", PublishCompletion.Stable).OrFail();
        }

        await Patience.Until(() => host.Read(NodeFigures.LogFaults) > 0);
        Assert.True(host.Status.IsLive);
        await host.DisposeAsync().OrFail();
    }
}
