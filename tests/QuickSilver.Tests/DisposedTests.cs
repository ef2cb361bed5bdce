using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests;

// Calls after the end say what was disposed and what to open instead.
public sealed class DisposedTests
{
    private readonly InMemoryNetwork _network = new();

    [Fact]
    public async Task A_disposed_endpoint_names_its_topic_and_says_to_open_it_again()
    {
        await using var node = await _network.StartNodeAsync().OrFail();
        var topic = await node.OpenTopicAsync<string>("prices").OrFail();
        await topic.DisposeAsync().OrFail();
        Action[] calls =
        [
            () => topic.PublishAsync("x"),
            () => topic.PublishAsync("x", PublishCompletion.Stable),
            () => topic.ReadAllAsync(),
            () => topic.Subscribe(static (_, _) => default),
            () => topic.SubscribeInline((in Message<string> _) => { }),
            () => topic.AttachFeed((out string value) => (value = "") is null),
            () => topic.DrainAsync(),
        ];
        Assert.All(calls, call => Assert.StartsWith(
            "This endpoint of the topic \"prices\" was disposed, by itself or with its node. Open the topic again with OpenTopicAsync, ",
            Assert.Throws<ObjectDisposedException>(call).Message));
    }

    [Fact]
    public async Task A_disposed_requester_and_a_disposed_state_say_which_and_what_to_open()
    {
        await using var node = await _network.StartNodeAsync().OrFail();
        var requester = await node.OpenRequesterAsync<string, string>("stock").OrFail();
        var state = await node.OpenStateAsync<string, string>("prices").OrFail();
        await requester.DisposeAsync().OrFail();
        await state.DisposeAsync().OrFail();
        var asked = await Assert.ThrowsAsync<ObjectDisposedException>(() => requester.AskAsync("x")).OrFail();
        Assert.StartsWith("The requester of \"stock\" was disposed. Open it again with OpenRequesterAsync.", asked.Message);
        var set = await Assert.ThrowsAsync<ObjectDisposedException>(async () => await state.SetAsync("x", "y")).OrFail();
        Assert.StartsWith("The state \"prices\" was disposed. Open it again with OpenStateAsync.", set.Message);
    }

    [Fact]
    public async Task A_disposed_node_says_to_start_a_new_one()
    {
        var node = await _network.StartNodeAsync().OrFail();
        await node.DisposeAsync().OrFail();
        Func<Task>[] calls =
        [
            () => node.OpenTopicAsync<string>("late"),
            () => node.OpenPrefixAsync<string>("late/", static (_, _, _) => default),
            () => node.OpenRequesterAsync<string, string>("late"),
            () => node.OpenStateAsync<string, string>("late"),
            () => node.DrainAsync(),
            () => Task.FromResult(node.ReadAllAsync<string>("late")),
        ];
        foreach (var call in calls)
        {
            var disposed = await Assert.ThrowsAsync<ObjectDisposedException>(call).OrFail();
            Assert.StartsWith("The node was disposed. Start a new node with QuickSilverNode.StartAsync, ", disposed.Message);
        }
    }
}
