using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Membership.Service.Quotas;

namespace QuickSilver.Membership.Service.Sessions;

// The sessions that are open.
internal sealed class SessionTable(SessionLimits limits)
{
    private readonly List<ControlSession> _sessions = [];
    private readonly SessionQuotas _places = new(limits);
    private bool _isClosed;

    public int Count => _sessions.Count;

    public bool HasRoomFor(IControlStream stream) => !_isClosed && _places.HasRoomFor(stream);

    /// <summary>The process may open few more descriptors: a session that has said nothing yet is closed, if there is one.</summary>
    public void GiveWayTo(IPAddress newcomer, SessionContext context)
    {
        if (FindUnheard(newcomer) is { } session)
        {
            bool isLogged = RepeatedEvent.IsLogged(++context.Counters.SessionsDisplaced);
            string? shortage = context.Environment.Descriptors?.Shortage;
            session.Close(isLogged ? $"{shortage}, and this client, which has said nothing yet, gave way to another one" : null);
        }
    }

    private ControlSession? FindUnheard(IPAddress newcomer)
    {
        var unheard = _sessions
            .Where(static session => session is { IsUnheard: true, RemoteEndPoint: not null })
            .Select(static session => (session.RemoteEndPoint!.Address, session))
            .ToArray();
        var counts = unheard.CountBy(static one => one.Address).ToDictionary();
        return GivingWay.Find(unheard, address => counts[address], counts.GetValueOrDefault(newcomer))
            ?? Array.Find(unheard, one => one.Address.Equals(newcomer)).session;
    }

    /// <summary>There is no room any more.</summary>
    public void Close() => _isClosed = true;

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

    /// <summary>
    /// All sessions forget what was sent. If too much is still kept, the backlogs of members without a session are cleared, which get
    /// everything when they come back. Then the sessions that keep most are closed, until there is some room.
    /// </summary>
    public void MakeRoom(KeptBytes kept, MemberTable members)
    {
        _sessions.ForEach(static session => session.ForgetSent());
        if (kept.IsExceeded)
        {
            members.FindAll(static member => member.Session is null).ForEach(static member => member.Backlog.Clear());
            foreach (var session in _sessions.OrderByDescending(static session => session.ShareOfKept).ToArray())
            {
                if (!kept.HasLittleRoom)
                {
                    break;
                }

                session.CloseForRoom();
            }
        }

        kept.OnLooked();
    }

    /// <summary>As it is now; closing one takes it away.</summary>
    public ControlSession[] ToArray() => [.. _sessions];
}
