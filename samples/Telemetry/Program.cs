using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver;
using QuickSilver.Hosting;
using Serilog;
using Telemetry;

// A worker that publishes its own readings and archives those of all workers. Start it several times:
//   dotnet run --project samples/Telemetry -- --Sensor:Name=north
var settings = new HostApplicationBuilderSettings { Args = args, ContentRootPath = AppContext.BaseDirectory };
var builder = Host.CreateApplicationBuilder(settings);
builder.Services.AddSerilog(log => log.WriteTo.Console());
builder.Services.AddQuickSilver(builder.Configuration.GetRequiredSection("QuickSilver"))
    .AddPublisher<Reading>("readings")
    .AddConsumer<Reading, Archive>(
        "readings",
        new ConsumerOptions<Reading> { OnError = ConsumerErrors.Retry(3, TimeSpan.FromMilliseconds(100)).ThenSkip() });
builder.Services.AddHostedService<Sensor>();
await builder.Build().RunAsync();
