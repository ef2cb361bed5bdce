using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Arbitration;

// Tests a node that joins from an address from which a member was removed because no datagrams passed. The test comes before the node is in
// any view: otherwise it would stop the others' topics again until it is removed. It must reach the members that the removed one had not
// met, and one at random, in more consecutive rounds the more often a member was removed. Members that it reaches are proof enough, so the
// service's own port may be closed to datagrams. A node that is refused gets the reason and tries again within about a second.
//
// A node alone with the service is admitted without a test: it can hold up no other node, and the next node to join will show which one is
// faulty.
internal sealed class Entrance(
    SessionContext context, Inquiries inquiries, IMemberRoll roll, RemovedAddresses removed, FirewallAdvice advice)
{
    private const int MaxTargets = 3;
    private const int Draws = 8;
    private static readonly TimeSpan Round = TimeSpan.FromMilliseconds(500);

    /// <summary>True when the node may come in; otherwise it is tried, and <paramref name="admit"/> follows if it succeeds.</summary>
    public bool MayEnter(ControlSession session, JoinMessage join, Action admit)
    {
        var record = removed.Find(join.EndPoint.Address, context.Environment.Now);
        var targets = record is null ? [] : Targets(record, join.Node);
        if (targets.Length == 0)
        {
            return true;
        }

        session.BeginProof();
        Try(session, join, record!, admit, succeeded: 0);
        return false;
    }

    private void Try(ControlSession session, JoinMessage join, RemovedAddresses.Record record, Action admit, int succeeded)
    {
        var targets = Targets(record, join.Node);
        inquiries.Ask(session, targets, Round * 0.8, findings =>
        {
            if (findings.Targets.Any != (1UL << targets.Length) - 1)
            {
                Refuse(session, join, record, targets, findings);
            }
            else if (succeeded + 1 >= record.Rounds || targets.IsEmpty)
            {
                admit();
            }
            else
            {
                var next = new Alarm(() =>
                {
                    if (session.IsProving)
                    {
                        Try(session, join, record, admit, succeeded + 1);
                    }
                });
                context.Environment.Schedule(next, Round);
            }
        });
    }

    private void Refuse(
        ControlSession session, JoinMessage join, RemovedAddresses.Record record, ImmutableArray<IPEndPoint> targets, Findings findings)
    {
        record.LastAt = context.Environment.Now;
        context.Counters.JoinsRefused++;
        var unmet = targets.Where((_, i) => !findings.Reaches(i));
        string reason = $"A node at {join.EndPoint.Address} was removed because its datagrams were lost, and they are still lost between"
            + $" {join.EndPoint} and {string.Join(", ", unmet)}{(findings.IsServiceReached ? "" : " or the service")}, although its"
            + $" connection to the service works; {advice.For(join.EndPoint)}. It is admitted when datagrams pass.";
        if (!record.IsLogged)
        {
            record.IsLogged = true;
            context.Logger.JoinRefused(session.RemoteEndPoint, reason);
        }

        session.SayLast(ReasonMessage.Refused(reason));
    }

    private ImmutableArray<IPEndPoint> Targets(RemovedAddresses.Record record, NodeKey self)
    {
        var targets = new List<Member>();
        foreach (var node in record.Unmet)
        {
            Add(roll.Find(node));
        }

        for (int draw = 0; draw < Draws && targets.Count < MaxTargets; draw++)
        {
            Add(roll.Draw(context.Environment.NextRandom()));
        }

        return [.. targets.Select(member => member.Info.EndPoint)];

        void Add(Member? member)
        {
            if (member is not null && member.Key.Id != self.Id && targets.Count < MaxTargets && !targets.Contains(member))
            {
                targets.Add(member);
            }
        }
    }
}
