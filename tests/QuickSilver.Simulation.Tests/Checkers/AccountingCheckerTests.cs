using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

// I25 on stories that it must accept, and on those that it must not.
public sealed class AccountingCheckerTests
{
    private const ulong Topic = 5;
    private static readonly NodeKey Sender = new(1, 1);
    private static readonly Subscription Reader = new(1, 2, Topic);

    private readonly History _history = new(new AccountingChecker());

    public AccountingCheckerTests() => _history.Subscribed(TimeSpan.Zero, Reader);

    [Fact]
    public void Each_accepted_message_is_handled_reported_dropped_or_unacknowledged()
    {
        Handle(1, 2);
        _history.Gap(TimeSpan.Zero, Reader, Sender, 3, 4);
        End(accepted: 9, sent: 6, dropped: 3, unacknowledged: 2);
        Assert.True(_history.IsComplete);
        _history.AssertHolds();
    }

    [Fact]
    public void A_message_that_the_publisher_neither_sent_nor_counted_is_lost_in_silence()
    {
        Handle(1, 2);
        End(accepted: 4, sent: 2, dropped: 1, unacknowledged: 0);
        AssertViolated("had accepted 4 messages. It has sent 2 and reported 1 as dropped.");
    }

    [Fact]
    public void A_message_that_was_sent_and_acknowledged_reaches_a_subscriber_that_stays()
    {
        Handle(1, 3);
        End(accepted: 3, sent: 3, dropped: 0, unacknowledged: 0);
        Assert.False(_history.IsComplete);
        AssertViolated("has neither message 2 of ");
    }

    [Fact]
    public void A_subscriber_that_ends_has_what_was_stable_before_or_a_report_of_it()
    {
        Handle(1);
        _history.Stable(TimeSpan.Zero, new MessageId(Sender, Topic, 2));
        _history.Unsubscribed(TimeSpan.Zero, Reader);
        _history.Stable(TimeSpan.Zero, new MessageId(Sender, Topic, 3));
        _history.Gap(TimeSpan.Zero, Reader, Sender, 2, 2);
        _history.Ended(new SubscriberEnded(TimeSpan.Zero, Reader, Unhandled: 1, Reported: 1));
        _history.AssertHolds();
    }

    [Fact]
    public void A_subscriber_that_ends_without_a_report_of_what_was_stable_has_lost_it()
    {
        Handle(1);
        _history.Stable(TimeSpan.Zero, new MessageId(Sender, Topic, 2));
        _history.Unsubscribed(TimeSpan.Zero, Reader);
        _history.Ended(new SubscriberEnded(TimeSpan.Zero, Reader, Unhandled: 0, Reported: 0));
        AssertViolated("ended without message 2 of ");
    }

    [Fact]
    public void The_number_of_an_end_is_that_of_the_reported_messages()
    {
        _history.Unsubscribed(TimeSpan.Zero, Reader);
        _history.Gap(TimeSpan.Zero, Reader, Sender, 1, 3);
        _history.Ended(new SubscriberEnded(TimeSpan.Zero, Reader, Unhandled: 2, Reported: 3));
        AssertViolated("ended with 2 messages not handled, and 3 were reported to it.");
    }

    [Fact]
    public void Nothing_is_handled_that_was_reported_lost_or_never_sent()
    {
        _history.Gap(TimeSpan.Zero, Reader, Sender, 1, 2);
        Handle(2);
        AssertViolated("which it had received or had a notice that it will not get");
    }

    [Fact]
    public void Nothing_is_handled_that_its_publisher_reported_as_dropped()
    {
        Handle(1);
        End(accepted: 2, sent: 1, dropped: 1, unacknowledged: 0);
        Handle(2);
        AssertViolated("of which its publisher sent 1.");
    }

    [Theory]
    [InlineData(1, "Node 2 counts 1 messages that its subscribers did not handle. They are at least 2 and at most 3.")]
    [InlineData(2, null)]
    [InlineData(3, null)]
    [InlineData(4, "Node 2 counts 4 messages that its subscribers did not handle. They are at least 2 and at most 3.")]
    public void Messages_dropped_below_a_subscriber_that_ends_at_once_are_in_the_count_of_its_node(long counted, string? violation)
    {
        Handle(1);
        _history.Gap(TimeSpan.Zero, Reader, Sender, 2, 2);
        _history.Stable(TimeSpan.Zero, new MessageId(Sender, Topic, 3));
        _history.Unsubscribed(TimeSpan.Zero, Reader);
        _history.Ended(new SubscriberEnded(TimeSpan.Zero, Reader, Unhandled: 1, Reported: 1) { IsAtOnce = true });
        End(accepted: 4, sent: 4, dropped: 0, unacknowledged: 0);
        _history.Counted(new UnhandledCounted(TimeSpan.Zero, Node: 2, counted));
        if (violation is null)
        {
            _history.AssertHolds();
        }
        else
        {
            AssertViolated(violation);
        }
    }

    private void Handle(params long[] numbers) =>
        Array.ForEach(numbers, number => _history.Delivered(TimeSpan.Zero, Reader, new MessageId(Sender, Topic, number), 0));

    private void End(long accepted, long sent, long dropped, long unacknowledged) =>
        _history.Ended(new PublisherEnded(TimeSpan.Zero, Sender, Topic)
        {
            Accepted = accepted,
            Sent = sent,
            Dropped = dropped,
            Unacknowledged = unacknowledged,
        });

    private void AssertViolated(string words)
    {
        string message = Assert.Throws<InvariantException>(_history.AssertHolds).Message;
        Assert.Contains("I25", message);
        Assert.Contains(words, message);
    }
}
