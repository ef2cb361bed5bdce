// ASP.NET Core SignalR, with its .NET client and its JavaScript client
using Microsoft.AspNetCore.SignalR;
using Microsoft.AspNetCore.SignalR.Client;

// A page that shows prices as another process publishes them: webpage publish|serve URL
if (args[0] == "publish")
{
    await using var prices = new HubConnectionBuilder().WithUrl($"{args[1]}/prices").Build();
    await prices.StartAsync();
    for (int i = 1; ; i++)
    {
        await prices.SendAsync("Publish", new Price("UAL", i));
        await Task.Delay(100);
    }
}

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddSignalR();
var app = builder.Build();
app.MapGet("/", () => Results.Content(Page.Html, "text/html"));
app.MapHub<PriceHub>("/prices");
await app.RunAsync();

public sealed record Price(string Symbol, decimal Amount);

public sealed class PriceHub : Hub
{
    public Task Publish(Price price) => Clients.All.SendAsync("Price", price);
}

public static class Page
{
    public const string Html = """
        <!doctype html>
        <title>Prices</title>
        <h1 id="price"></h1>
        <script src="https://cdnjs.cloudflare.com/ajax/libs/microsoft-signalr/10.0.0/signalr.min.js"></script>
        <script>
          const connection = new signalR.HubConnectionBuilder().withUrl('/prices').build();
          connection.on('Price', price => document.getElementById('price').textContent = JSON.stringify(price));
          connection.start();
        </script>
        """;
}
