using System.Collections.Immutable;
using System.Net;
using QuickSilver.Tool.Doctor.Checks;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Doctor.Facts;

// Asks each server that was named by itself. One that does not lead names the one that does, which is then asked.
internal static class ServersReader
{
    // A service has three or five; a host name may have more addresses.
    private const int Most = 16;

    public static async Task<IReadOnlyList<ServerAnswer>> ReadAsync(Session session, IPAddress local, ImmutableArray<IPEndPoint> servers) =>
        servers.Length < 2 ? [] : await Task.WhenAll(servers.Take(Most).Select(server => AskAsync(session, local, server)));

    private static async Task<ServerAnswer> AskAsync(Session session, IPAddress local, IPEndPoint server)
    {
        ClusterWatch? watch = null;
        try
        {
            watch = ClusterWatch.Start(session, session.IsVerbose, local, server);
            _ = await watch.AskAsync(session.Interrupted);
            return new ServerAnswer(server, watch.Service, Fault: null);
        }
        catch (ToolException exception)
        {
            return new ServerAnswer(server, Leader: null, exception.Message) { IsStandingBy = watch is { IsWithoutLeader: true } };
        }
        finally
        {
            if (watch is not null)
            {
                await watch.DisposeAsync();
            }
        }
    }
}
