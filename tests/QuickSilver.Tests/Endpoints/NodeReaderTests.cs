using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints;

public sealed class NodeReaderTests
{
    private const string Name = "read";
    private readonly InMemoryNetwork _network = new();

    [Fact]
    public async Task The_topic_is_open_while_it_is_read_and_closed_when_the_loop_is_left()
    {
        await using var publisher = await _network.StartNodeAsync().OrFail();
        await using var node = await _network.StartNodeAsync().OrFail();
        await using var topic = await publisher.OpenPublisherAsync<string>(Name).OrFail();
        var stream = node.ReadAllAsync<string>(Name);
        Assert.Equal(0, node.Status.OpenTopics);

        var read = FirstAsync(stream, 2);
        await topic.WaitForSubscribersAsync(1).OrFail();
        Assert.Equal(1, node.Status.OpenTopics);
        await topic.PublishAsync("a").OrFail();
        await topic.PublishAsync("b").OrFail();

        Assert.Equal(["a", "b"], await read.OrFail());
        Assert.Equal(0, node.Status.OpenTopics);
        await Patience.Until(() => topic.Subscribers == 0);
    }

    [Fact]
    public async Task Each_enumeration_has_an_endpoint_of_its_own()
    {
        await using var node = await _network.StartNodeAsync().OrFail();
        await using var topic = await node.OpenPublisherAsync<string>(Name).OrFail();
        var stream = node.ReadAllAsync<string>(Name);
        var first = FirstAsync(stream, 1);
        var second = FirstAsync(stream, 1);
        await PublishUntilAsync(topic, "a", Task.WhenAll(first, second));
        Assert.Equal(["a", "a"], [.. await first, .. await second]);

        // An "a" may still be on its way.
        var third = FirstAsync(stream.Where(message => message.Value == "b"), 1);
        await PublishUntilAsync(topic, "b", third);
        Assert.Equal(["b"], await third);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task The_token_of_the_call_and_that_of_the_enumeration_end_it_and_close_the_topic(bool isOfTheCall)
    {
        await using var node = await _network.StartNodeAsync().OrFail();
        using var stop = new CancellationTokenSource();
        var stream = isOfTheCall ? node.ReadAllAsync<string>(Name, stop.Token) : node.ReadAllAsync<string>(Name);
        await using var reader = stream.GetAsyncEnumerator(isOfTheCall ? default : stop.Token);
        var next = reader.MoveNextAsync().AsTask();
        await Patience.Until(() => node.Status.OpenTopics == 1);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => next).OrFail();
        // An opening that is cancelled is taken back by the core thread.
        await Patience.Until(() => node.Status.OpenTopics == 0);
    }

    [Fact]
    public async Task Options_and_the_handler_of_gaps_are_those_of_the_endpoint()
    {
        await using var node = await _network.StartNodeAsync().OrFail();
        await using var topic = await node.OpenPublisherAsync<string>(Name).OrFail();
        var gaps = new List<GapNotice>();
        var options = new TopicOptions { ReaderCapacity = 16, SlowReader = SlowReaderPolicy.DropOldest };
        await using var reader = node.ReadAllAsync<string>(Name, options, gaps.Add).GetAsyncEnumerator();
        var first = reader.MoveNextAsync();
        await topic.WaitForSubscribersAsync(1).OrFail();
        await topic.PublishAsync("0", PublishCompletion.Stable).OrFail();
        Assert.True(await first.OrFail());
        for (int i = 1; i <= 100; i++)
        {
            await topic.PublishAsync($"{i}", PublishCompletion.Stable).OrFail();
        }

        string last = "";
        int read = 0;
        while (last != "100")
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
            last = reader.Current.Value;
            read++;
        }

        Assert.InRange(read, 1, 16);
        Assert.Equal(100 - read, gaps.Sum(gap => gap.Count));
        Assert.All(gaps, gap => Assert.Equal(GapReason.ReaderFull, gap.Reason));
    }

    [Fact]
    public async Task Wrong_arguments_are_thrown_by_the_call_and_refusals_of_the_cluster_by_the_enumeration()
    {
        var node = await _network.StartNodeAsync().OrFail();
        Assert.Throws<ArgumentException>(() => node.ReadAllAsync<string>("prices/*"));
        Assert.Throws<QuickSilverOptionsException>(() => node.ReadAllAsync<string>(Name, new TopicOptions { ReaderCapacity = -1 }));
#pragma warning disable QS0012 // The point.
        Assert.Throws<NotSupportedException>(() => node.ReadAllAsync<Version>(Name));
#pragma warning restore QS0012
        await using (await node.OpenPublisherAsync<byte[]>(Name).OrFail())
        {
            await Assert.ThrowsAsync<ContractMismatchException>(() => FirstAsync(node.ReadAllAsync<string>(Name), 1)).OrFail();
        }

        await node.DisposeAsync().OrFail();
        Assert.Throws<ObjectDisposedException>(() => node.ReadAllAsync<string>(Name));
    }

    private static async Task PublishUntilAsync(ITopicPublisher<string> topic, string value, Task done)
    {
        await Patience.Until(() =>
        {
            Assert.True(topic.PublishAsync(value).IsCompletedSuccessfully);
            return done.IsCompleted;
        });
        await done;
    }

    private static async Task<List<string>> FirstAsync(IAsyncEnumerable<Message<string>> stream, int count)
    {
        var values = new List<string>();
        await foreach (var message in stream)
        {
            values.Add(message.Value);
            if (values.Count == count)
            {
                break;
            }
        }

        return values;
    }
}
