using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Patterns;

public sealed class AddedOptionsTests
{
    [Fact]
    public async Task Options_that_change_after_what_they_are_for_was_added_have_no_effect()
    {
        var topic = new TopicOptions();
        var consumer = new ConsumerOptions<string>();
        var requester = new RequesterOptions();
        var responder = new ResponderOptions();
        var state = new StateOptions();
        var prefix = new PrefixOptions<string>();
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.AddQuickSilver()
            .AddTopic<string>("topic", topic)
            .AddConsumer<string, Own>("consumed", consumer, options: topic)
            .AddRequester<string, string>("requests", requester)
            .AddResponder<string, string, Own>("requests", responder)
            .AddState<string, string>("state", state)
            .AddPrefix<string, Own>("prefix", prefix);
        builder.Services.UseInMemoryQuickSilver();
        topic.ReaderCapacity = 0;
        consumer.Concurrency = 0;
        requester.Timeout = TimeSpan.Zero;
        responder.Concurrency = 0;
        state.MaxKeys = 0;
        prefix.MaxTopics = 0;
        prefix.Topic.ReaderCapacity = 0;
        using var host = builder.Build();
        await host.StartAsync().OrFail();
        Assert.Equal("hello", await host.Services.GetRequiredService<IRequester<string, string>>().AskAsync("hello").OrFail());
        await host.Services.GetRequiredService<IState<string, string>>().SetAsync("key", "value").OrFail();
        await host.Services.GetRequiredService<ITopic<string>>().PublishAsync("message", PublishCompletion.Stable).OrFail();
        await host.StopAsync().OrFail();
    }

    private sealed class Own : IConsumer<string>, IRequestHandler<string, string>
    {
        public ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken) => default;

        public ValueTask<string> HandleAsync(Message<string> request, CancellationToken cancellationToken) => new(request.Value);
    }
}
