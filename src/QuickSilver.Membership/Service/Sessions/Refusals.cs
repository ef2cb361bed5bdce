using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;

namespace QuickSilver.Membership.Service.Sessions;

// What a server counts and records of clients that connected and were not admitted. It is the same whether the server leads or stands by,
// because such clients try all servers.
internal sealed class Refusals(ServiceCounters counters, ILogger audit)
{
    private readonly ILogger _audit = GuardedLogger.Of(audit);

    /// <summary>A client did not prove its identity, or found no room to do so.</summary>
    public void OnRefused(IPEndPoint remote, string reason, StreamRefusal kind)
    {
        long count = kind switch
        {
            StreamRefusal.NoRoom => ++counters.HandshakesWithoutRoom,
            StreamRefusal.Silent => ++counters.HandshakesAbandoned,
            StreamRefusal.Displaced => ++counters.HandshakesDisplaced,
            _ => ++counters.HandshakesFailed,
        };
        // A client that sends nothing at all may be a probe of whether this service lives.
        if (kind != StreamRefusal.Silent && RepeatedEvent.IsLogged(count))
        {
            _audit.ConnectionRefused(remote, reason, count);
        }
    }

    /// <summary>There is no session for a client, which may have proved its identity.</summary>
    public void OnNoSession(IControlStream stream, bool isEnding)
    {
        counters.SessionsRefused++;
        if (stream.Peer is { } peer && RepeatedEvent.IsLogged(counters.SessionsRefused))
        {
            string why = isEnding ? "the service ends" : "there are too many sessions of it, of its address or in all";
            _audit.SessionRefused(peer.Name, stream.RemoteEndPoint, why, counters.SessionsRefused);
        }
    }
}
