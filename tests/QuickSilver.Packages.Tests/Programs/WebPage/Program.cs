using System.Runtime.Serialization;
using QuickSilver;

// A page that shows prices as another process publishes them: webpage publish|serve CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
if (args[0] == "publish")
{
    await using var prices = await node.OpenPublisherAsync<Price>("prices");
    for (int i = 1; ; i++)
    {
        await prices.PublishAsync(new Price("UAL", i));
        await Task.Delay(100);
    }
}

var app = WebApplication.Create(args);
app.MapGet("/", () => Results.Content(Page.Html, "text/html"));
app.MapGet("/prices", () => TypedResults.ServerSentEvents(node.ReadAllAsync<Price>("prices").Select(message => message.Value)));
await app.RunAsync();

[DataContract]
public sealed record Price([property: DataMember(Order = 1)] string Symbol, [property: DataMember(Order = 2)] decimal Amount);

public static class Page
{
    public const string Html = """
        <!doctype html>
        <title>Prices</title>
        <h1 id="price"></h1>
        <script>
          new EventSource('/prices').onmessage = event => document.getElementById('price').textContent = event.data;
        </script>
        """;
}
