using System.Runtime.Serialization;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver;
using QuickSilver.Hosting;

// A host with all that a host can have, in the application that is published: ahead CLUSTER
public static class HostProgram
{
    public static async Task RunAsync(string cluster)
    {
        var builder = Host.CreateEmptyApplicationBuilder(null);
        builder.Configuration.AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["QuickSilver:Cluster"] = cluster,
            ["QuickSilver:StallWarning"] = "00:00:07",
            ["QuickSilver:Interface"] = "127.0.0.1",
            ["QuickSilver:Dissemination"] = "Auto",
            ["QuickSilver:Limits:BufferBytes"] = "67108864",
            ["QuickSilver:Hosting:DrainLimit"] = "00:00:02",
            ["QuickSilver:Hosting:ReadyTags:0"] = "up",
            ["QuickSilver:Topics:orders:ReaderCapacity"] = "77",
            ["Second:Cluster"] = cluster + "-2",
        });
        builder.Services.AddSingleton<Handled>();
        builder.Services.AddQuickSilver(builder.Configuration.GetSection("QuickSilver"))
            .AddTopic<Order>()
            .AddConsumer<Order, Packer>()
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

        var node = await host.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync();
        await using (var ticks = await node.OpenTopicAsync<Tick>())
        {
            Console.WriteLine(ticks.Name);
        }

        // Not in the call, where it would be reported when this is compiled.
        var reliable = new TopicOptions { Guarantee = Guarantee.Reliable };
        try
        {
            await node.OpenTopicAsync<Tick>(reliable);
        }
        catch (ArgumentException)
        {
            Console.WriteLine("ticks are best effort");
        }

        await host.StopAsync();
        Console.WriteLine("done");
    }
}

[Topic("orders")]
[DataContract]
public sealed record Order(
    [property: DataMember(Order = 1)] int Number,
    [property: DataMember(Order = 2)] List<string> Items,
    [property: DataMember(Order = 3)] Address To);

[DataContract]
public sealed record Address([property: DataMember(Order = 1)] string City);

[Topic("ticks", Guarantee = Guarantee.BestEffort)]
[DataContract]
public readonly record struct Tick([property: DataMember(Order = 1)] int Number);

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
