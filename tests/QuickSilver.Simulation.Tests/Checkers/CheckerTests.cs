using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Progress;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// Each checker is shown a history that keeps its invariant and then one that breaks it: I1, I2, I3, I4, I7, I10, I19.
public sealed class CheckerTests
{
    private const ulong Topic = 0xF00D;

    private static readonly NodeKey Sender = new(0xA, 1);
    private static readonly NodeKey Reborn = new(0xA, 2);
    private static readonly Subscription Endpoint = new(7, 3, Topic);

    [Fact]
    public void A_history_that_keeps_all_promises_passes_all_checkers()
    {
        var story = new Story(History.WithAllCheckers());
        story.Subscribe();
        story.Publish(1, 2, 3, 4);
        story.Deliver(1, 2, 3, 4);
        story.Publish(Reborn, 1);
        story.Deliver(Reborn, 1);
        Assert.True(story.History.IsComplete);
        story.History.AssertHolds();
        Assert.Equal((5, 5, 0), (story.History.PublishedCount, story.History.DeliveredCount, story.History.GapCount));
    }

    [Fact]
    public void A_hole_without_a_notice_is_a_violation()
    {
        var story = new Story(new NoGapChecker());
        story.Deliver(5, 6, 9);
        AssertViolated(story, "I1", "subscription 7 at node 3", "message 9", "not 7 to 8");
    }

    [Fact]
    public void A_reported_gap_is_no_violation()
    {
        var story = new Story(new NoGapChecker());
        story.Deliver(5, 6);
        story.Gap(7, 8);
        story.Deliver(9);
        story.Gap(10, 10);
        story.Gap(11, 12);
        story.Deliver(13);
        story.History.AssertHolds();
    }

    [Theory]
    [InlineData(8, 8, "7 to 7 are neither received nor reported")]
    [InlineData(6, 8, "had received up to 6")]
    [InlineData(8, 7, "empty gap")]
    public void A_notice_that_does_not_fit_is_a_violation(long first, long last, string why)
    {
        var story = new Story(new NoGapChecker());
        story.Deliver(5, 6);
        story.Gap(first, last);
        AssertViolated(story, "I1", "subscription 7", why);
    }

    [Fact]
    public void A_notice_that_comes_after_what_follows_the_hole_is_too_late()
    {
        var story = new Story(new NoGapChecker());
        story.Deliver(1, 3);
        story.Gap(2, 2);
        AssertViolated(story, "I1", "not 2 to 2");
    }

    [Fact]
    public void Each_subscription_and_each_sender_has_its_own_line()
    {
        var history = new History(new NoGapChecker(), new NoDuplicateChecker(), new OrderChecker());
        var story = new Story(history);
        story.Deliver(5, 6);
        story.Deliver(Reborn, 1, 2);
        history.Delivered(TimeSpan.Zero, Endpoint with { Number = 8 }, new MessageId(Sender, Topic, 2), 0);
        history.AssertHolds();
    }

    [Theory]
    [InlineData(new long[] { 1, 1 }, 1)]
    [InlineData(new long[] { 1, 2, 3, 4, 2 }, 2)]
    [InlineData(new long[] { 4, 1, 3, 2, 4 }, 4)]
    public void A_message_given_twice_is_a_violation(long[] numbers, long twice)
    {
        var story = new Story(new NoDuplicateChecker());
        story.Deliver(numbers);
        AssertViolated(story, "I2", $"message {twice} of topic 000000000000f00d from 000000000000000a.1", "twice");
    }

    [Fact]
    public void A_message_that_was_never_published_is_a_violation()
    {
        var story = new Story(new NoPhantomChecker());
        story.Publish(1);
        story.Deliver(1, 2);
        AssertViolated(story, "I3", "message 2", "never published");
    }

    [Fact]
    public void A_message_of_another_incarnation_is_a_phantom()
    {
        var story = new Story(new NoPhantomChecker());
        story.Publish(1);
        story.Deliver(Reborn, 1);
        AssertViolated(story, "I3", "000000000000000a.2", "never published");
    }

    [Fact]
    public void Changed_bytes_are_a_violation()
    {
        var story = new Story(new NoPhantomChecker());
        story.Publish(1);
        story.History.Delivered(story.Now, Endpoint, new MessageId(Sender, Topic, 1), 99);
        AssertViolated(story, "I3", "other bytes (0000000000000063)");
    }

    [Fact]
    public void A_message_of_another_topic_and_a_number_given_to_two_messages_are_violations()
    {
        var story = new Story(new NoPhantomChecker());
        story.Publish(1);
        story.History.Delivered(story.Now, Endpoint with { Topic = 5 }, new MessageId(Sender, Topic, 1), 1);
        AssertViolated(story, "I3", "is of topic 0000000000000005");
        story = new Story(new NoPhantomChecker());
        story.Publish(1, 1);
        AssertViolated(story, "I3", "published twice");
    }

    [Fact]
    public void A_message_may_reach_its_own_node_before_its_sender_knows_its_number()
    {
        var story = new Story(new NoPhantomChecker());
        story.Deliver(1);
        story.History.Published(story.Now, new MessageId(Sender, Topic, 1), 1);
        story.Publish(2);
        story.History.AssertHolds();
    }

    [Fact]
    public void A_phantom_is_found_when_the_clock_moves_on_and_not_only_at_the_end()
    {
        var story = new Story(new NoPhantomChecker());
        story.Deliver(1);
        story.Publish(2);
        Assert.Single(story.History.Violations);
    }

    [Fact]
    public void A_message_after_a_later_one_is_a_violation()
    {
        var story = new Story(new OrderChecker());
        story.Deliver(1, 3, 2);
        AssertViolated(story, "I4", "message 2", "after 3");
    }

    [Fact]
    public void A_configuration_that_goes_back_or_comes_twice_is_a_violation()
    {
        var story = new Story(new ViewsChecker());
        story.Configure(Sender, 1);
        story.Configure(Sender, 4);
        story.Configure(Reborn, 2);
        story.History.AssertHolds();
        story.Configure(Sender, 3);
        AssertViolated(story, "I7", "from configuration 4 to 3");
        story = new Story(new ViewsChecker());
        story.Configure(Sender, 4);
        story.Configure(Sender, 4);
        AssertViolated(story, "I7", "from configuration 4 to 4");
    }

    [Fact]
    public void A_region_view_that_goes_back_or_has_two_memberships_is_a_violation()
    {
        var story = new Story(new ViewsChecker());
        story.Configure(Sender, 1, Region(5, Sender));
        story.Configure(Sender, 2, Region(5, Sender));
        story.Configure(Reborn, 1, Region(5, Sender));
        story.Configure(Sender, 3, Region(6, Sender, Reborn));
        story.History.AssertHolds();
        story.Configure(Reborn, 3, Region(6, Reborn));
        AssertViolated(story, "I7", "other members in view 6 of region ab");
        story = new Story(new ViewsChecker());
        story.Configure(Sender, 3, Region(6, Sender));
        story.Configure(Sender, 4, Region(5, Sender));
        AssertViolated(story, "I7", "from view 6 of region ab to 5");
    }

    [Fact]
    public void An_old_life_heard_after_a_new_one_is_a_violation()
    {
        var story = new Story(new IncarnationChecker());
        story.Deliver(1, 2);
        story.Deliver(Reborn, 1);
        story.Deliver(new NodeKey(0xB, 1), 1);
        story.History.AssertHolds();
        story.Deliver(3);
        AssertViolated(story, "I10", "message 3", "000000000000000a.2");
    }

    [Fact]
    public void A_message_that_a_subscriber_never_received_is_a_violation()
    {
        var story = new Story(new LivenessChecker());
        story.Publish(1);
        story.Subscribe();
        story.Publish(2, 3);
        story.Deliver(2);
        Assert.False(story.History.IsComplete);
        AssertViolated(story, "I19", "subscription 7 at node 3", "message 3");
    }

    [Fact]
    public void Nothing_is_owed_from_before_the_subscription_unless_it_was_begun()
    {
        var story = new Story(new LivenessChecker());
        story.Publish(1, 2, 3);
        story.Subscribe();
        Assert.True(story.History.IsComplete);
        story.Deliver(2);
        Assert.False(story.History.IsComplete);
        story.Deliver(3);
        Assert.True(story.History.IsComplete);
        story.History.AssertHolds();
    }

    [Fact]
    public void The_very_first_message_after_the_subscription_is_owed()
    {
        var story = new Story(new LivenessChecker());
        story.Subscribe();
        story.Publish(1, 2);
        story.Deliver(2);
        AssertViolated(story, "I19", "message 1 ");
    }

    [Fact]
    public void A_hole_in_the_middle_is_owed_too()
    {
        var story = new Story(new LivenessChecker());
        story.Subscribe();
        story.Publish(1, 2, 3);
        story.Deliver(1, 3);
        AssertViolated(story, "I19", "message 2");
    }

    [Fact]
    public void A_leaver_is_owed_nothing_and_a_dead_sender_owes_nothing()
    {
        var story = new Story(new LivenessChecker());
        story.Subscribe();
        story.Publish(1);
        story.History.Unsubscribed(story.Now, Endpoint);
        story.History.AssertHolds();

        story = new Story(new LivenessChecker());
        story.Subscribe();
        story.Publish(1);
        story.History.Stopped(story.Now, Endpoint.Node, new NodeKey(0xB, 1));
        story.History.AssertHolds();

        story = new Story(new LivenessChecker());
        story.Subscribe();
        story.Publish(1);
        story.History.Stopped(story.Now, 9, Sender);
        story.History.AssertHolds();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_gap_notice_excuses_only_where_it_may(bool excuses)
    {
        var story = new Story(new LivenessChecker { GapsExcuse = excuses });
        story.Subscribe();
        story.Publish(1, 2, 3);
        story.Gap(1, 2);
        story.Deliver(3);
        Assert.Equal(excuses, story.History.IsComplete);
    }

    [Fact]
    public void Violations_are_thrown_at_once_when_asked_and_counted_when_many()
    {
        var atOnce = new Story(new History(new OrderChecker()) { ThrowAtOnce = true });
        Assert.Throws<InvariantException>(() => atOnce.Deliver(2, 1));

        var story = new Story(new OrderChecker());
        story.Deliver([1000, .. Enumerable.Range(1, 100).Select(number => (long)number).Reverse()]);
        Assert.Equal(100, story.History.ViolationCount);
        Assert.Equal(20, story.History.Violations.Count);
    }

    private static RegionView Region(uint number, params NodeKey[] members) => new()
    {
        RegionId = 0xAB,
        Number = number,
        Configuration = 1,
        Group = new System.Net.IPEndPoint(0xEFC00001, 4000),
        Members = [.. members],
    };

    private static void AssertViolated(Story story, string invariant, params string[] words)
    {
        var thrown = Assert.Throws<InvariantException>(story.History.AssertHolds);
        Assert.All(story.History.Violations, violation => Assert.Equal(invariant, violation.Invariant));
        Assert.All(words, word => Assert.Contains(word, thrown.Message, StringComparison.Ordinal));
    }

    // Writes a history, a millisecond per event; a message's number is its payload's hash.
    private sealed class Story(History history)
    {
        public Story(HistoryChecker checker)
            : this(new History(checker))
        {
        }

        public History History { get; } = history;

        public TimeSpan Now { get; private set; }

        public void Subscribe() => History.Subscribed(Step(), Endpoint);

        public void Publish(params long[] numbers) => Publish(Sender, numbers);

        public void Publish(NodeKey sender, params long[] numbers)
        {
            foreach (long number in numbers)
            {
                History.Published(Step(), new MessageId(sender, Topic, number), (ulong)number);
            }
        }

        public void Deliver(params long[] numbers) => Deliver(Sender, numbers);

        public void Deliver(NodeKey sender, params long[] numbers)
        {
            foreach (long number in numbers)
            {
                History.Delivered(Step(), Endpoint, new MessageId(sender, Topic, number), (ulong)number);
            }
        }

        public void Gap(long first, long last) => History.Gap(Step(), Endpoint, Sender, first, last);

        public void Configure(NodeKey life, long number, params RegionView[] regions) =>
            History.Configured(Step(), 3, life, new ConfigurationChange { Number = number, IsSnapshot = false, Regions = [.. regions] });

        private TimeSpan Step() => Now += TimeSpan.FromMilliseconds(1);
    }
}
