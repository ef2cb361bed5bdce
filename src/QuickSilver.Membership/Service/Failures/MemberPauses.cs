using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service.Arbitration;
using QuickSilver.Membership.Service.Sessions;

namespace QuickSilver.Membership.Service.Failures;

// What the service does after pauses: its own, and those that members report.
//
// A report of a pause is a claim. It counts only as far as the member was indeed silent here. It also counts only from time to time, or if
// the member was silent for twice as long as ever. Otherwise a node that is silent for a heartbeat after each claim would never be judged.
internal sealed class MemberPauses(
    SessionContext context,
    FailureDetectorOptions options,
    FailureDetector failures,
    FaultArbitrations arbitrations,
    MemberTable members,
    SessionTable sessions)
    : IPauseObserver
{
    // A node that stands still again and again is excused for a tenth of the time, at most.
    private const int ExcusedPart = 10;

    /// <summary>A member reports a pause. Called before the member counts as heard.</summary>
    public void OnPaused(Member member, PausedMessage pause)
    {
        var now = context.Environment.Now;
        var silence = now - member.LastHeard;
        context.Counters.PausesReported++;
        if (RepeatedEvent.IsLogged(++member.Pauses))
        {
            double length = pause.Length.TotalMilliseconds;
            context.Logger.NodeStoodStill(member.Named, length, pause.Cause, silence.TotalMilliseconds, member.Pauses);
        }

        var excused = pause.Length < silence ? pause.Length : silence;
        bool isDue = now >= member.MayBeExcusedAt || excused > member.LongestExcused * 2;
        if (excused >= options.HeartbeatInterval / 2 && isDue)
        {
            member.LongestExcused = excused > member.LongestExcused ? excused : member.LongestExcused;
            member.MayBeExcusedAt = now + (excused * ExcusedPart) + options.Silence;
            context.Counters.PausesExcused++;
            failures.Excuse(member.Key, now);
            arbitrations.Excuse(member.Key);
        }
    }

    /// <summary>The service itself stood still. Messages that came meanwhile are not read yet.</summary>
    public void OnPause(in Pause pause)
    {
        var now = context.Environment.Now;
        failures.OnPause(pause.Length, now);
        arbitrations.OnPause(pause.Length);
        foreach (var member in members)
        {
            member.LastHeard = Pause.LeaveOut(pause.Length, member.LastHeard, now);
        }

        foreach (var session in sessions.ToArray())
        {
            session.OnPause(pause.Length);
        }

        if (pause.Length >= options.HeartbeatInterval / 2)
        {
            context.Logger.ServiceStoodStill(pause.Length.TotalMilliseconds, pause.Cause);
        }
    }
}
