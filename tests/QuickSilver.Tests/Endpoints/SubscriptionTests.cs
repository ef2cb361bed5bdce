using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints;

// What all ways to receive have in common.
public sealed class SubscriptionTests
{
    private const string Name = "t";

    [Fact]
    public async Task Every_way_to_receive_ends_with_its_node_and_has_the_reason()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        ISubscription[] all =
        [
            topic.SubscribeInline((in Message<string> _) => { }),
            topic.Subscribe(static (_, _) => default),
            await node.OpenPrefixAsync<string>("prices/", static (_, _, _) => default).OrFail(),
            await node.OpenResponderAsync<string, string>("stock", static (request, _) => new(request.Value)).OrFail(),
            await node.OpenResponderAsync<string, string>(
                "inline", static (request, _) => new(request.Value), new ResponderOptions { Inline = true }).OrFail(),
        ];
        Assert.All(all, static one => Assert.False(one.HasEnded));
        await node.DisposeAsync().OrFail();
        foreach (var one in all)
        {
            var end = await one.Completion.OrFail();
            Assert.Contains(end.Reason, (SubscriptionEndReason[])[SubscriptionEndReason.Disposed, SubscriptionEndReason.NodeStopped]);
            Assert.True(one.HasEnded);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Every_way_to_receive_ends_when_it_is_disposed(bool isAsync)
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        ISubscription[] all =
        [
            topic.SubscribeInline((in Message<string> _) => { }),
            topic.Subscribe(static (_, _) => default),
            await node.OpenPrefixAsync<string>("prices/", static (_, _, _) => default).OrFail(),
            await node.OpenResponderAsync<string, string>("stock", static (request, _) => new(request.Value)).OrFail(),
        ];
        foreach (var one in all)
        {
            if (isAsync)
            {
                await one.DisposeAsync().OrFail();
                Assert.True(one.HasEnded);
            }
            else
            {
                one.Dispose();
            }

            Assert.Equal(new SubscriptionEnd(SubscriptionEndReason.Disposed, null), await one.Completion.OrFail());
        }
    }

    [Fact]
    public async Task A_handler_that_is_disposed_while_it_runs_has_ended_when_it_has_returned()
    {
        await using var parts = new FakeParts();
        using var release = new ManualResetEventSlim();
        using var runs = new ManualResetEventSlim();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        var handler = topic.SubscribeInline((in Message<string> _) =>
        {
            runs.Set();
            release.Wait();
        });
        var handling = parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        await Patience.Until(() => runs.IsSet);
        handler.Dispose();
        var disposing = handler.DisposeAsync().AsTask();
        Assert.False(handler.HasEnded);
        Assert.False(disposing.IsCompleted);
        release.Set();
        await handling.OrFail();
        await disposing.OrFail();
        Assert.Equal(SubscriptionEndReason.Disposed, (await handler.Completion.OrFail()).Reason);
    }

    [Fact]
    public async Task The_end_of_a_handler_comes_after_its_callback_and_stays_after_it_is_disposed()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        var ends = new List<SubscriptionEnd>();
        var awaited = topic.SubscribeInline((in Message<string> _) => { }, onEnded: ends.Add);
        var asked = topic.SubscribeInline((in Message<string> _) => { }, onEnded: ends.Add);
        var completion = awaited.Completion;
        topic.Cancel();
        var end = await completion.OrFail();
        Assert.Equal(SubscriptionEndReason.Cancelled, end.Reason);
        await parts.Core.RunAsync(() => { });
        Assert.Equal([end, end], ends);
        await asked.DisposeAsync().OrFail();
        Assert.Equal(end, await asked.Completion.OrFail());
    }

    [Fact]
    public async Task A_handler_whose_end_is_asked_for_after_its_node_has_ended_has_ended()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        var handler = topic.SubscribeInline((in Message<string> _) => { });
        handler.Dispose();
        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask());
        await handler.DisposeAsync().OrFail();
        Assert.Equal(SubscriptionEndReason.Disposed, (await handler.Completion.OrFail()).Reason);
    }
}
