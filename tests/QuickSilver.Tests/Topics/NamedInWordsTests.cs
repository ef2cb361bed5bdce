using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Topics;

// What is printed of a node has its name, which is for people: it is no part of what is compared.
public sealed class NamedInWordsTests
{
    private const string Name = "read";
    private const string Node = "prices@here";

    private readonly InMemoryNetwork _network = new();

    public enum Way
    {
        Handler,
        Consumer,
        Reader,
    }

    [Theory]
    [InlineData(Way.Handler)]
    [InlineData(Way.Consumer)]
    [InlineData(Way.Reader)]
    public async Task A_gap_names_its_sender(Way way)
    {
        await using var node = await _network.StartNodeAsync(new QuickSilverOptions { Name = Node }).OrFail();
        await using var topic = await node.OpenTopicAsync<string>(Name, new TopicOptions { ReaderCapacity = 1 }).OrFail();
        for (int i = 0; i < 4; i++)
        {
            await topic.PublishAsync($"{i}", PublishCompletion.Stable).OrFail();
        }

        var gap = await FirstGapAsync(topic, way).OrFail();

        Assert.Equal(3, gap.Count);
        Assert.StartsWith($"messages 1 to 3 of {Node} ({node.Id}): ", gap.ToString(), StringComparison.Ordinal);
        var same = new GapNotice(node.Id, 1, 3, GapReason.ReaderFull);
        Assert.StartsWith($"messages 1 to 3 of {node.Id}: ", same.ToString(), StringComparison.Ordinal);
        Assert.True(gap == same);
        Assert.Equal(same.GetHashCode(), gap.GetHashCode());
        Assert.NotEqual(same with { Last = 4 }, gap);
    }

    [Fact]
    public async Task A_change_of_subscribers_names_its_node()
    {
        await using var node = await _network.StartNodeAsync(new QuickSilverOptions { Name = Node }).OrFail();
        await using var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        await topic.WaitForSubscribersAsync(1).OrFail();
        await using var changes = topic.WatchSubscribersAsync().GetAsyncEnumerator();

        Assert.True(await changes.MoveNextAsync().OrFail());

        Assert.Equal($"{Node} ({node.Id}): Present", changes.Current.ToString());
        var same = new SubscriberChange(node.Id, IsJoined: true, SubscriberChangeReason.Present);
        Assert.True(changes.Current == same);
        Assert.Equal(same.GetHashCode(), changes.Current.GetHashCode());
        Assert.NotEqual(same with { IsJoined = false }, changes.Current);
    }

    [Fact]
    public async Task A_reply_names_its_responder()
    {
        await using var node = await _network.StartNodeAsync(new QuickSilverOptions { Name = Node }).OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>(Name, static (request, _) => new(request.Value)).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>(Name).OrFail();

        var reply = Assert.Single(await requester.AskAllAsync("x").OrFail());

        Assert.Equal($"{Node} ({node.Id}): x", reply.ToString());
        var same = new Reply<string>(node.Id, "x", null);
        Assert.True(reply == same);
        Assert.Equal(same.GetHashCode(), reply.GetHashCode());
        Assert.NotEqual(same with { Value = "y" }, reply);
    }

    private static async Task<GapNotice> FirstGapAsync(ITopic<string> topic, Way way)
    {
        var first = new TaskCompletionSource<GapNotice>();
        switch (way)
        {
            case Way.Handler:
                using (topic.SubscribeInline(static (in Message<string> _) => { }, gap => first.TrySetResult(gap)))
                {
                    return await first.Task.OrFail();
                }

            case Way.Consumer:
                var options = new ConsumerOptions<string> { OnGap = gap => first.TrySetResult(gap) };
                await using (topic.Subscribe(static (_, _) => default, options))
                {
                    return await first.Task.OrFail();
                }

            default:
                await using (var reader = topic.ReadAllAsync(gap => first.TrySetResult(gap)).GetAsyncEnumerator())
                {
                    Assert.True(await reader.MoveNextAsync().OrFail());
                    return await first.Task.OrFail();
                }
        }
    }
}
