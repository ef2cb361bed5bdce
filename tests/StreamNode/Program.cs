using System.Globalization;
using System.Net;
using QuickSilver;
using Serilog;
using Serilog.Events;
using Serilog.Extensions.Logging;
using StreamNode;

// A node that does what its input says, a command a line, and says on standard output when it is done:
//
//   StreamNode SERVICE INTERFACE BUFFERBYTES      (0: as many as is the default)
//
// SERVICE is an address, "host", which hosts one, or "find". QS_SECURITY names a file with a secret, or with QS_AUTHORITY a certificate;
// without it, nothing is protected. A hosted service lets the identity "pricer" alone publish, until "admit".
//
//   subscribe TOPIC reliable|besteffort handler|reader|late
//                                                         "subscribed TOPIC"; a reader takes one message and then none until "read";
//                                                         late: a handler whose first message may have any number
//   open TOPIC reliable|besteffort SUBSCRIBERS            "open TOPIC", when it has so many
//   publish TOPIC COUNT BYTES                             "published TOPIC TOTAL", in the background
//   pace TOPIC SECONDS BYTES RATE                         the same, so many a second
//   flood TOPIC SECONDS BYTES                             the same, as many as go in so long
//   admit                                                 "admits": everybody may publish, says the service that it hosts
//   halt                                                  these end now
//   expect TOPIC SENDERS COUNT                            "has TOPIC DELIVERED REPORTED", when so many came or were reported as gaps
//   read TOPIC                                            the reader continues
//   respond NAME MILLISECONDS                             "responds NAME"; it answers after so long
//   ask NAME MILLISECONDS                                 "asked NAME", and then "answered NAME" or "failed NAME EXCEPTION", within so long
//   hold NAME                                             "holds NAME", a state
//   set NAME KEY VALUE                                    "sets NAME", when the state has it
//   join GROUP FILE SEED                                  "joined GROUP NODE", and then "view GROUP MEMBERS" with each view; FILE gets what
//                                                         the group delivers, FILE.sent what this member sends
//   send GROUP COUNT LEASTBYTES MOSTBYTES                 "sent GROUP TOTAL", after those of earlier commands, of drawn sizes
//   await GROUP SENDERS NUMBER                            "has GROUP NUMBER", when so many senders have come to this number
//   pause TOPIC                                           "pause TOPIC MILLISECONDS", the longest without a message since last asked
//   taken TOPIC                                           "taken TOPIC COUNT", the messages so far
//   members                                               "members COUNT" of the cluster, as this node knows
//   meter INSTRUMENT                                      "meter INSTRUMENT VALUE", or REASON=VALUE words
//   collect                                               "collected MILLISECONDS" after a full collection
//   heap                                                  "heap BYTES" after a full collection
//   count                                                 "counts SHAREDSENT SENDSSAVED SHAREDRECEIVED REPAIRS"
//
// At the end of its input it drains and leaves. It ends with 1 when anything came twice, out of order or missing without notice.
if (args is not [var service, var address, var bytes])
{
    Console.Error.WriteLine("usage: StreamNode SERVICE INTERFACE BUFFERBYTES");
    return 2;
}

var rights = new ChangingRights();
var options = new QuickSilverOptions { Interface = IPAddress.Parse(address), Security = Protection.Read() };
if (service is "host" or "find")
{
    options.Membership.Mode = service == "host" ? MembershipMode.Host : MembershipMode.Find;
    options.Membership.Hosted.Rights = service == "host" ? rights : null;
}
else
{
    options.Membership.Servers = [.. service.Split(',')];
}

if (long.Parse(bytes, CultureInfo.InvariantCulture) is > 0 and var buffer)
{
    options.Limits.BufferBytes = buffer;
}

using var logs = new SerilogLoggerFactory(
    new LoggerConfiguration()
        .MinimumLevel.Is(Enum.Parse<LogEventLevel>(Environment.GetEnvironmentVariable("QS_LOG") ?? "Warning"))
        .WriteTo.Console(standardErrorFromLevel: LogEventLevel.Verbose)
        .CreateLogger(),
    dispose: true);
await using var node = await QuickSilverNode.StartAsync(options, logs);
var desk = new Desk(node, rights);
Say.Line("ready");
while (await Console.In.ReadLineAsync() is { } line)
{
    await desk.DoAsync(line.Split(' '));
}

return await desk.EndAsync() ? 0 : 1;
