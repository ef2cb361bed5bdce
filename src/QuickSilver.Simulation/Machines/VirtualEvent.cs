using QuickSilver.Core.Requests;

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

// Something that reaches a node's core thread as a request: it waits while the node is paused or busy, and never happens once it is dead.
internal abstract class NodeEvent(SimulatedEnvironment life) : VirtualEvent
{
    private NodeRequest? _request;

    internal SimulatedEnvironment Life { get; } = life;

    internal override void Fire() => Life.Admit(this);

    internal abstract void Execute();

    /// <summary>The event as the core thread's queue holds it.</summary>
    internal Request AsRequest() => _request ??= new NodeRequest(this);
}

internal sealed class NodeRequest(NodeEvent what) : Request
{
    public NodeEvent Event => what;

    public override void Execute() => what.Execute();

    public override string ToString() => what.GetType().Name;
}
