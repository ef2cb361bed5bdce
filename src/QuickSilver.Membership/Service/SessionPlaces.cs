using System.Net;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;

namespace QuickSilver.Membership.Service;

// How many connections a server has, and from where: one machine, or one identity, cannot take the places of all others.
internal sealed class SessionPlaces(SessionLimits limits)
{
    private readonly Dictionary<IPAddress, int> _byAddress = [];
    // Of certificates. A secret is that of all nodes.
    private readonly Dictionary<string, int> _byIdentity = [];
    private int _taken;

    public bool HasRoomFor(IControlStream stream) => _taken < limits.MaxSessions
        && (stream.RemoteEndPoint is not { } remote || _byAddress.GetValueOrDefault(remote.Address) < limits.MaxSessionsPerAddress)
        && (stream.Peer is not { IsShared: false, Name: var name }
            || _byIdentity.GetValueOrDefault(name) < limits.MaxSessionsPerIdentity);

    public void Take(IPEndPoint? from, PeerIdentity? peer)
    {
        _taken++;
        if (from is not null)
        {
            _byAddress[from.Address] = _byAddress.GetValueOrDefault(from.Address) + 1;
        }

        if (peer is { IsShared: false, Name: var name })
        {
            _byIdentity[name] = _byIdentity.GetValueOrDefault(name) + 1;
        }
    }

    public void GiveBack(IPEndPoint? from, PeerIdentity? peer)
    {
        _taken--;
        if (from is not null && --_byAddress[from.Address] == 0)
        {
            _byAddress.Remove(from.Address);
        }

        if (peer is { IsShared: false, Name: var name } && --_byIdentity[name] == 0)
        {
            _byIdentity.Remove(name);
        }
    }
}
