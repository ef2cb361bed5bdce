using QuickSilver.Hosting;
using QuickSilverWorker;

var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddQuickSilver()
    .AddPublisher<Reading>("readings")
    .AddConsumer<Reading, ReadingConsumer>("readings");
builder.Services.AddHostedService<Sensor>();
await builder.Build().RunAsync();
