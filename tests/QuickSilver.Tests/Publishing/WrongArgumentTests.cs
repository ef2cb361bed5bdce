using QuickSilver.Serialization;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// What a publisher gives that can never be sent, said at the call.
public sealed class WrongArgumentTests
{
    [Fact]
    public async Task A_null_payload_is_refused_with_its_topic_and_what_to_do_whatever_its_type_and_completion()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await CheckAsync(await node.OpenTopicAsync<byte[]>("bytes").OrFail());
        await CheckAsync(await node.OpenTopicAsync<string>("text").OrFail());

        static async Task CheckAsync<T>(ITopic<T> topic)
            where T : class
        {
            foreach (var completion in Enum.GetValues<PublishCompletion>())
            {
                var refusal = await Assert.ThrowsAsync<ArgumentNullException>(async () => await topic.PublishAsync(null!, completion));
                Assert.Equal("value", refusal.ParamName);
                string said = $"A message of the topic \"{topic.Name}\" is null, which cannot be sent. Publish a value, ";
                Assert.StartsWith(said, refusal.Message);
            }
        }
    }

    [Fact]
    public async Task A_null_request_answer_or_value_of_a_state_is_refused_with_its_name_and_what_to_do()
    {
        var network = new InMemoryNetwork();
        await using var node = await network.StartNodeAsync().OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>("stock", static (_, _) => new((string)null!)).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>("stock").OrFail();
        await using var state = await node.OpenStateAsync<string, string>("prices").OrFail();
        await requester.WaitForRespondersAsync(1).OrFail();
        var request = await Assert.ThrowsAsync<ArgumentNullException>(() => requester.AskAsync(null!)).OrFail();
        Assert.StartsWith("A request for \"stock\" is null, which cannot be sent. Send ", request.Message);
        var reply = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("x")).OrFail();
        Assert.StartsWith("The answer of the responder for \"stock\" is null, which cannot be sent. Return ", reply.Error);
        var value = await Assert.ThrowsAsync<ArgumentNullException>(async () => await state.SetAsync("tea", null!)).OrFail();
        Assert.StartsWith("A value of the state \"prices\" is null. Use RemoveAsync ", value.Message);
    }

    [Fact]
    public async Task A_value_beyond_2_GiB_is_too_large_like_any_other_too_large_one()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<int>("huge", new TopicOptions<int> { Codec = new HugeCodec() }).OrFail();
        foreach (var completion in Enum.GetValues<PublishCompletion>())
        {
            var refusal = await Assert.ThrowsAsync<MessageTooLargeException>(async () => await topic.PublishAsync(1, completion));
            Assert.Equal(1L << 31, refusal.Bytes);
            Assert.Contains("more than 2,147,483,647 bytes. The limit is 16,777,216.", refusal.Message);
        }
    }

    [Fact]
    public async Task A_completion_that_is_none_is_refused_with_its_value_and_those_allowed()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>("t").OrFail();
        var refusal = await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            async () => await topic.PublishAsync("x", (PublishCompletion)9));
        Assert.Equal(("completion", 9), (refusal.ParamName, refusal.ActualValue));
        Assert.Contains("Accepted (0) or PublishCompletion.Stable (1)", refusal.Message);
    }

    [Fact]
    public async Task A_negative_number_of_subscribers_is_not_waited_for()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>("t").OrFail();
        var refusal = await Assert.ThrowsAsync<ArgumentOutOfRangeException>(() => topic.WaitForSubscribersAsync(-1));
        Assert.Equal(("count", -1), (refusal.ParamName, refusal.ActualValue));
        Assert.Contains("0 or more", refusal.Message);
        await topic.WaitForSubscribersAsync(0).OrFail();
    }

    private sealed class HugeCodec : IPayloadCodec<int>
    {
        public PayloadSchema Schema { get; } = new("huge", PayloadSchema.MessageKind, []);

        public int GetSize(in int value) => checked(int.MaxValue + value);

        public int Write(in int value, Span<byte> destination) => 0;

        public int Read(ReadOnlySpan<byte> source) => 0;
    }
}
