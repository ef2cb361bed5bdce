namespace QuickSilver.Simulation.Machines.Time;

// The next turn of a node's core thread. These come by the million, so they are used again, by whichever node of the cluster is the next to
// need one. One that another turn comes before is left in the queue of events, where it does nothing.
internal sealed class TurnEvent(Stack<TurnEvent> spare) : VirtualEvent
{
    private SimulatedEnvironment _life = null!;

    internal TimeSpan Due { get; private set; }

    internal override bool IsStale => _life is null;

    internal void Attach(SimulatedEnvironment life, TimeSpan due)
    {
        _life = life;
        Due = due;
    }

    /// <summary>The turn comes earlier, or never.</summary>
    internal void Withdraw()
    {
        var time = _life.Cluster.Time;
        _life = null!;
        time.NoteStale();
    }

    internal override void Fire()
    {
        var life = _life;
        _life = null!;
        spare.Push(this);
        life.OnTurn();
    }

    internal override void Discard() => spare.Push(this);
}
