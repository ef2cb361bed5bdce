namespace QuickSilver.Simulation.Checkers.Progress;

// I21: no unnamed stall. An application that waits for its node longer than the node's limit finds the cause in the node's status, whoever
// is at fault: the fault may stand, silence about it may not. A node looks twice within its limit, so it has named what waits by twice the
// limit; what waits is told once.
internal sealed class StallChecker(TimeSpan limit) : HistoryChecker
{
    private readonly HashSet<(int Node, ulong Topic, TimeSpan Since)> _told = [];

    public override string Invariant => "I21";

    private TimeSpan Bound => limit * 2;

    public override void On(in Waits waits)
    {
        if (waits.Named is null && waits.At - waits.Since > Bound && _told.Add((waits.Node, waits.Topic, waits.Since)))
        {
            string who = $"The application of node {waits.Node} waits since {waits.Since:c} {waits.What} topic {waits.Topic:x16}";
            Violate(waits.At, $"{who}, and the node does not say why; {Bound.TotalSeconds:F1} s are the bound.");
        }
    }
}
