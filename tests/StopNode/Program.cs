using System.Globalization;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver;
using Serilog;
using Serilog.Events;
using Serilog.Extensions.Logging;
using StopNode;

// A process of the scenario of stops: a publisher, or a consumer that takes its time for each message. It runs in a host, and ends with
// SIGTERM, or has a node of its own, and ends by the verb that it reads from standard input. Then it writes what became of its messages, as
// one line on standard output. "ready" and the log go to standard error.
//
//   StopNode publish SERVICE INTERFACE host|bare MESSAGES LIMIT_MS
//   StopNode consume SERVICE INTERFACE host|bare EACH_MS  LIMIT_MS
//
// Verbs of a publisher: drain, dispose, cancel, node. Verbs of a consumer: stop, consumption, dispose, cancel, node.
if (args is not [var role, var service, var address, var kind, var number, var limit] || role is not ("publish" or "consume")
    || kind is not ("host" or "bare"))
{
    Console.Error.WriteLine("usage: publish SERVICE INTERFACE host|bare MESSAGES LIMIT_MS");
    Console.Error.WriteLine("       consume SERVICE INTERFACE host|bare EACH_MS  LIMIT_MS");
    return 2;
}

using var logs = new SerilogLoggerFactory(
    new LoggerConfiguration()
        .MinimumLevel.Is(LogEventLevel.Information)
        .WriteTo.Console(standardErrorFromLevel: LogEventLevel.Verbose)
        .CreateLogger(),
    dispose: true);
var settings = new Settings(service, IPAddress.Parse(address), Whole(number), TimeSpan.FromMilliseconds(Whole(limit)), logs);
var running = (role, kind) switch
{
    ("publish", "host") => HostedPublisher.RunAsync(settings),
    ("publish", _) => BarePublisher.RunAsync(settings),
    (_, "host") => HostedConsumer.RunAsync(settings),
    _ => BareConsumer.RunAsync(settings),
};
await running;
return 0;

static int Whole(string text) => int.Parse(text, CultureInfo.InvariantCulture);

internal sealed record Settings(string Service, IPAddress Interface, int Number, TimeSpan Limit, ILoggerFactory Logs)
{
    public const string Topic = "stops";

    public void Set(QuickSilverOptions options)
    {
        options.Membership.Servers = [.. Service.Split(',')];
        options.Interface = Interface;
        options.Security = SecurityOptions.None;
    }

    public Task<QuickSilverNode> StartAsync()
    {
        var options = new QuickSilverOptions();
        Set(options);
        return QuickSilverNode.StartAsync(options, Logs);
    }
}
