using QuickSilver.Core.Background;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Machines;

// Where user code continues after an await: on the simulation's thread, in virtual time, in the order in which it became able
// to. While protocol code runs there is no context at all: what the library awaits must continue within the event that completed
// it, which the runtime does only where no context stands in the way.
internal abstract class SimulationContext(VirtualTime time, EscapeWatch escapes) : SoleThreadContext
{
    public sealed override void Post(SendOrPostCallback d, object? state)
    {
        if (time.IsOwnThread)
        {
            Enqueue(d, state);
        }
        else
        {
            escapes.Note();
        }
    }

    public sealed override void Send(SendOrPostCallback d, object? state)
    {
        time.CheckThread();
        Run(d, state);
    }

    public sealed override SynchronizationContext CreateCopy() => this;

    internal void Run(SendOrPostCallback step, object? state)
    {
        var outer = Current;
        SetSynchronizationContext(this);
        try
        {
            step(state);
        }
        finally
        {
            SetSynchronizationContext(outer);
        }
    }

    protected abstract void Enqueue(SendOrPostCallback step, object? state);
}

// Of one process: each step is an event of its machine, so that it waits while the process is paused, takes the time that
// the machine's model says, stands in the trace, and never happens after the process has ended.
internal sealed class ProcessContext(SimulatedEnvironment life, EscapeWatch escapes) : SimulationContext(life.Cluster.Time, escapes)
{
    protected override void Enqueue(SendOrPostCallback step, object? state) => life.PostStep(this, step, state);
}

// Of the test itself, which belongs to no machine: no fault touches it.
internal sealed class ScenarioContext(VirtualTime time, EscapeWatch escapes) : SimulationContext(time, escapes)
{
    private readonly VirtualTime _time = time;

    protected override void Enqueue(SendOrPostCallback step, object? state) =>
        _time.At(_time.Now, new ActionEvent(() => Run(step, state)));
}
