namespace QuickSilver.Core.Environment;

// What held up a core thread. The numbers are those of the wire.
internal enum PauseCause : byte
{
    // The system did not run the process: it was suspended, its machine was stopped, or other processes had the processors.
    NotRunning = 0,
    // The garbage collector stopped the process.
    Collector = 1,
    // The JIT compiler, at the first run of a method.
    Compiler = 2,
    // A step of the core thread took long, usually because a handler blocked it.
    Handler = 3,
}

// A time for which a core thread did nothing of what was due: nothing was read, sent or fired. The length is what is certain. A thread that
// stops while it waits for an event has stopped for longer, but nothing waited before the first alarm was due.
internal readonly record struct Pause(TimeSpan Length, PauseCause Cause)
{
    /// <summary>The cause with this number. One that this version does not know counts as 0.</summary>
    public static PauseCause CauseOf(ulong number) =>
        number <= (ulong)PauseCause.Handler ? (PauseCause)number : PauseCause.NotRunning;

    /// <summary>
    /// From when on to count what began then, if a pause of so long is left out: not from the future, as it may have begun in the pause.
    /// </summary>
    public static TimeSpan LeaveOut(TimeSpan length, TimeSpan began, TimeSpan now) => began + length < now ? began + length : now;
}

// Notified of pauses of its own node, on the core thread, as soon as the pause is over: before anything is read that came meanwhile, and
// before any alarm fires that became due. So what measures the silence of others can leave out the time in which this node did not listen.
internal interface IPauseObserver
{
    void OnPause(in Pause pause);
}

// The observers of the pauses of one node. Core thread only.
internal sealed class PauseObservers
{
    // Exchanged at each change; few nodes have more than three.
    private IPauseObserver[] _observers = [];

    public void Add(IPauseObserver observer) => _observers = [.. _observers, observer];

    public void Remove(IPauseObserver observer) => _observers = Array.FindAll(_observers, one => one != observer);

    public void Report(in Pause pause)
    {
        foreach (var observer in _observers)
        {
            observer.OnPause(pause);
        }
    }
}
