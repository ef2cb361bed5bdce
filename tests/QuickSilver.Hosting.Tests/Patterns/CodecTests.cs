using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver.Serialization;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Patterns;

// Of a type that has no codec of its own.
public sealed class CodecTests
{
    [Fact]
    public async Task Requesters_responders_states_and_prefixes_use_the_codecs_of_the_application()
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        var codec = new UriCodec();
        builder.Services.AddQuickSilver()
            .AddRequester<Uri, Uri>("parents", new RequesterOptions<Uri, Uri> { RequestCodec = codec, ReplyCodec = codec })
            .AddResponder<Uri, Uri, Parents>("parents", new ResponderOptions<Uri, Uri> { RequestCodec = codec, ReplyCodec = codec })
            .AddState<string, Uri>("homes", new StateOptions<string, Uri> { ValueCodec = codec })
            .AddPrefix<Uri, Visits>("visits/", new PrefixOptions<Uri> { Topic = new TopicOptions<Uri> { Codec = codec } })
            .AddPublisher<Uri>("visits/a", new TopicOptions<Uri> { Codec = codec });
        builder.Services.AddSingleton<Seen>();
        builder.Services.UseInMemoryQuickSilver();
        using var host = builder.Build();
        await host.StartAsync().OrFail();
        var asked = await host.Services.GetRequiredService<IRequester<Uri, Uri>>().AskAsync(new Uri("qs://a/b")).OrFail();
        Assert.Equal(new Uri("qs://a/"), asked);
        var homes = host.Services.GetRequiredService<IState<string, Uri>>();
        await homes.SetAsync("x", new Uri("qs://x/")).OrFail();
        Assert.True(homes.TryGet("x", out var home));
        Assert.Equal(new Uri("qs://x/"), home);
        var visits = host.Services.GetRequiredService<ITopicPublisher<Uri>>();
        await visits.WaitForSubscribersAsync(1).OrFail();
        await visits.PublishAsync(new Uri("qs://v/")).OrFail();
        Assert.Equal(new Uri("qs://v/"), await host.Services.GetRequiredService<Seen>().First.Task.OrFail());
        await host.StopAsync().OrFail();
    }

    private sealed class Seen
    {
        public TaskCompletionSource<Uri> First { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    private sealed class Parents : IRequestHandler<Uri, Uri>
    {
        public ValueTask<Uri> HandleAsync(Message<Uri> request, CancellationToken cancellationToken) => new(new Uri(request.Value, "."));
    }

    private sealed class Visits(Seen seen) : IConsumer<Uri>
    {
        public ValueTask ConsumeAsync(Message<Uri> message, CancellationToken cancellationToken)
        {
            seen.First.TrySetResult(message.Value);
            return default;
        }
    }

    private sealed class UriCodec : IPayloadCodec<Uri>
    {
        public PayloadSchema Schema { get; } = new("address", PayloadSchema.StringKind, []);

        public int GetSize(in Uri value) => Encoding.UTF8.GetByteCount(value.ToString());

        public int Write(in Uri value, Span<byte> destination) => Encoding.UTF8.GetBytes(value.ToString(), destination);

        public Uri Read(ReadOnlySpan<byte> source) => new(Encoding.UTF8.GetString(source));
    }
}
