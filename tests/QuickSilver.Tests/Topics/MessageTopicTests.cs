using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Topics;

public sealed class MessageTopicTests
{
    private static readonly NodeId Sender = new(7, 1);

    [Fact]
    public async Task A_message_knows_its_topic_in_a_handler_a_reader_and_a_consumer_with_and_without_headers()
    {
        var network = new InMemoryNetwork();
        await using var node = await network.StartNodeAsync(new QuickSilverOptions(), NullLoggerFactory.Instance).OrFail();
        await using var texts = await node.OpenTopicAsync<string>("texts").OrFail();
        await using var bytes = await node.OpenTopicAsync<ReadOnlyMemory<byte>>("bytes").OrFail();
        await using var read = await node.OpenSubscriberAsync<ReadOnlyMemory<byte>>("bytes").OrFail();
        await using var consumed = await node.OpenSubscriberAsync<string>("texts").OrFail();
        var seen = new List<(string Topic, string? Correlation)>();
        texts.SubscribeInline((in Message<string> message) => Note(message.Topic, message.Headers));
        bytes.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) => Note(message.Topic, message.Headers));
        await using var consumption = consumed.Subscribe((message, _) =>
        {
            Note(message.Topic, message.Headers);
            return default;
        });
        await using var reader = read.ReadAllAsync().GetAsyncEnumerator();
        foreach (var headers in new[] { null, new MessageHeaders { CorrelationId = "c" } })
        {
            await texts.PublishAsync("x", headers).OrFail();
            await bytes.PublishAsync(new byte[] { 1 }, headers).OrFail();
            Assert.True(await reader.MoveNextAsync().OrFail());
            Note(reader.Current.Topic, reader.Current.Headers);
        }

        await Patience.Until(() => Count() == 8);
        Assert.Equal(
            [
                ("bytes", null), ("bytes", null), ("bytes", "c"), ("bytes", "c"),
                ("texts", null), ("texts", null), ("texts", "c"), ("texts", "c"),
            ],
            seen.Order());

        void Note(string topic, MessageHeaders? headers)
        {
            lock (seen)
            {
                seen.Add((topic, headers?.CorrelationId));
            }
        }

        int Count()
        {
            lock (seen)
            {
                return seen.Count;
            }
        }
    }

    [Fact]
    public async Task A_request_has_the_name_of_its_requesters_as_its_topic()
    {
        var network = new InMemoryNetwork();
        await using var node = await network.StartNodeAsync(new QuickSilverOptions(), NullLoggerFactory.Instance).OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>("names", (request, _) => new(request.Topic)).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>("names").OrFail();
        Assert.Equal("names", await requester.AskAsync("x").OrFail());
    }

    [Fact]
    public void The_topic_does_not_make_a_message_larger() => Assert.Equal(
        sizeof(long) + Unsafe.SizeOf<NodeId>() + sizeof(long) + Unsafe.SizeOf<MessageHeaders?>(), Unsafe.SizeOf<Message<long>>());

    [Fact]
    public void A_message_that_a_test_creates_has_the_topic_and_the_headers_that_it_sets_in_either_order()
    {
        var headers = new MessageHeaders { CorrelationId = "c" };
        var plain = new Message<int>(1, Sender, 1);
        Assert.Equal(("", null), (plain.Topic, plain.Headers));
        var one = plain with { Topic = "t", Headers = headers };
        var other = plain with { Headers = headers, Topic = "t" };
        Assert.Equal(("t", "c"), (one.Topic, one.Headers?.CorrelationId));
        Assert.Equal(("t", "c"), (other.Topic, other.Headers?.CorrelationId));
        Assert.Equal(one, other);
        Assert.NotEqual(plain, one);
        Assert.Equal(("t", null), ((one with { Headers = null }).Topic, (one with { Headers = null }).Headers));
        Assert.Same(headers, (plain with { Headers = headers }).Headers);
        Assert.NotEqual(one, one with { Topic = "u" });
        Assert.Throws<ArgumentNullException>(() => plain with { Topic = null! });
    }
}
