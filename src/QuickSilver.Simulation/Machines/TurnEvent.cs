namespace QuickSilver.Simulation.Machines;

// The next turn of a node's core thread. These come by the million, so they are used again, by whichever node of the cluster is the next to
// need one. One that another turn comes before is left in the queue of events, where it does nothing.
internal sealed class TurnEvent : VirtualEvent
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
        _spare = _life.Cluster.SpareTurns;
        _life = null!;
        time.NoteStale();
    }

    private Stack<TurnEvent>? _spare;

    internal override void Fire()
    {
        var life = _life;
        _life = null!;
        life.Cluster.SpareTurns.Push(this);
        life.OnTurn();
    }

    internal override void Discard()
    {
        _spare!.Push(this);
        _spare = null;
    }
}
