using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

// How the core thread waits when no work is left: until the next alarm, a socket or a wake, as a rule; a short rest
// instead where packet memory is lacking or a stream is worth gathering. A wake ends each of these.
internal sealed class IdleWait(IPoller poller, RunIntake intake, WakeModeration moderation, CoreCounters counters)
{
    // Without packet memory the sockets stay readable; looking again at once would be a spin.
    private static readonly TimeSpan StarvedNap = TimeSpan.FromMilliseconds(1);

    /// <summary>Waits until <paramref name="due"/> at most; how many sockets are ready.</summary>
    public int Wait(Func<TimeSpan> clock, TimeSpan due, IReadySource[] ready)
    {
        var now = clock();
        // Never negative, as one negative value means without end.
        var untilDue = due > now ? due - now : TimeSpan.Zero;
        if (intake.IsStarved)
        {
            int starved = Nap(StarvedNap, untilDue, ready);
            if (starved == 0)
            {
                intake.EndStarvation();
            }

            return starved;
        }

        if (moderation.IsNapDue(now))
        {
            // Never while something waits already: a rest is for gathering, not for falling behind.
            int waiting = poller.Wait(TimeSpan.Zero, ready);
            return waiting > 0 ? waiting : Nap(moderation.BeginNap(), untilDue, ready);
        }

        counters.Sleeps++;
        int count = poller.Wait(due == TimeSpan.MaxValue ? Timeout.InfiniteTimeSpan : untilDue, ready);
        moderation.Slept(clock() - now, count > 0);
        return count;
    }

    private int Nap(TimeSpan nap, TimeSpan untilDue, IReadySource[] ready)
    {
        counters.Naps++;
        poller.WaitForWake(nap < untilDue ? nap : untilDue);
        return poller.Wait(TimeSpan.Zero, ready);
    }
}
