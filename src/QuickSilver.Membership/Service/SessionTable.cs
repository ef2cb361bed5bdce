using System.Net;

namespace QuickSilver.Membership.Service;

// The sessions that are open, and how many of them come from each address: one machine cannot take the places of all others.
internal sealed class SessionTable(SessionLimits limits)
{
    private readonly List<ControlSession> _sessions = [];
    private readonly Dictionary<IPAddress, int> _byAddress = [];

    public int Count => _sessions.Count;

    public bool HasRoomFor(IPEndPoint? remote) => _sessions.Count < limits.MaxSessions
        && (remote is null || _byAddress.GetValueOrDefault(remote.Address) < limits.MaxSessionsPerAddress);

    public void Add(ControlSession session)
    {
        _sessions.Add(session);
        if (session.RemoteEndPoint is { } remote)
        {
            _byAddress[remote.Address] = _byAddress.GetValueOrDefault(remote.Address) + 1;
        }
    }

    public void Remove(ControlSession session)
    {
        if (_sessions.Remove(session) && session.RemoteEndPoint is { } remote && --_byAddress[remote.Address] == 0)
        {
            _byAddress.Remove(remote.Address);
        }
    }

    /// <summary>As it is now; closing one takes it away.</summary>
    public ControlSession[] ToArray() => [.. _sessions];
}
