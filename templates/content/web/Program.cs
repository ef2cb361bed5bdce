using QuickSilver.Hosting;
using QuickSilverWeb;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddSingleton<Browsers>();
builder.Services.AddQuickSilver()
    .AddPublisher<Reading>("readings")
    .AddTopicHandler<Reading, Browsers>("readings");
builder.Services.AddHostedService<Sensor>();

var app = builder.Build();
app.UseDefaultFiles();
app.UseStaticFiles();
app.MapGet("/readings", (Browsers browsers, CancellationToken stop) => TypedResults.ServerSentEvents(browsers.ReadAsync(stop)));
app.MapHealthChecks("/health");
await app.RunAsync();
