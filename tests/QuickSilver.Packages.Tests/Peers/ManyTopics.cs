// Orleans 10 with memory streams: an implicit subscription to all streams of a namespace
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Streams;

// A stream for each share, and one reader of all of them, those to come included: manytopics publish|read
var builder = Host.CreateApplicationBuilder(args);
if (args[0] == "read")
{
    builder.UseOrleans(silo => silo.UseLocalhostClustering().AddMemoryGrainStorage("PubSubStore").AddMemoryStreams("bus"));
    await builder.Build().RunAsync();
    return;
}

builder.UseOrleansClient(client => client.UseLocalhostClustering().AddMemoryStreams("bus"));
using var host = builder.Build();
await host.StartAsync();
var bus = host.Services.GetRequiredService<IClusterClient>().GetStreamProvider("bus");
string[] symbols = ["UAL", "DAL", "LHA"];
var prices = symbols.Select(symbol => bus.GetStream<Price>(StreamId.Create("prices", symbol))).ToList();
for (int i = 1; ; i++)
{
    await prices[i % prices.Count].OnNextAsync(new Price(i, "USD"));
    await Task.Delay(100);
}

public interface IPrices : IGrainWithStringKey;

[ImplicitStreamSubscription("prices")]
public sealed class Prices : Grain, IPrices
{
    public override async Task OnActivateAsync(CancellationToken cancellationToken)
    {
        var stream = this.GetStreamProvider("bus").GetStream<Price>(StreamId.Create("prices", this.GetPrimaryKeyString()));
        await stream.SubscribeAsync(async (price, _) =>
        {
            await Console.Out.WriteLineAsync($"prices/{this.GetPrimaryKeyString()}: {price.Amount} {price.Currency}");
        });
    }
}

[GenerateSerializer]
public sealed record Price([property: Id(0)] decimal Amount, [property: Id(1)] string Currency);
