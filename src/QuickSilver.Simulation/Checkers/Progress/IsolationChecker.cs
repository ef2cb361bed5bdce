using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers.Progress;

// I24: what goes to views in which no member has a fault does not notice that others have: it arrives within a bound that is too short
// for finding out and removing anybody.
internal sealed class IsolationChecker(TimeSpan bound) : ProgressChecker(bound)
{
    public override string Invariant => "I24";

    // Its own application may wait because of what else it sends, to where the fault is: that is a matter of progress.
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
