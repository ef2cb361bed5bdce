using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Transport;
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
        var reply = await WatchReply.AskAsync(
            () => Task.FromResult(ClusterWatch.Start(session, session.IsVerbose, local, server)), session.Interrupted);
        return new ServerAnswer(server, reply.Answer is null ? null : reply.Service, reply.Fault?.Message)
        {
            IsStandingBy = reply.IsWithoutLeader,
            HasKeyFault = reply.KeyFault != KeyFault.None || reply.IsKeyUnusable,
            Certificates = reply.Certificates,
        };
    }
}
