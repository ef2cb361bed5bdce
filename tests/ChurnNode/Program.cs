using System.Globalization;
using System.Net;
using ChurnNode;
using QuickSilver;
using Serilog;
using Serilog.Events;
using Serilog.Extensions.Logging;

// A process of the churn scenario: a publisher to many topics, or a follower that keeps some topics and comes to and
// leaves others all the time. Both end with one JSON object on standard output; "ready" and troubles go to standard error.
//
//   ChurnNode publish SERVICE INTERFACE TOPICS RATE SECONDS FOLLOWERS
//   ChurnNode follow  SERVICE INTERFACE TOPICS KEPT CHANGES SEED      (KEPT: comma-separated numbers; ends with its input)
if (args is not [var role, var service, var address, var topics, ..] || args.Length != 7)
{
    Console.Error.WriteLine("usage: publish SERVICE INTERFACE TOPICS RATE SECONDS FOLLOWERS");
    Console.Error.WriteLine("       follow  SERVICE INTERFACE TOPICS KEPT CHANGES SEED");
    return 2;
}

var options = new QuickSilverOptions
{
    MembershipService = service,
    Interface = IPAddress.Parse(address),
    Security = SecurityOptions.None,
};
using var logs = new SerilogLoggerFactory(
    new LoggerConfiguration()
        .MinimumLevel.Is(LogEventLevel.Warning)
        .WriteTo.Console(standardErrorFromLevel: LogEventLevel.Verbose)
        .CreateLogger(),
    dispose: true);
await using var node = await QuickSilverNode.StartAsync(options, logs);
int count = int.Parse(topics, CultureInfo.InvariantCulture);
double Number(int index) => double.Parse(args[index], CultureInfo.InvariantCulture);
switch (role)
{
    case "publish":
        return await Publisher.RunAsync(node, count, Number(4), Number(5), (int)Number(6));
    case "follow":
        int[] kept = args[4].Split(',').Select(text => int.Parse(text, CultureInfo.InvariantCulture)).ToArray();
        return await Follower.RunAsync(node, count, kept, Number(5), (int)Number(6));
    default:
        Console.Error.WriteLine($"'{role}' is neither publish nor follow.");
        return 2;
}
