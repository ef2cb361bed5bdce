using System.Net;
using QuickSilver;
using Serilog;
using Serilog.Events;
using Serilog.Extensions.Logging;

namespace ChurnNode;

// How the nodes of a campaign start.
internal static class NodeStart
{
    /// <param name="service">The servers, with commas between; none: the node finds a service or hosts one.</param>
    /// <param name="address">The address of its interface.</param>
    /// <param name="security">The file of the secret; none: no security.</param>
    public static QuickSilverOptions Read(string service, string address, string security) => new()
    {
        Membership = { Servers = service == "none" ? [] : [.. service.Split(',')] },
        Interface = IPAddress.Parse(address),
        Security = security == "none" ? SecurityOptions.None : new SecurityOptions { SecretFile = security },
    };

    public static SerilogLoggerFactory Logs() => new(
        new LoggerConfiguration()
            .MinimumLevel.Is(LogEventLevel.Information)
            .WriteTo.Console(standardErrorFromLevel: LogEventLevel.Verbose)
            .CreateLogger(),
        dispose: true);
}
