using QuickSilver.Simulation.Checkers.Progress;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// I21: what waits longer than a node's limit is named.
public sealed class StallCheckerTests
{
    private readonly RegionStory _story = new(new StallChecker(TimeSpan.FromSeconds(2)));

    [Fact]
    public void A_long_unnamed_wait_is_a_violation_and_reported_once()
    {
        _story.Pass(4);
        Wait(since: 0, named: null);
        Assert.Empty(_story.History.Violations);
        _story.Pass(0.1);
        Wait(since: 0, named: null);
        Wait(since: 0, named: null);
        _story.AssertViolated("I21", "node 2", "to publish to", "reports no cause", "the bound is 4.0 s");
        Assert.Equal(1, _story.History.ViolationCount);
    }

    [Fact]
    public void Named_waits_and_short_waits_are_no_violation()
    {
        _story.Pass(10);
        Wait(since: 0, named: "The membership service is out of reach.");
        Wait(since: 7, named: null);
        _story.History.AssertHolds();
    }

    private void Wait(double since, string? named) => _story.History.Waits(
        new Waits(_story.Now, 2, RegionStory.Topic, "to publish to", TimeSpan.FromSeconds(since), named));
}
