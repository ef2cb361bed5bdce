using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Membership.Service;

// Tells nodes that the service does not take in why not, and records it. A node asks again every second or so, and gets the same answer.
internal sealed class JoinRefusals(SessionContext context)
{
    // The last one, and how often it came in a row.
    private (string? Why, long Times) _last;

    public void Refuse(ControlSession session, string why)
    {
        long all = ++context.Counters.JoinsRefused;
        _last = why == _last.Why ? (why, _last.Times + 1) : (why, 1);
        if (RepeatedEvent.IsLogged(_last.Times))
        {
            context.Logger.JoinRefused(session.RemoteEndPoint, why);
            if (session.Peer is { } peer)
            {
                context.Audit.SessionRefused(peer.Name, session.RemoteEndPoint, why, all);
            }
        }

        session.Send(ReasonMessage.Refused(why));
        session.CloseAfterLastWord();
    }
}
