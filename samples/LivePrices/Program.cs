using LivePrices;
using QuickSilver;
using QuickSilver.Hosting;

// A web page that shows prices as they are published, by server-sent events; SignalR's clients get them at /hub.
//   dotnet run --project samples/LivePrices
var builder = WebApplication.CreateBuilder(new WebApplicationOptions { Args = args, ContentRootPath = AppContext.BaseDirectory });
builder.Services.AddSignalR();
builder.Services.AddSingleton<Browsers>();
builder.Services.AddQuickSilver(builder.Configuration.GetRequiredSection("QuickSilver"))
    .AddPublisher<Price>("prices")
    .AddTopicHandler<Price, Browsers>("prices")
    .AddConsumer<Price, PriceHubConsumer>("prices", options: new TopicOptions { SlowReader = SlowReaderPolicy.DropOldest });
builder.Services.AddHostedService<Market>();

var app = builder.Build();
app.MapGet("/", () => Results.Content(Page.Html, "text/html"));
app.MapGet("/prices", (Browsers browsers, CancellationToken stop) => TypedResults.ServerSentEvents(browsers.ReadAsync(stop)));
app.MapHub<PriceHub>("/hub");
app.MapHealthChecks("/health");
await app.RunAsync();
