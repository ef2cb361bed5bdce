using System.Globalization;
using ChurnNode;
using ChurnNode.Soak;
using QuickSilver;
using Serilog;
using Serilog.Events;
using Serilog.Extensions.Logging;

// A process of the churn scenario: a publisher to many topics, or a follower that keeps some topics and comes to and
// leaves others all the time. Both end with one JSON object on standard output; "ready" and troubles go to standard error.
//
//   ChurnNode publish SERVICE INTERFACE TOPICS RATE SECONDS FOLLOWERS
//   ChurnNode follow  SERVICE INTERFACE TOPICS KEPT CHANGES SEED      (KEPT: comma-separated numbers; ends with its input)
//
// Or of a campaign: a member that stays, or one that joins and leaves all the time. SECURITY is the file of a secret, or none.
//
//   ChurnNode stay SERVICE INTERFACE SECURITY STAYERS INDEX RATE
//   ChurnNode roam SERVICE INTERFACE SECURITY STAYERS INDEX
// A member whose thread pool is blocked, which hosts the service itself if SERVICE is none:
//
//   ChurnNode block SERVICE INTERFACE SECURITY                        (reads block, handle, free; ends with its input)
//   ChurnNode start-blocked SERVICE INTERFACE SECURITY                (the pool is blocked before the node starts)
if (args is ["block" or "start-blocked", var blockAt, var blockOn, var blockSecurity])
{
    var blockOptions = NodeStart.Read(blockAt, blockOn, blockSecurity);
    using var blockLogs = NodeStart.Logs();
    return BlockedPool.Run(blockOptions, blockLogs, isBlockedAtStart: args[0] == "start-blocked");
}

// Of a soak: a member that stays, or a process whose nodes come and go, so many each minute.
//
//   ChurnNode soak  SERVICE INTERFACE SECURITY STAYERS INDEX
//   ChurnNode lives SERVICE INTERFACE SECURITY STAYERS INDEX PER-MINUTE
if (args is ["soak", var soakAt, var soakOn, var soakSecurity, var soakStayers, var soakIndex])
{
    return await SoakStayer.RunAsync(NodeStart.Read(soakAt, soakOn, soakSecurity), Whole(soakStayers), Whole(soakIndex));
}

if (args is ["lives", var livesAt, var livesOn, var livesSecurity, var livesStayers, var livesIndex, var perMinute])
{
    var livesOptions = NodeStart.Read(livesAt, livesOn, livesSecurity);
    return await SoakLives.RunAsync(livesOptions, Whole(livesStayers), Whole(livesIndex), Whole(perMinute));
}

if (args is ["stay", var stayAt, var stayOn, var staySecurity, var stayers, var stayer, var rate])
{
    return await Stayer.RunAsync(NodeStart.Read(stayAt, stayOn, staySecurity), Whole(stayers), Whole(stayer), Whole(rate));
}

if (args is ["roam", var roamAt, var roamOn, var roamSecurity, var stays, var roamer])
{
    return await Roamer.RunAsync(NodeStart.Read(roamAt, roamOn, roamSecurity), Whole(stays), Whole(roamer));
}

if (args is not [var role, var service, var address, var topics, ..] || args.Length != 7)
{
    Console.Error.WriteLine("usage: publish SERVICE INTERFACE TOPICS RATE SECONDS FOLLOWERS");
    Console.Error.WriteLine("       follow  SERVICE INTERFACE TOPICS KEPT CHANGES SEED");
    return 2;
}

var options = NodeStart.Read(service, address, security: "none");
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

static int Whole(string text) => int.Parse(text, CultureInfo.InvariantCulture);
