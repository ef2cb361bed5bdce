using QuickSilver.Core.Transport;
using QuickSilver.Membership.Service.Places;

namespace QuickSilver.Membership.Service;

// The sessions that are open.
internal sealed class SessionTable(SessionLimits limits)
{
    private readonly List<ControlSession> _sessions = [];
    private readonly SessionPlaces _places = new(limits);

    public int Count => _sessions.Count;

    public bool HasRoomFor(IControlStream stream) => _places.HasRoomFor(stream);

    public void Add(ControlSession session)
    {
        _sessions.Add(session);
        _places.Take(session.RemoteEndPoint, session.Peer);
    }

    public void Remove(ControlSession session)
    {
        if (_sessions.Remove(session))
        {
            _places.GiveBack(session.RemoteEndPoint, session.Peer);
        }
    }

    /// <summary>As it is now; closing one takes it away.</summary>
    public ControlSession[] ToArray() => [.. _sessions];
}
