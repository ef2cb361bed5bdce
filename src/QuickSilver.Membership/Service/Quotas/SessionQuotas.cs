using System.Net;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;

namespace QuickSilver.Membership.Service.Quotas;

// How many connections a server has, and from where: one machine, or one identity, cannot take the places of all others.
internal sealed class SessionQuotas(SessionLimits limits)
{
    private readonly PeerTotals _sessions = new(limits.MaxSessionsPerAddress, limits.MaxSessionsPerIdentity);
    private int _taken;

    public bool HasRoomFor(IControlStream stream) => _taken < limits.MaxSessions
        && _sessions.FullFor(PeerSource.Of(stream.RemoteEndPoint, stream.Peer), 1) is null;

    public void Take(IPEndPoint? from, PeerIdentity? peer)
    {
        _taken++;
        _sessions.Take(PeerSource.Of(from, peer), 1);
    }

    public void GiveBack(IPEndPoint? from, PeerIdentity? peer)
    {
        _taken--;
        _sessions.GiveBack(PeerSource.Of(from, peer), 1);
    }
}
