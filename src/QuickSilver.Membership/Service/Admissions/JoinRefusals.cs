using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service.Sessions;

namespace QuickSilver.Membership.Service.Admissions;

// Notifies nodes that the service does not admit of the reason, and records it. A node asks again every second or so, and gets the same
// answer. Several nodes take turns with several reasons, so each reason is counted.
internal sealed class JoinRefusals(SessionContext context)
{
    // Reasons contain what nodes have sent. All beyond these have one count.
    private const int MostReasons = 16;

    private readonly Dictionary<string, long> _times = new(StringComparer.Ordinal);
    private long _others;

    public void Refuse(ControlSession session, string why)
    {
        long all = ++context.Counters.JoinsRefused;
        if (RepeatedEvent.IsLogged(Count(why)))
        {
            Record(session, why, all);
        }

        session.SayLast(ReasonMessage.Refused(why));
    }

    private long Count(string why)
    {
        if (_times.Count == MostReasons && !_times.ContainsKey(why))
        {
            return ++_others;
        }

        long times = _times.GetValueOrDefault(why) + 1;
        _times[why] = times;
        return times;
    }

    // Once: a peer that has proved its identity is in the audit.
    private void Record(ControlSession session, string why, long all)
    {
        if (session.Peer is { } peer)
        {
            context.Audit.SessionRefused(peer.Name, session.RemoteEndPoint, why.TrimEnd('.'), all);
        }
        else
        {
            context.Logger.JoinRefused(session.RemoteEndPoint, why);
        }
    }
}
