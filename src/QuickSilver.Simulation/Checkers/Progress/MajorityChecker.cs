namespace QuickSilver.Simulation.Checkers.Progress;

// I23: a side with the majority loses nobody by a partition or its healing. As told by who breaks things: nodes that have a fault, such
// as a minority that is cut off, may be removed; where all others together are more than half, none of them may, neither while the
// fault stands nor when it ends.
internal sealed class MajorityChecker(int nodes) : HistoryChecker
{
    private readonly HashSet<int> _troubled = [];

    public override string Invariant => "I23";

    public override void On(in Troubled troubled)
    {
        if (troubled.Topic == 0 && troubled.IsTroubled)
        {
            _troubled.Add(troubled.Node);
        }
    }

    public override void On(in Expelled expelled)
    {
        int healthy = nodes - _troubled.Count;
        if (healthy * 2 > nodes && !_troubled.Contains(expelled.Node))
        {
            string side = $"{healthy} of {nodes} nodes are on the healthy side with it";
            Violate(expelled.At, $"Node {expelled.Node} ({expelled.Life}) was removed, and nothing was wrong with it: {side}.");
        }
    }
}
