using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

// Calls with null for the options, or default for the token, compile and mean what they look like.
public sealed class OverloadTests
{
    [Fact]
    public async Task Null_for_the_options_and_default_for_the_token_are_not_ambiguous()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>("a", null).OrFail();
        var publisher = await node.OpenPublisherAsync<string>("a", null).OrFail();
        Assert.NotNull(await node.OpenSubscriberAsync<string>("a", null).OrFail());
        await topic.PublishAsync("x", default).OrFail();
        await publisher.PublishAsync("x", null).OrFail();
    }
}
