using System.Threading.Channels;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.InMemory;

public sealed class InMemoryNetworkTests
{
    private readonly InMemoryNetwork _network = new();

    [Fact]
    public async Task A_message_reaches_each_subscriber_once_with_its_sender_number_and_headers()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        Assert.NotEqual(first.Id, second.Id);
        await using var here = await first.OpenTopicAsync<string>("t").OrFail();
        await using var there = await second.OpenSubscriberAsync<string>("t").OrFail();
        await here.WaitForSubscribersAsync(2).OrFail();
        await here.PublishAsync("a", new MessageHeaders { CorrelationId = "7" }, PublishCompletion.Stable).OrFail();
        await here.PublishAsync("b").OrFail();
        foreach (var topic in new ITopicSubscriber<string>[] { here, there })
        {
            await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
            Assert.True(await reader.MoveNextAsync().OrFail());
            Assert.Equal(("a", first.Id, 1L, "7"), (reader.Current.Value, reader.Current.Sender, reader.Current.Sequence,
                reader.Current.Headers?.CorrelationId));
            Assert.True(await reader.MoveNextAsync().OrFail());
            Assert.Equal(("b", 2L), (reader.Current.Value, reader.Current.Sequence));
        }

        Assert.Equal((2, 2, true), (first.Status.Members, second.Status.Members, first.Status.IsReady));
    }

    [Fact]
    public async Task Nodes_have_names_which_others_know_while_they_are_there_and_for_a_time_after()
    {
        await using var first = await _network.StartNodeAsync(new QuickSilverOptions { Name = "orders" }).OrFail();
        var second = await _network.StartNodeAsync().OrFail();
        Assert.Equal(("orders", "orders"), (first.Name, second.NameOf(first.Id)));
        Assert.EndsWith($"@{Environment.MachineName}", second.Name);
        Assert.Equal((second.Name, second.Name), (first.NameOf(second.Id), second.Status.Name));
        await second.DisposeAsync();
        await Patience.Until(() => first.Status.Members == 1);
        Assert.Equal(second.Name, first.NameOf(second.Id));
        Assert.Equal("000000000000abcd.7", first.NameOf(new NodeId(0xABCD, 7)));
    }

    [Fact]
    public async Task Subscribers_are_nodes_and_not_endpoints()
    {
        await using var node = await _network.StartNodeAsync().OrFail();
        await using var topic = await node.OpenTopicAsync<string>("t").OrFail();
        await using var other = await node.OpenSubscriberAsync<string>("t").OrFail();
        await topic.WaitForSubscribersAsync(1).OrFail();
        Assert.Equal(1, topic.Subscribers);
        Assert.False(topic.WaitForSubscribersAsync(2).IsCompleted);
    }

    [Fact]
    public async Task A_reader_that_takes_nothing_keeps_publishers_waiting_and_loses_nothing()
    {
        const int Messages = 50_000;
        var options = new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } };
        await using var first = await _network.StartNodeAsync(options).OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        await using var sent = await first.OpenPublisherAsync<byte[]>("t").OrFail();
        await using var received = await second.OpenSubscriberAsync<byte[]>("t", new TopicOptions { ReaderCapacity = 100 }).OrFail();
        await sent.WaitForSubscribersAsync(1).OrFail();
        await using var reader = received.ReadAllAsync().GetAsyncEnumerator();
        var publishing = PublishAsync();
        await Patience.Until(() => first.Read(NodeFigures.PublishWaits) > 0);
        Assert.False(publishing.IsCompleted);
        for (int i = 0; i < Messages; i++)
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
            Assert.Equal(i, BitConverter.ToInt32(reader.Current.Value));
        }

        await publishing.OrFail();

        async Task PublishAsync()
        {
            for (int i = 0; i < Messages; i++)
            {
                await sent.PublishAsync(BitConverter.GetBytes(i));
            }
        }
    }

    [Fact]
    public async Task Requests_and_states_work_among_the_nodes()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        await using var responder = await first.OpenResponderAsync<string, string>(
            "r", static (request, _) => new(request.Value + "!")).OrFail();
        await using var requester = await second.OpenRequesterAsync<string, string>("r").OrFail();
        Assert.Equal("a!", await requester.AskAsync("a").OrFail());
        await using var here = await first.OpenStateAsync<string, string>("s").OrFail();
        await here.SetAsync("k", "1").OrFail();
        await using var there = await second.OpenStateAsync<string, string>("s").OrFail();
        Assert.True(there.TryGet("k", out string? value));
        Assert.Equal("1", value);
    }

    [Fact]
    public async Task Subscribers_that_come_and_leave_are_reported()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        var second = await _network.StartNodeAsync().OrFail();
        await using var sent = await first.OpenPublisherAsync<string>("t").OrFail();
        await second.OpenSubscriberAsync<string>("t").OrFail();
        await using var changes = sent.WatchSubscribersAsync().GetAsyncEnumerator();
        Assert.True(await changes.MoveNextAsync().OrFail());
        Assert.Equal(second.Id, changes.Current.Node);
        await second.DisposeAsync();
        Assert.True(await changes.MoveNextAsync().OrFail());
        Assert.Equal((second.Id, false), (changes.Current.Node, changes.Current.IsJoined));
        Assert.Equal(0, sent.Subscribers);
    }

    [Fact]
    public async Task Topics_that_begin_alike_are_subscribed_as_they_come()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        await using var present = await first.OpenPublisherAsync<string>("prices/UAL").OrFail();
        await using var other = await first.OpenPublisherAsync<string>("orders/UAL").OrFail();
        var taken = Channel.CreateUnbounded<string>();
        await using var prices = await second.OpenPrefixAsync<string>(
            "prices/", (topic, message, _) => taken.Writer.WriteAsync($"{topic} {message.Value}")).OrFail();
        await using var coming = await first.OpenPublisherAsync<string>("prices/DAL").OrFail();
        foreach (var publisher in new[] { present, coming })
        {
            await publisher.WaitForSubscribersAsync(1).OrFail();
            await publisher.PublishAsync("1").OrFail();
            Assert.Equal($"{publisher.Name} 1", await taken.Reader.ReadAsync().AsTask().OrFail());
        }

        Assert.Equal(["prices/UAL", "prices/DAL"], prices.Topics.Select(static topic => topic.Name));
    }

    [Fact]
    public async Task A_prefix_that_ends_while_a_topic_is_being_opened_handles_what_came_of_it()
    {
        await using var publishing = await _network.StartNodeAsync().OrFail();
        await using var subscribing = await _network.StartNodeAsync().OrFail();
        for (int round = 0; round < 100; round++)
        {
            int handled = 0;
            await using var prefix = await subscribing.OpenPrefixAsync<string>("prices/", (_, _, _) =>
            {
                Interlocked.Increment(ref handled);
                return ValueTask.CompletedTask;
            }).OrFail();
            await using var topic = await publishing.OpenPublisherAsync<string>($"prices/{round}").OrFail();
            await topic.WaitForSubscribersAsync(1).OrFail();
            await topic.PublishAsync("1", PublishCompletion.Stable).OrFail();
            await prefix.DisposeAsync().OrFail();
            await prefix.Completion.OrFail();
            Assert.Equal(1, handled);
        }
    }

    [Fact]
    public async Task Contracts_are_checked_and_forgotten_with_the_last_endpoint()
    {
        await using var first = await _network.StartNodeAsync().OrFail();
        await using var second = await _network.StartNodeAsync().OrFail();
        var topic = await first.OpenTopicAsync<string>("t").OrFail();
        await Assert.ThrowsAsync<ContractMismatchException>(() => second.OpenTopicAsync<byte[]>("t")).OrFail();
        await topic.DisposeAsync();
        await using var other = await second.OpenTopicAsync<byte[]>("t").OrFail();
    }

    [Fact]
    public async Task Clusters_and_networks_do_not_meet()
    {
        await using var first = await _network.StartNodeAsync(new QuickSilverOptions { Cluster = "a" }).OrFail();
        await using var second = await _network.StartNodeAsync(new QuickSilverOptions { Cluster = "b" }).OrFail();
        await using var third = await new InMemoryNetwork().StartNodeAsync(new QuickSilverOptions { Cluster = "a" }).OrFail();
        Assert.Equal((1, 1, 1), (first.Status.Members, second.Status.Members, third.Status.Members));
        await Assert.ThrowsAsync<QuickSilverOptionsException>(() => _network.StartNodeAsync(new QuickSilverOptions { PacketBytes = 1 }));
    }
}
