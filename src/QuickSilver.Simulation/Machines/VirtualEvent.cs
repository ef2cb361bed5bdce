namespace QuickSilver.Simulation.Machines;

// Something that happens at a point of virtual time.
internal abstract class VirtualEvent
{
    /// <summary>The queue's own: what fires right after this one. An event is queued once at a time.</summary>
    internal VirtualEvent? Next { get; set; }

    /// <summary>True when firing would do nothing (a cancelled alarm): the queue may forget the event early.</summary>
    internal virtual bool IsStale => false;

    internal abstract void Fire();

    /// <summary>Called instead of Fire when the event is forgotten.</summary>
    internal virtual void Discard()
    {
    }
}

internal sealed class ActionEvent(Action action) : VirtualEvent
{
    internal override void Fire() => action();
}

// Something that a node's core thread does: it waits while the node is paused or busy, and never happens once it is dead.
internal abstract class NodeEvent(SimulatedEnvironment life) : VirtualEvent
{
    /// <summary>Whose it is: one that is used again may be of another life then.</summary>
    internal SimulatedEnvironment Life { get; private protected set; } = life;

    internal abstract TraceKind Kind { get; }

    internal override void Fire() => Life.Admit(this);

    internal abstract void Execute();
}
