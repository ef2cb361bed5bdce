using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// A host that is compiled ahead of time, and one that is trimmed: published without a warning, and run.
[Collection(nameof(Feed))]
public sealed class AheadOfTimeTests(Feed feed)
{
    private const string Host = """
        using System.Runtime.Serialization;
        using Microsoft.Extensions.Configuration;
        using Microsoft.Extensions.DependencyInjection;
        using Microsoft.Extensions.Hosting;
        using QuickSilver;
        using QuickSilver.Hosting;

        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["QuickSilver:Cluster"] = args[0],
            ["QuickSilver:StallWarning"] = "00:00:07",
            ["QuickSilver:Interface"] = "127.0.0.1",
            ["QuickSilver:Dissemination"] = "Auto",
            ["QuickSilver:Limits:BufferBytes"] = "67108864",
            ["QuickSilver:Hosting:DrainLimit"] = "00:00:02",
            ["QuickSilver:Hosting:ReadyTags:0"] = "up",
            ["QuickSilver:Topics:orders:ReaderCapacity"] = "77",
            ["Second:Cluster"] = args[0] + "-2",
        });
        builder.Services.AddSingleton<Handled>();
        builder.Services.AddQuickSilver(builder.Configuration.GetSection("QuickSilver"))
            .AddTopic<Order>("orders")
            .AddConsumer<Order, Packer>("orders")
            .AddTopicHandler<Order, Counter>("orders")
            .AddRequester<string, Order>("find")
            .AddResponder<string, Order, Finder>("find")
            .AddState<string, Order>("last");
        builder.Services.AddQuickSilver("second", builder.Configuration.GetSection("Second")).AddTopic<string>("words");

        using var host = builder.Build();
        await host.StartAsync();
        var handled = host.Services.GetRequiredService<Handled>();
        var orders = host.Services.GetRequiredService<ITopic<Order>>();
        await orders.PublishAsync(new Order(17, ["nail", "screw"], new Address("Ithaca")), PublishCompletion.Stable);
        Console.WriteLine(await handled.ByConsumer.Task);
        Console.WriteLine(await handled.ByHandler.Task);
        var found = await host.Services.GetRequiredService<IRequester<string, Order>>().AskAsync("18", TimeSpan.FromSeconds(30));
        Console.WriteLine($"found {found.Number}");
        var last = host.Services.GetRequiredService<IState<string, Order>>();
        await last.SetAsync("x", found);
        Console.WriteLine($"state {last.Count}");
        var words = host.Services.GetRequiredKeyedService<ITopic<string>>("second:words");
        await words.PublishAsync("hello");
        await foreach (var message in words.ReadAllAsync())
        {
            Console.WriteLine(message.Value);
            break;
        }

        await host.StopAsync();
        Console.WriteLine("done");

        [DataContract]
        public sealed record Order(
            [property: DataMember(Order = 1)] int Number,
            [property: DataMember(Order = 2)] List<string> Items,
            [property: DataMember(Order = 3)] Address To);

        [DataContract]
        public sealed record Address([property: DataMember(Order = 1)] string City);

        public sealed class Handled
        {
            public TaskCompletionSource<string> ByConsumer { get; } = new();

            public TaskCompletionSource<string> ByHandler { get; } = new();
        }

        public sealed class Packer(Handled handled) : IConsumer<Order>
        {
            public async ValueTask ConsumeAsync(Message<Order> message, CancellationToken cancellationToken)
            {
                await Task.Yield();
                handled.ByConsumer.TrySetResult($"packed {message.Value.Items.Count} for {message.Value.To.City}");
            }
        }

        public sealed class Counter(Handled handled) : ITopicHandler<Order>
        {
            public void Handle(in Message<Order> message) => handled.ByHandler.TrySetResult($"counted {message.Value.Number}");
        }

        public sealed class Finder : IRequestHandler<string, Order>
        {
            public ValueTask<Order> HandleAsync(Message<string> request, CancellationToken cancellationToken) =>
                new(new Order(int.Parse(request.Value), [], new Address("")));
        }
        """;

    private static readonly string[] Expected = ["packed 2 for Ithaca", "counted 17", "found 18", "state 1", "hello", "done"];

    [Theory]
    [InlineData("PublishAot")]
    [InlineData("PublishTrimmed")]
    public void A_host_with_topics_consumers_requests_states_and_configuration_is_published_without_a_warning_and_runs(string how)
    {
        string folder = feed.NewcomersFolder(how, withPublicFeed: true);
        File.WriteAllText(Path.Combine(folder, "Program.cs"), Host);
        NewcomersProject.Write(
            folder,
            "Ahead",
            NewcomersProject.Kind.Program,
            ("QuickSilver.Hosting", Feed.Version),
            ("Microsoft.Extensions.Hosting", Feed.Known("Microsoft.Extensions.Hosting")));
        PublishedProgram.Publish(folder, how);
        string output = DotnetCommand.Run(folder, Path.Combine(folder, "out", "Ahead"), $"ahead-{Guid.NewGuid():N}");
        Assert.Equal(Expected, output.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => line.Trim()));
        Assert.Equal(how == "PublishAot", !File.Exists(Path.Combine(folder, "out", "QuickSilver.Hosting.dll")));
    }
}
