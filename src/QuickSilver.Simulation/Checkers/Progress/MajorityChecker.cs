using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Progress;

// I23: a majority loses no member by a partition or by its end. The injector of faults reports which nodes are faulty. Faulty nodes, such
// as a minority that is cut off, may be removed. If the other nodes are more than half, none of them may be removed, neither during the
// fault nor when it ends.
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
            Violate(expelled.At, $"Node {expelled.Node} ({expelled.Life}) was removed, although it had no fault: {side}.");
        }
    }
}
