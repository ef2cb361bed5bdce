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

// The bytes of topics that are named by nodes whose registration is not complete. One certificate, or one machine where none are shown, has
// no more of them than one node may need, so that it leaves room for others.
internal sealed class RegistrationRoom(SessionLimits limits)
{
    private readonly Dictionary<object, long> _byPeer = [];
    private long _all;

    /// <summary>Whose registration comes over the stream: a certificate, or a machine.</summary>
    public static object PeerOf(IControlStream stream) => stream.Peer is { IsShared: false, Name: var name } ? name
        : stream.RemoteEndPoint is { } remote ? remote.Address : "";

    public bool TryTake(object peer, long bytes)
    {
        long taken = _byPeer.GetValueOrDefault(peer) + bytes;
        if (_all + bytes > limits.MaxRegistrationBytesInAll || taken > limits.MaxRegistrationBytes)
        {
            return false;
        }

        _byPeer[peer] = taken;
        _all += bytes;
        return true;
    }

    public void GiveBack(object peer, long bytes)
    {
        long left = _byPeer.GetValueOrDefault(peer) - bytes;
        _all -= bytes;
        if (left > 0)
        {
            _byPeer[peer] = left;
        }
        else
        {
            _byPeer.Remove(peer);
        }
    }
}
