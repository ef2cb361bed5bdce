using QuickSilver.Simulation.Checkers;

namespace QuickSilver.Simulation.Tests.Checkers;

// T13: no node receives anything of a node without the right, and that node receives nothing.
public sealed class RightsCheckerTests
{
    [Fact]
    public void A_message_with_the_right_is_delivered()
    {
        var story = Story(mayPublish: true, subscriberWithout: 0);
        story.Send(1);
        story.Deliver(2, 1);
        story.Deliver(3, 1);
        story.History.AssertHolds();
    }

    [Fact]
    public void A_message_of_a_publisher_without_the_right_violates_it_when_any_node_delivers_it()
    {
        var story = Story(mayPublish: false, subscriberWithout: 0);
        story.Send(1, 2);
        story.Deliver(3, 2);
        story.AssertViolated("T13", "subscription 3 at node 3", "message 2 ", "node 1 may not publish");
    }

    [Fact]
    public void A_subscriber_without_the_right_violates_it_when_it_is_let_in()
    {
        var story = Story(mayPublish: true, subscriberWithout: 2);
        story.AssertViolated("T13", "subscription 2 at node 2", "was let in");
    }

    private static RegionStory Story(bool mayPublish, int subscriberWithout) => new(new RightsChecker
    {
        MayPublish = (node, topic) => mayPublish || node != RegionStory.SenderNode || topic != RegionStory.Topic,
        MaySubscribe = (node, _) => node != subscriberWithout,
    });
}
