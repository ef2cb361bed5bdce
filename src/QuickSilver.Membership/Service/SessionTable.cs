using System.Net;
using QuickSilver.Core.Transport;

namespace QuickSilver.Membership.Service;

// The sessions that are open, and how many of them come from each address: one machine cannot take the places of all others.
internal sealed class SessionTable(SessionLimits limits)
{
    private readonly List<ControlSession> _sessions = [];
    private readonly Dictionary<IPAddress, int> _byAddress = [];
    // Of certificates. A secret is that of all nodes.
    private readonly Dictionary<string, int> _byIdentity = [];

    public int Count => _sessions.Count;

    public bool HasRoomFor(IControlStream stream) => _sessions.Count < limits.MaxSessions
        && (stream.RemoteEndPoint is not { } remote || _byAddress.GetValueOrDefault(remote.Address) < limits.MaxSessionsPerAddress)
        && (stream.Peer is not { IsShared: false, Name: var name }
            || _byIdentity.GetValueOrDefault(name) < limits.MaxSessionsPerIdentity);

    public void Add(ControlSession session)
    {
        _sessions.Add(session);
        if (session.RemoteEndPoint is { } remote)
        {
            _byAddress[remote.Address] = _byAddress.GetValueOrDefault(remote.Address) + 1;
        }

        if (session.Peer is { IsShared: false, Name: var name })
        {
            _byIdentity[name] = _byIdentity.GetValueOrDefault(name) + 1;
        }
    }

    public void Remove(ControlSession session)
    {
        if (!_sessions.Remove(session))
        {
            return;
        }

        if (session.RemoteEndPoint is { } remote && --_byAddress[remote.Address] == 0)
        {
            _byAddress.Remove(remote.Address);
        }

        if (session.Peer is { IsShared: false, Name: var name } && --_byIdentity[name] == 0)
        {
            _byIdentity.Remove(name);
        }
    }

    /// <summary>As it is now; closing one takes it away.</summary>
    public ControlSession[] ToArray() => [.. _sessions];
}
