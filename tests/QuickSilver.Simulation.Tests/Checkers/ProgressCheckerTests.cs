using QuickSilver.Simulation.Checkers.Progress;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// Progress while faults stand: I22, and I24 for nodes that share no view with a fault.
public sealed class ProgressCheckerTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(5);

    private readonly RegionStory _story = new(new ProgressChecker(Bound));

    [Fact]
    public void Arrivals_within_the_bound_pass()
    {
        _story.Trouble(3);
        _story.Send(1, 2);
        _story.Pass(4.9);
        _story.Deliver(2, 1, 2);
        _story.Pass(10);
        _story.History.AssertHolds();
    }

    [Fact]
    public void A_late_arrival_under_a_standing_fault_is_reported_once()
    {
        _story.Trouble(3);
        _story.Send(1);
        _story.Deliver(2, 1);
        _story.Pass(1);
        _story.Send(2);
        _story.Pass(4.9);
        Assert.Empty(_story.History.Violations);
        _story.Pass(0.2);
        _story.Pass(0.2);
        _story.AssertViolated("I22", "subscription 2 at node 2", "message 2 ", "the bound is 5.0 s");
        Assert.Equal(1, _story.History.ViolationCount);
    }

    [Fact]
    public void Nothing_is_owed_by_or_to_a_node_that_has_the_fault_or_is_gone()
    {
        _story.Trouble(3);
        _story.Send(1);
        _story.Deliver(2, 1);
        _story.Pass(10);
        _story.History.AssertHolds();

        var story = new RegionStory(new ProgressChecker(Bound));
        story.Trouble(RegionStory.SenderNode);
        story.Send(1);
        story.Pass(10);
        story.History.AssertHolds();

        story = new RegionStory(new ProgressChecker(Bound));
        story.Send(1);
        story.Stop(RegionStory.SenderNode);
        story.Pass(10);
        story.History.AssertHolds();
    }

    [Fact]
    public void The_bound_restarts_when_a_fault_begins_or_ends()
    {
        _story.Send(1);
        _story.Pass(4);
        _story.Trouble(3);
        _story.Pass(4);
        _story.Trouble(3, isTroubled: false);
        _story.Pass(4);
        Assert.Empty(_story.History.Violations);
        _story.Pass(2);
        _story.AssertViolated("I22", "subscription 2 at node 2", "subscription 3 at node 3");
    }

    [Fact]
    public void A_reader_that_does_not_read_excuses_its_own_topic_alone()
    {
        _story.Trouble(3, RegionStory.Topic);
        _story.Send(1);
        _story.Pass(10);
        _story.History.Waits(new Waits(_story.Now, 2, RegionStory.Topic, "to publish to", default));
        _story.History.AssertHolds();

        var story = new RegionStory(new ProgressChecker(Bound));
        story.Trouble(3, topic: 0xBEEF);
        story.Send(1);
        story.Pass(10);
        story.AssertViolated("I22", "message 1 ");
    }

    [Fact]
    public void An_application_that_waits_too_long_for_its_node_is_a_violation_unless_the_node_has_the_fault()
    {
        _story.Trouble(3);
        _story.Pass(10);
        _story.History.Waits(new Waits(_story.Now, 2, RegionStory.Topic, "to open", TimeSpan.FromSeconds(6)));
        _story.History.Waits(new Waits(_story.Now, 3, RegionStory.Topic, "to open", default));
        _story.History.AssertHolds();
        _story.Pass(10);
        _story.History.Waits(new Waits(_story.Now, 2, RegionStory.Topic, "to open", TimeSpan.FromSeconds(6)));
        _story.History.Waits(new Waits(_story.Now, 2, RegionStory.Topic, "to open", TimeSpan.FromSeconds(6)));
        _story.AssertViolated("I22", "node 2 has waited since 00:00:06 to open topic 000000000000f00d");
        Assert.Equal(1, _story.History.ViolationCount);
    }

    [Fact]
    public void A_topic_that_shares_no_view_with_a_fault_notices_nothing()
    {
        var story = new RegionStory(new IsolationChecker(Bound));
        story.Trouble(node: 9);
        story.Send(1);
        story.Deliver(2, 1);
        story.Deliver(3, 1);
        story.Pass(10);
        story.History.AssertHolds();
        story.Send(2);
        story.Deliver(3, 2);
        story.Pass(6);
        story.AssertViolated("I24", "subscription 2 at node 2", "message 2 ");
    }

    [Fact]
    public void Members_that_share_a_view_with_a_faulty_node_may_be_affected()
    {
        var story = new RegionStory(new IsolationChecker(Bound));
        story.Trouble(node: 3);
        story.Send(1);
        story.Pass(10);
        story.History.Waits(new Waits(story.Now, 2, RegionStory.Topic, "to publish to", default));
        story.History.AssertHolds();
    }
}
