// Orleans 10: a call of a grain
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// What does a share cost? requests respond|ask
var builder = Host.CreateApplicationBuilder(args);
if (args[0] == "respond")
{
    builder.UseOrleans(silo => silo.UseLocalhostClustering());
    await builder.Build().RunAsync();
}

builder.UseOrleansClient(client => client.UseLocalhostClustering());
using var host = builder.Build();
await host.StartAsync();
var quote = await host.Services.GetRequiredService<IClusterClient>().GetGrain<IQuotes>("UAL").FindAsync();
Console.WriteLine($"{quote.Symbol} costs {quote.Price}");

public interface IQuotes : IGrainWithStringKey
{
    Task<Quote> FindAsync();
}

public sealed class Quotes : Grain, IQuotes
{
    public async Task<Quote> FindAsync()
    {
        await Task.Delay(10);
        return new Quote(this.GetPrimaryKeyString(), 12.5m);
    }
}

[GenerateSerializer]
public sealed record Quote([property: Id(0)] string Symbol, [property: Id(1)] decimal Price);
