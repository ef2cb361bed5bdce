using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;

namespace QuickSilver.Membership.Service.Takeover;

// Notifies the members why nothing changes while the store does not grant the number of the next configuration. They see a service that
// answers, and would wait without a reason for topics that do not open and for members that are not removed.
internal sealed class WaitingClaim
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);

    private readonly SessionContext _context;
    private readonly IMembershipStore _store;
    private readonly MemberTable _members;
    private readonly Alarm _alarm;
    private TimeSpan _since;
    // The reason in the last notification; null: there is none.
    private string? _reason;

    public WaitingClaim(SessionContext context, IMembershipStore store, MemberTable members)
    {
        (_context, _store, _members) = (context, store, members);
        _alarm = new Alarm(OnWaits);
    }

    /// <summary>A number is claimed and not granted at once.</summary>
    public void Begin()
    {
        _since = _context.Environment.Now;
        _context.Environment.Schedule(_alarm, Limit);
    }

    /// <summary>It is granted, or is not waited for any more.</summary>
    public void End()
    {
        _context.Environment.Cancel(_alarm);
        if (_reason is not null)
        {
            _reason = null;
            _context.Logger.ChangesGoOn(_context.Environment.Now - _since);
            SendToAll(ReasonMessage.Waiting(""));
        }
    }

    /// <summary>A node has been taken in.</summary>
    public void Notify(ControlSession session)
    {
        if (_reason is not null)
        {
            session.Send(ReasonMessage.Waiting(_reason));
        }
    }

    private void OnWaits()
    {
        string reason = _store.Obstacle ?? "its store does not answer.";
        if (reason != _reason)
        {
            _reason = reason;
            _context.Logger.ChangesWait(_context.Environment.Now - _since, reason);
            SendToAll(ReasonMessage.Waiting(reason));
        }

        _context.Environment.Schedule(_alarm, Limit);
    }

    private void SendToAll(ReasonMessage message)
    {
        foreach (var member in _members)
        {
            member.Session?.Send(message);
        }
    }
}
