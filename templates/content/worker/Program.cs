using QuickSilver.Hosting;
using QuickSilverWorker;

var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddQuickSilver(builder.Configuration.GetRequiredSection("QuickSilver"))
    .AddPublisher<Reading>("readings")
    .AddConsumer<Reading, ReadingConsumer>("readings");
builder.Services.AddHostedService<Sensor>();
await builder.Build().RunAsync();
