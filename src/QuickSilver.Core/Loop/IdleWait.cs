using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

// How the core thread waits when no work is left: until the next alarm, a socket or a wake, as a rule; a short rest
// instead where packet memory is lacking or a stream is worth gathering. A wake ends each of these.
internal sealed class IdleWait(IPoller poller, CompletionIntake intake, WakeModeration moderation, CoreCounters counters)
{
    // Without packet memory the ports keep what they have; looking again at once would be a spin.
    private static readonly TimeSpan StarvedNap = TimeSpan.FromMilliseconds(1);

    /// <summary>Waits until <paramref name="due"/> at most; how many sources have completions.</summary>
    public int Wait(Func<TimeSpan> clock, TimeSpan due, CompletionSource[] completed)
    {
        var now = clock();
        // Never negative, as one negative value means without end.
        var untilDue = due > now ? due - now : TimeSpan.Zero;
        if (intake.IsStarved)
        {
            int starved = Nap(StarvedNap, untilDue, completed);
            if (starved == 0)
            {
                intake.EndStarvation();
            }

            return starved;
        }

        if (moderation.IsNapDue(now))
        {
            // Never while something waits already: a rest is for gathering, not for falling behind.
            int waiting = poller.Wait(TimeSpan.Zero, completed);
            return waiting > 0 ? waiting : Nap(moderation.BeginNap(), untilDue, completed);
        }

        counters.Sleeps++;
        int count = poller.Wait(due == TimeSpan.MaxValue ? Timeout.InfiniteTimeSpan : untilDue, completed);
        moderation.Slept(clock() - now, count > 0);
        return count;
    }

    private int Nap(TimeSpan nap, TimeSpan untilDue, CompletionSource[] completed)
    {
        counters.Naps++;
        poller.WaitForWake(nap < untilDue ? nap : untilDue);
        return poller.Wait(TimeSpan.Zero, completed);
    }
}
