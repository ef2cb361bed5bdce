using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Topics;

// The codec is one of the options.
public sealed class CodecOptionsTests
{
    [Fact]
    public async Task The_codec_of_the_options_writes_and_reads_the_payloads()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        var codec = new HeldCodec(bytes: 1);
        var options = new TopicOptions<int>(new TopicOptions { ReaderCapacity = 7 }) { Codec = codec };
        Assert.Equal(7, options.ReaderCapacity);
        await using var topic = await node.OpenTopicAsync<int>("numbers", options).OrFail();
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        await topic.PublishAsync(0).OrFail();
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.Equal("numbers", reader.Current.Topic);
        await using var all = node.ReadAllAsync<int>("numbers", options).GetAsyncEnumerator();
    }

    [Fact]
    public async Task Options_without_a_codec_use_that_of_the_type()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        await using var topic = await node.OpenTopicAsync<string>("words", new TopicOptions<string>()).OrFail();
        await Assert.ThrowsAsync<NotSupportedException>(() => node.OpenTopicAsync<int>("numbers", new TopicOptions<int>())).OrFail();
    }

    [Fact]
    public async Task Options_with_the_codec_of_another_type_are_refused_with_both_types()
    {
        await using var node = await new InMemoryNetwork().StartNodeAsync().OrFail();
        Func<Task>[] calls =
        [
            () => node.OpenTopicAsync<string>("a", new TopicOptions<int>()),
            () => node.OpenPrefixAsync<string>("a/", static (_, _, _) => default, new() { Topic = new TopicOptions<int>() }),
            () => node.OpenRequesterAsync<string, string>("a", new RequesterOptions<string, int>()),
            () => node.OpenResponderAsync<string, string>("a", static (one, _) => new(one.Value), new ResponderOptions<int, string>()),
            () => node.OpenStateAsync<string, string>("a", new StateOptions<string, int>()),
            () => Task.FromResult(node.ReadAllAsync<string>("a", new TopicOptions<int>())),
        ];
        foreach (var call in calls)
        {
            var refused = await Assert.ThrowsAsync<ArgumentException>(call).OrFail();
            Assert.Equal("options", refused.ParamName);
            Assert.Contains("System.Int32", refused.Message, StringComparison.Ordinal);
            Assert.Contains("System.String> are required", refused.Message, StringComparison.Ordinal);
        }
    }
}
