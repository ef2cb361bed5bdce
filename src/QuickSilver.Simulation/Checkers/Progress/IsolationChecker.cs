using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Progress;

// I24: messages in views without a faulty member are not affected by faults of other nodes. They arrive within a bound that is too short to
// detect and remove a node.
internal sealed class IsolationChecker(TimeSpan bound) : ProgressChecker(bound)
{
    public override string Invariant => "I24";

    // An application may wait because it also sends to faulty nodes: ProgressChecker checks that.
    public override void On(in Waits waits)
    {
    }

    protected override bool Concerns(ImmutableArray<RegionView> views)
    {
        foreach (var view in views)
        {
            foreach (var member in view.Members)
            {
                if (IsTroubled(member))
                {
                    return false;
                }
            }
        }

        return true;
    }
}
