using QuickSilver.Core.Loop;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Machines;

// The rest of a simulated core thread between two turns. Where nothing is left to do it blocks, or naps a moment first.
//
//   awake -> napping     a nap is due, and ends at Since
//   awake -> asleep      blocks since Since
//   napping -> asleep    by time alone: the nap brought nothing, and the thread has blocked since
//   asleep -> awake      with the next turn; a turn within the nap does not end it
internal struct CoreRest()
{
    private readonly WakeModeration _moderation = new(new CoreThreadOptions().LongestNap);

    public bool IsAsleep { get; private set; }

    public bool IsNapping { get; private set; }

    /// <summary>When the thread began to block; of a nap, when that ends. In the time of the simulation.</summary>
    public TimeSpan Since { get; private set; }

    /// <summary>The thread has taken so many runs.</summary>
    public readonly void Took(int runs, TimeSpan now) => _moderation.Took(runs, now);

    /// <param name="isIdle">Whether nothing is left to do.</param>
    /// <param name="time">The time of the simulation.</param>
    /// <param name="now">The time of the machine.</param>
    public void Begin(bool isIdle, TimeSpan time, TimeSpan now)
    {
        Since = time;
        IsAsleep = isIdle;
        IsNapping = isIdle && _moderation.IsNapDue(now);
        if (IsNapping)
        {
            Since += _moderation.BeginNap();
        }
    }

    public void End(TimeSpan time, DriftingClock clock, bool hasInput)
    {
        if (!IsAsleep || (IsNapping && time <= Since))
        {
            return;
        }

        if (IsNapping)
        {
            // The nap brought nothing, and the thread has blocked since.
            _moderation.Took(0, clock.At(Since));
        }

        IsAsleep = IsNapping = false;
        _moderation.Slept(time - Since, hasInput);
    }
}
