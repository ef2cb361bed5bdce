using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Progress;

// I21: no stall without a reported cause. If an application waits for its node longer than the node's limit, the node's status contains the
// cause, wherever the fault is. The fault may persist, but it must be reported. A node looks twice within its limit, so it has reported the
// cause after twice the limit. Each wait is reported once.
internal sealed class StallChecker(TimeSpan limit) : HistoryChecker
{
    private readonly HashSet<(int Node, ulong Topic, TimeSpan Since)> _reported = [];

    public override string Invariant => "I21";

    private TimeSpan Bound => limit * 2;

    public override void On(in Waits waits)
    {
        if (waits.Named is null && waits.At - waits.Since > Bound && _reported.Add((waits.Node, waits.Topic, waits.Since)))
        {
            string who = $"The application of node {waits.Node} has waited since {waits.Since:c} {waits.What} topic {waits.Topic:x16}";
            Violate(waits.At, $"{who}, and the node reports no cause; the bound is {Bound.TotalSeconds:F1} s.");
        }
    }
}
