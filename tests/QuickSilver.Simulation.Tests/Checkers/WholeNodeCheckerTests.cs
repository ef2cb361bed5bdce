using System.Net;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// The checkers of what only whole nodes show, each on a history that keeps its invariant and on ones that break it: I7 (self
// inclusion), I8, I9, I10 (removal), I17, I18.
public sealed class WholeNodeCheckerTests
{
    private const ulong Topic = 0xF00D;
    private const ulong RegionId = 0xAB;

    private static readonly NodeKey Sender = new(0xA, 1);
    private static readonly NodeKey Receiver = new(0xB, 1);
    private static readonly NodeKey Other = new(0xC, 1);
    private static readonly Subscription Endpoint = new(7, 3, Topic);

    [Fact]
    public void A_subscriber_is_in_a_region_of_the_topic()
    {
        var story = new Story(new ViewsChecker());
        story.Configure(Receiver, 4, [View(1, 4, Sender, Receiver)], subscribed: true);
        story.Configure(Sender, 4, [View(1, 4, Sender, Receiver)], subscribed: false);
        story.History.AssertHolds();
        story.Configure(Other, 4, [View(1, 4, Sender, Receiver)], subscribed: true);
        story.AssertViolated("I7", "subscribes to topic 000000000000f00d", "not a member of any of its regions");
    }

    [Fact]
    public void A_message_given_in_the_view_it_was_sent_in_is_in_order_even_when_a_newer_one_is_known()
    {
        var story = new Story(new DeliveryViewChecker());
        story.Configure(Receiver, 4, [View(1, 4, Receiver)], subscribed: true);
        story.Activate(4);
        story.Send(1, View(1, 4, Receiver));
        story.Configure(Receiver, 5, [View(2, 5, Receiver, Other)], subscribed: true);
        story.Deliver(1);
        story.History.AssertHolds();
    }

    [Fact]
    public void A_message_of_a_view_not_received_yet_or_of_others_is_a_violation()
    {
        var story = new Story(new DeliveryViewChecker());
        story.Configure(Receiver, 4, [View(1, 4, Receiver)], subscribed: true);
        story.Activate(4);
        story.Send(1, View(2, 5, Receiver, Other));
        story.Deliver(1);
        story.AssertViolated("I8", "subscription 7 at node 3", "message 1 ", "no view that it got and is a member of");

        story = new Story(new DeliveryViewChecker());
        story.Configure(Receiver, 4, [View(1, 4, Other)], subscribed: true);
        story.Activate(4);
        story.Send(1, View(1, 4, Other));
        story.Deliver(1);
        story.AssertViolated("I8", "no view that it got and is a member of");
    }

    [Fact]
    public void A_message_of_a_view_from_before_the_subscription_is_a_violation()
    {
        var story = new Story(new DeliveryViewChecker());
        story.Configure(Receiver, 4, [View(1, 4, Receiver)], subscribed: false);
        story.Send(1, View(1, 4, Receiver));
        story.Activate(5);
        story.Deliver(1);
        story.AssertViolated("I8", "older than its subscription");
    }

    [Fact]
    public void Every_subscriber_of_the_view_is_owed_what_was_sent_in_it()
    {
        var story = new Story(new DeliveryViewChecker());
        story.Activate(4);
        story.Send(1, View(1, 4, Receiver, Other));
        story.Send(2, View(1, 4, Receiver, Other));
        story.Configure(Receiver, 4, [View(1, 4, Receiver, Other)], subscribed: true);
        story.Deliver(1);
        story.AssertViolated("I8", "subscription 7 at node 3", "message 2 ", "did not receive it");
    }

    [Theory]
    [InlineData(4, true)]
    [InlineData(3, false)]
    public void Nodes_that_move_to_another_service_from_one_configuration_owe_each_other_earlier_messages(long receiverHad, bool isOwed)
    {
        var story = new Story(new DeliveryViewChecker());
        story.Admit(Sender, service: 1, 2);
        story.Admit(Receiver, service: 1, receiverHad);
        story.Configure(Sender, 4, [View(1, 4, Receiver)], subscribed: false, service: 1);
        story.Activate(3);
        story.Send(1, View(1, 4, Receiver));
        story.Admit(Sender, service: 2, 9);
        story.Admit(Receiver, service: 2, 9);
        if (isOwed)
        {
            story.AssertViolated("I8", "message 1 ", "did not receive it");
        }
        else
        {
            story.History.AssertHolds();
        }
    }

    [Fact]
    public void Nothing_is_owed_that_went_to_other_views_or_came_from_a_gone_node()
    {
        var story = new Story(new DeliveryViewChecker());
        story.Send(1, View(1, 4, Receiver));
        story.Activate(4);
        story.Send(2, View(1, 3, Receiver));
        story.Send(3, View(2, 5, Other));
        story.History.AssertHolds();

        story = new Story(new DeliveryViewChecker());
        story.Activate(4);
        story.Send(1, View(1, 4, Receiver));
        story.History.Stopped(story.Now, 1, Sender);
        story.History.AssertHolds();

        story = new Story(new DeliveryViewChecker());
        story.Activate(4);
        story.Send(1, View(1, 4, Receiver));
        story.History.Unsubscribed(story.Now, Endpoint);
        story.History.AssertHolds();
    }

    [Fact]
    public void Messages_of_a_removed_incarnation_are_delivered_nowhere()
    {
        var story = new Story(new IncarnationChecker());
        story.Join(Receiver, 1, Sender, Receiver, Other);
        story.Join(Other, 1, Sender, Receiver, Other);
        story.Remove(Receiver, 2, Sender);
        // The other one still hears it, and may pass it on.
        story.Publish(1);
        story.Deliver(1);
        story.Remove(Other, 2, Sender);
        story.Deliver(1);
        story.History.AssertHolds();

        story.Publish(2);
        story.Deliver(2);
        story.AssertViolated("I10", "message 2 ", "after all had applied its sender's removal");
    }

    [Fact]
    public void A_node_that_knows_of_its_removal_is_heard_until_the_others_apply_it()
    {
        var story = new Story(new IncarnationChecker());
        story.Join(Receiver, 1, Sender, Receiver, Other);
        story.Join(Other, 1, Sender, Receiver, Other);
        story.Remove(Receiver, 2, Sender);
        story.History.Expelled(story.Now, 2, Other);
        story.History.Stopped(story.Now, 2, Other);
        story.Publish(1);
        story.Deliver(1);
        story.History.AssertHolds();

        story.Remove(Receiver, 3, Other);
        story.Publish(2);
        story.Deliver(2);
        story.AssertViolated("I10", "message 2 ", "after all had applied its sender's removal");
    }

    [Fact]
    public void A_node_that_knows_of_its_removal_is_heard_until_it_runs_again()
    {
        var story = new Story(new IncarnationChecker());
        story.Join(Receiver, 1, Sender, Receiver, Other);
        story.Join(Other, 1, Sender, Receiver, Other);
        story.Remove(Receiver, 2, Sender);
        story.History.Expelled(story.Now, 2, Other);
        story.History.Stopped(story.Now, 2, Other);
        story.History.Configured(story.Now, 2, new NodeKey(0xD, 2), new ConfigurationChange { Number = 3, IsSnapshot = true });
        story.Publish(1);
        story.Deliver(1);
        story.AssertViolated("I10", "message 1 ", "after all had applied its sender's removal");
    }

    [Fact]
    public void A_node_that_dies_or_comes_later_delays_no_removal_and_one_that_returns_is_heard_again()
    {
        var story = new Story(new IncarnationChecker());
        story.Join(Receiver, 1, Sender, Receiver, Other);
        story.Join(Other, 1, Sender, Receiver, Other);
        story.Remove(Receiver, 2, Sender);
        story.Join(new NodeKey(0xD, 1), 3, Receiver, Other);
        story.History.Stopped(story.Now, 2, Other);
        story.Publish(1);
        story.Deliver(1);
        Assert.Single(story.History.Violations);

        story = new Story(new IncarnationChecker());
        story.Join(Receiver, 1, Sender, Receiver);
        story.Remove(Receiver, 2, Sender);
        story.Join(Receiver, 3, Sender, Receiver);
        story.Publish(1);
        story.Deliver(1);
        story.History.AssertHolds();
    }

    [Theory]
    [InlineData(0, 0, 3, 0, true)]
    [InlineData(1, 0, 0, 0, false)]
    [InlineData(0, 1, 0, 0, false)]
    [InlineData(0, 0, 4, 0, false)]
    [InlineData(0, 0, 0, 1, false)]
    public void A_quiet_node_keeps_nothing_but_the_blocks_it_works_in(long retained, long kept, long blocks, int oldViews, bool holds)
    {
        var story = new Story(new MemoryChecker());
        var reading = new MemoryReading(story.Now, 3, Receiver)
        {
            IsQuiet = true,
            RetainedBytes = retained,
            KeptPackets = kept,
            LeasedBlocks = blocks,
            OldViews = oldViews,
            OutboundStreams = 2,
        };
        story.History.Read(reading);
        Assert.Equal(holds ? 0 : 1, story.History.ViolationCount);
        story.History.Read(reading with { IsQuiet = false });
        Assert.Equal(holds ? 0 : 1, story.History.ViolationCount);
    }

    [Fact]
    public void A_node_never_keeps_more_than_its_bounds()
    {
        var checker = new MemoryChecker { MostRetainedBytes = 1000, MostKeptPackets = 10 };
        var story = new Story(checker);
        story.History.Read(new MemoryReading(story.Now, 3, Receiver) { RetainedBytes = 1000, KeptPackets = 10 });
        story.History.AssertHolds();
        story.History.Read(new MemoryReading(story.Now, 3, Receiver) { RetainedBytes = 1001 });
        story.History.Read(new MemoryReading(story.Now, 3, Receiver) { KeptPackets = 11 });
        Assert.Equal(2, story.History.ViolationCount);
        story.AssertViolated("I17", "retains 1001 bytes", "keeps 11 packets of one stream");
    }

    [Fact]
    public void Repair_beyond_a_small_multiple_of_the_losses_is_a_violation()
    {
        var story = new Story(new RepairChecker { MostPerDisturbance = 2, Allowance = 5 });
        story.History.Count(new RepairTotals(story.Now, 10, 25, 25));
        story.History.AssertHolds();
        story.History.Count(new RepairTotals(story.Now, 10, 26, 0));
        story.AssertViolated("I18", "26 requests for repair");

        story = new Story(new RepairChecker { MostPerDisturbance = 2, Allowance = 5 });
        story.History.Count(new RepairTotals(story.Now, 10, 0, 26));
        story.AssertViolated("I18", "26 packets sent again", "10 datagrams lost, delayed or forged");
    }

    [Fact]
    public void The_tail_shows_what_came_before_the_first_violation()
    {
        var tail = new RecordTail();
        var story = new Story(new OrderChecker(), tail);
        story.Deliver(1);
        story.Deliver(3);
        story.Deliver(2);
        story.Deliver(9);
        Assert.Contains("received message 3 ", tail.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("message 9 ", tail.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Lives_of_the_service_follow_each_other_and_all_follow_the_last()
    {
        var story = new Story(new PrimaryChecker());
        story.Admit(Sender, service: 1, number: 4);
        story.Admit(Receiver, service: 1, number: 5);
        story.Admit(Sender, service: 2, number: 9);
        story.Admit(Receiver, service: 2, number: 9);
        story.History.AssertHolds();
    }

    [Fact]
    public void Two_primaries_beside_each_other_are_a_violation()
    {
        var story = new Story(new PrimaryChecker());
        story.Admit(Sender, service: 1, number: 4);
        story.Admit(Receiver, service: 2, number: 5);
        story.Admit(Sender, service: 1, number: 6);
        story.Admit(Sender, service: 2, number: 7);
        story.AssertViolated("I9", "at the same time as service 0000000000000002");

        story = new Story(new PrimaryChecker { HostsMayPart = true });
        story.Admit(Sender, service: 1, number: 4);
        story.Admit(Receiver, service: 2, number: 5);
        story.Admit(Sender, service: 1, number: 6);
        story.Admit(Sender, service: 2, number: 7);
        story.History.AssertHolds();
    }

    [Fact]
    public void Following_an_old_service_to_the_end_is_a_violation_unless_the_node_ended()
    {
        var story = new Story(new PrimaryChecker { HostsMayPart = true });
        story.Admit(Sender, service: 1, number: 4);
        story.Admit(Receiver, service: 2, number: 5);
        story.AssertViolated("I9", "follow 2 incarnations");

        story = new Story(new PrimaryChecker());
        story.Admit(Sender, service: 1, number: 4);
        story.Admit(Receiver, service: 2, number: 5);
        story.History.Stopped(story.Now, 3, Sender);
        story.History.AssertHolds();
    }

    private static RegionView View(uint number, long configuration, params NodeKey[] members) => new()
    {
        RegionId = RegionId,
        Number = number,
        Configuration = configuration,
        Group = new IPEndPoint(0xEFC00001, 4000),
        Members = [.. members],
    };

    // Writes a history, a millisecond per event.
    private sealed class Story(params HistoryChecker[] checkers)
    {
        public History History { get; } = new(checkers);

        public TimeSpan Now { get; private set; }

        public void Configure(NodeKey life, long number, RegionView[] regions, bool subscribed, ulong service = 0) =>
            Configure(life, Change(number, regions, subscribed, service));

        public void Admit(NodeKey life, ulong service, long number) => Configure(life, new ConfigurationChange
        {
            Number = number,
            Service = service,
            IsSnapshot = true,
            Joined = [new NodeInfo(life, new IPEndPoint(IPAddress.Loopback, 1), 1, number)],
        });

        private static ConfigurationChange Change(long number, RegionView[] regions, bool subscribed, ulong service) => new()
        {
            Number = number,
            Service = service,
            IsSnapshot = false,
            Regions = [.. regions],
            Topics =
            [
                new TopicView
                {
                    TopicId = Topic,
                    Configuration = number,
                    Regions = [RegionId],
                    Subscribed = subscribed,
                    Routed = true,
                    Subscribers = 1,
                },
            ],
        };

        public void Join(NodeKey life, long number, params NodeKey[] all) => Configure(life, new ConfigurationChange
        {
            Number = number,
            IsSnapshot = true,
            Joined = [.. all.Select(key => new NodeInfo(key, new IPEndPoint(IPAddress.Loopback, 1), 1))],
        });

        public void Remove(NodeKey life, long number, NodeKey gone) =>
            Configure(life, new ConfigurationChange { Number = number, IsSnapshot = false, Removed = [gone] });

        public void Activate(long configuration) => History.Activated(Step(), Endpoint, Receiver, configuration);

        public void Send(long number, params RegionView[] views) => History.Sent(Step(), Message(number), [.. views]);

        public void Publish(long number) => History.Published(Step(), Message(number), 0);

        public void Deliver(long number) => History.Delivered(Step(), Endpoint, Message(number), 0);

        public void AssertViolated(string invariant, params string[] words)
        {
            var thrown = Assert.Throws<InvariantException>(History.AssertHolds);
            Assert.All(History.Violations, violation => Assert.Equal(invariant, violation.Invariant));
            Assert.All(words, word => Assert.Contains(word, thrown.Message, StringComparison.Ordinal));
        }

        private static MessageId Message(long number) => new(Sender, Topic, number);

        private void Configure(NodeKey life, ConfigurationChange change) => History.Configured(Step(), 3, life, change);

        private TimeSpan Step() => Now += TimeSpan.FromMilliseconds(1);
    }
}
