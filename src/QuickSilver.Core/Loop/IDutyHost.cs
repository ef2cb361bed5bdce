using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Loop;

// What runs a duty cycle: a thread on a machine, or the simulator in virtual time. It provides the time, is notified of each step, and
// decides what happens after an exception that a handler did not catch.
internal interface IDutyHost
{
    /// <summary>Monotonic time. Steps take time, so it moves within a turn.</summary>
    TimeSpan Now { get; }

    /// <summary>A received run is about to be handed to its receiver.</summary>
    void BeginRun(PortSource port, in PlacedRun run);

    /// <summary>A step that began at <paramref name="began"/> is done. Returns the time, at which the next step begins.</summary>
    TimeSpan EndStep(object handler, TimeSpan began);

    /// <summary>
    /// The thread stood still: in a step of this handler or, without one, between two steps. Reports it, and returns what held it up.
    /// </summary>
    PauseCause OnPause(object? handler, TimeSpan length);

    void OnEscaped(Exception exception, object handler);
}
