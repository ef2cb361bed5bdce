using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Progress;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// Checkers of single promises: that stable is held (I11), that best effort reports what it loses (I1), that a majority loses no node (I23),
// and that tables return to their size (I17).
public sealed class PromiseCheckerTests
{
    [Fact]
    public void A_stable_message_reaches_all_live_subscribers_even_after_its_sender_departed()
    {
        var story = new RegionStory(new StableChecker());
        story.Send(1, 2);
        story.Deliver(2, 1, 2);
        story.Deliver(3, 1);
        story.History.Stable(story.Now, RegionStory.Message(1));
        story.Stop(RegionStory.SenderNode);
        story.History.AssertHolds();

        story = new RegionStory(new StableChecker());
        story.Send(1, 2);
        story.Deliver(2, 1, 2);
        story.Deliver(3, 1);
        story.History.Stable(story.Now, RegionStory.Message(2));
        story.Stop(RegionStory.SenderNode);
        story.AssertViolated("I11", "subscription 3 at node 3", "message 2 ", "its sender is gone since");
    }

    [Fact]
    public void A_gap_does_not_excuse_the_loss_of_what_was_stable_and_an_end_does()
    {
        var story = new RegionStory(new StableChecker());
        story.Send(1);
        story.Deliver(2, 1);
        story.Tell(3, 1, 1);
        story.History.Stable(story.Now, RegionStory.Message(1));
        story.Stop(3);
        story.History.AssertHolds();

        story = new RegionStory(new StableChecker());
        story.Send(1);
        story.Deliver(2, 1);
        story.Tell(3, 1, 1);
        story.History.Stable(story.Now, RegionStory.Message(1));
        story.AssertViolated("I11", "subscription 3 at node 3");
    }

    [Fact]
    public void Best_effort_delivers_or_reports_each_message_the_last_one_too()
    {
        var story = BestEffort();
        story.Send(1, 2, 3, 4);
        story.Deliver(2, 1, 2, 3, 4);
        story.Deliver(3, 1);
        story.Tell(3, 2, 3);
        Assert.False(story.History.IsComplete);
        story.Tell(3, 4, 4);
        Assert.True(story.History.IsComplete);
        story.History.AssertHolds();

        story = BestEffort();
        story.Send(1, 2);
        story.Deliver(2, 1, 2);
        story.Deliver(3, 1);
        story.AssertViolated("I1", "subscription 3 at node 3", "neither received message 2 ");
    }

    [Fact]
    public void Nothing_is_owed_of_a_sender_that_is_gone_or_of_a_reliable_topic()
    {
        var story = BestEffort();
        story.Send(1);
        story.Stop(RegionStory.SenderNode);
        story.History.AssertHolds();

        story = new RegionStory(new BestEffortChecker());
        story.Send(1);
        story.History.AssertHolds();
    }

    [Fact]
    public void Other_checkers_leave_best_effort_to_its_own()
    {
        var story = new RegionStory(
            new DeliveryViewChecker { IsBestEffort = IsTopic }, new AgreementChecker { IsBestEffort = IsTopic },
            new LivenessChecker { IsBestEffort = IsTopic }, new StableChecker { IsBestEffort = IsTopic });
        story.History.Subscribed(story.Now, RegionStory.Endpoint(2));
        story.Pass(1);
        story.History.Published(story.Now, RegionStory.Message(1), 0);
        story.Send(1);
        story.History.Stable(story.Now, RegionStory.Message(1));
        Assert.True(story.History.IsComplete);
        story.History.AssertHolds();
    }

    [Fact]
    public void A_majority_loses_no_node()
    {
        var story = new RegionStory(new MajorityChecker(nodes: 5));
        story.Trouble(2);
        story.History.Expelled(story.Now, 2, RegionStory.LifeOf(2));
        story.History.AssertHolds();
        story.Trouble(2, isTroubled: false);
        story.History.Expelled(story.Now, 2, RegionStory.LifeOf(2));
        story.History.Expelled(story.Now, 3, RegionStory.LifeOf(3));
        story.AssertViolated("I23", "Node 3 ", "4 of 5 nodes");
        Assert.Equal(1, story.History.ViolationCount);
    }

    [Fact]
    public void Without_a_majority_on_any_side_nothing_is_guaranteed()
    {
        var story = new RegionStory(new MajorityChecker(nodes: 4));
        story.Trouble(1);
        story.Trouble(2);
        story.History.Expelled(story.Now, 3, RegionStory.LifeOf(3));
        story.History.AssertHolds();
    }

    [Fact]
    public void Tables_return_to_their_size_after_churn()
    {
        var story = new RegionStory(new TablesChecker { Allowance = 10 });
        Read(story, RegionStory.Sender, ("peers", 0), ("closed", 100));
        Read(story, RegionStory.Sender, ("peers", 4), ("closed", 10));
        Read(story, RegionStory.Sender, ("peers", 16), ("closed", 160), ("new", 10));
        // Another life begins again.
        Read(story, new NodeKey(0xA, 2), ("peers", 1000));
        story.History.AssertHolds();
        Read(story, RegionStory.Sender, ("peers", 17), ("closed", 161));
        story.AssertViolated("I17", "17 entries in peers; there were 4", "161 entries in closed");
    }

    [Fact]
    public void A_table_with_a_bound_may_grow_up_to_it()
    {
        var story = new RegionStory(new TablesChecker { Bounded = new Dictionary<string, long> { ["closed"] = 500 } });
        Read(story, RegionStory.Sender, ("closed", 1));
        Read(story, RegionStory.Sender, ("closed", 2));
        Read(story, RegionStory.Sender, ("closed", 500));
        story.History.AssertHolds();
        Read(story, RegionStory.Sender, ("closed", 501));
        story.AssertViolated("I17", "501 entries in closed");
    }

    [Fact]
    public void A_table_of_leaders_may_have_so_many_times_as_much_as_another()
    {
        var led = new Dictionary<string, (string Table, int Times)> { ["results"] = ("streams", 3) };
        var story = new RegionStory(new TablesChecker { Allowance = 10, OfLeaders = led });
        Read(story, RegionStory.Sender, ("streams", 10));
        Read(story, RegionStory.Sender, ("streams", 10));
        Read(story, RegionStory.Sender, ("streams", 10), ("results", 30));
        story.History.AssertHolds();
        Read(story, RegionStory.Sender, ("streams", 10), ("results", 31));
        story.AssertViolated("I17", "31 entries in results");
    }

    [Fact]
    public void A_life_that_comes_to_host_the_service_has_its_tables_besides()
    {
        var story = new RegionStory(new TablesChecker { Allowance = 10 });
        Read(story, RegionStory.Sender, ("members", 0));
        Read(story, RegionStory.Sender, ("members", 0));
        ReadHost(story, RegionStory.Sender, ("members", 100));
        ReadHost(story, RegionStory.Sender, ("members", 100));
        story.History.AssertHolds();
        ReadHost(story, RegionStory.Sender, ("members", 161));
        Read(story, RegionStory.Sender, ("members", 100));
        story.AssertViolated("I17", "161 entries in members; there were 100", "100 entries in members; there were 0");
    }

    private static void Read(RegionStory story, NodeKey life, params (string Name, long Size)[] sizes) =>
        Read(story, life, isHost: false, sizes);

    private static void ReadHost(RegionStory story, NodeKey life, params (string Name, long Size)[] sizes) =>
        Read(story, life, isHost: true, sizes);

    private static void Read(RegionStory story, NodeKey life, bool isHost, (string Name, long Size)[] sizes) =>
        story.History.Read(new TableReading(story.Now, 1, life, isHost, sizes.ToDictionary(size => size.Name, size => size.Size)));

    private static RegionStory BestEffort() => new(new BestEffortChecker { IsBestEffort = IsTopic });

    private static bool IsTopic(ulong topic) => topic == RegionStory.Topic;
}
