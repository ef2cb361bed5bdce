using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Simulation.Machines.Time;

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

// Something that completes at a node: its core thread takes it in with the next turn. It waits while the node is paused or busy, and never
// happens once the node is dead.
internal abstract class NodeEvent(ISimulatedLife life) : VirtualEvent
{
    private NodeCompletion? _source;

    internal ISimulatedLife Life { get; } = life;

    /// <summary>What completes.</summary>
    internal abstract CompletionKind Kind { get; }

    internal override void Fire() => Life.Admit(this);

    internal abstract void Execute();

    /// <summary>The event as the core thread takes it.</summary>
    internal NodeCompletion AsCompletion() => _source ??= new NodeCompletion(this);
}

// Yields its event once for each time that it was admitted.
internal sealed class NodeCompletion(NodeEvent what) : CompletionSource
{
    private int _admitted;

    public NodeEvent Event => what;

    public override bool IsClosed => !what.Life.IsAlive;

    /// <summary>Whether it is to be taken, and no other source waits in its place.</summary>
    public bool HasCompletions => _admitted > 0;

    public void Admit() => _admitted++;

    public override TakeOutcome TryTake(RunMemory memory, out Completion completion)
    {
        completion = default;
        if (_admitted == 0 || IsClosed)
        {
            return TakeOutcome.Nothing;
        }

        _admitted--;
        completion = new Completion(this, what.Kind);
        return TakeOutcome.Taken;
    }

    public override void OnCompletion(in Completion completion) => what.Execute();

    public override void OnDropped(in Completion completion) => what.Discard();

    public override string ToString() => what.GetType().Name;
}
