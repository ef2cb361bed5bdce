using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I25: nothing that was accepted is lost in silence, whatever ends, and in whichever way. A publisher that has ended has sent each message
// that it had accepted, or has counted it as dropped. A subscriber that ends has handled each message that was stable before its end began,
// or was notified that it will not get it; the number that its end has is the number of those. What is dropped below one that ends at once
// is in the count of its node, which counts nothing that was handled. A subscriber that stays has each message that a publisher has sent
// and not reported as unacknowledged. No subscriber handles a message that was reported lost to it, or was never sent.
//
// For runs without failures, with subscriptions that are older than the messages.
internal sealed class AccountingChecker : HistoryChecker
{
    private readonly Dictionary<(NodeKey Sender, ulong Topic), Publisher> _publishers = [];
    private readonly SortedDictionary<long, Subscriber> _subscribers = [];
    private TimeSpan _last;

    public override string Invariant => "I25";

    public override bool IsComplete => Pairs().All(static pair => pair.Subscriber.FirstLacking(pair.Key) > pair.Publisher.Owed);

    public override void On(in StableReported stable)
    {
        var publisher = Of(stable.Message.Sender, stable.Message.Topic);
        publisher.Stable = Math.Max(publisher.Stable, stable.Message.Sequence);
    }

    public override void OnSubscribed(TimeSpan at, Subscription subscription) =>
        _subscribers.Add(subscription.Number, new Subscriber(subscription));

    public override void OnUnsubscribed(TimeSpan at, Subscription subscription)
    {
        var subscriber = _subscribers[subscription.Number];
        subscriber.IsEnding = true;
        foreach (var (key, publisher) in _publishers)
        {
            if (key.Topic == subscription.Topic)
            {
                subscriber.Owed[key.Sender] = publisher.Stable;
            }
        }
    }

    public override void On(in Delivered delivered)
    {
        _last = delivered.At;
        var message = delivered.Message;
        var publisher = Of(message.Sender, message.Topic);
        if (publisher.Ended is { } ended && message.Sequence > ended.Sent)
        {
            Violate(delivered.At, $"{delivered.Subscription} received {message}, of which its publisher sent {ended.Sent}.");
        }

        if (!_subscribers[delivered.Subscription.Number].Of(message.Sender).Add(message.Sequence))
        {
            Violate(
                delivered.At,
                $"{delivered.Subscription} received {message}, which it had received or had a notice that it will not get.");
        }
    }

    public override void On(in GapReported gap)
    {
        _last = gap.At;
        var given = _subscribers[gap.Subscription.Number].Of(gap.Sender);
        for (long number = gap.First; number <= gap.Last; number++)
        {
            if (!given.Add(number))
            {
                Violate(
                    gap.At,
                    $"{gap.Subscription} got a notice that it will not get {gap.First} to {gap.Last} of {gap.Sender}, and had received "
                    + $"or had a notice of {number}.");
                return;
            }
        }
    }

    public override void On(in PublisherEnded ended)
    {
        _last = ended.At;
        Of(ended.Sender, ended.Topic).Ended = ended;
        if (ended.Accepted != ended.Sent + ended.Dropped)
        {
            Violate(
                ended.At,
                $"A publisher at {ended.Sender} had accepted {ended.Accepted} messages. It has sent {ended.Sent} and reported "
                + $"{ended.Dropped} as dropped.");
        }
    }

    public override void On(in SubscriberEnded ended)
    {
        _last = ended.At;
        var subscriber = _subscribers[ended.Subscription.Number];
        subscriber.Reported = ended.Reported;
        subscriber.IsAtOnce = ended.IsAtOnce;
        if (ended.Unhandled != ended.Reported)
        {
            Violate(
                ended.At,
                $"{ended.Subscription} ended with {ended.Unhandled} messages not handled, and {ended.Reported} were reported to it.");
        }

        foreach (var (sender, owed) in subscriber.Owed)
        {
            if (!ended.IsAtOnce && subscriber.FirstLacking(sender) is var lacking && lacking <= owed)
            {
                Violate(
                    ended.At,
                    $"{ended.Subscription} ended without message {lacking} of {sender}, and without a notice of it, although {owed} were "
                    + "stable when its end began.");
            }
        }
    }

    public override void On(in UnhandledCounted counted)
    {
        _last = counted.At;
        (long least, long most) = (0, 0);
        foreach (var subscriber in _subscribers.Values)
        {
            if (subscriber.Subscription.Node == counted.Node && subscriber.IsEnding)
            {
                long owed = subscriber.Owed.Sum(one => subscriber.Of(one.Key).CountMissing(1, one.Value));
                long sent = SendersOf(subscriber).Sum(one => subscriber.Of(one.Key.Sender).CountMissing(1, one.Value.Sent));
                least += subscriber.Reported + (subscriber.IsAtOnce ? owed : 0);
                most += subscriber.Reported + sent;
            }
        }

        if (counted.Unhandled < least || counted.Unhandled > most)
        {
            Violate(
                counted.At,
                $"Node {counted.Node} counts {counted.Unhandled} messages that its subscribers did not handle. They are at least {least} "
                + $"and at most {most}.");
        }
    }

    public override void OnEnd()
    {
        foreach (var (subscriber, key, publisher) in Pairs())
        {
            if (subscriber.FirstLacking(key) is var lacking && lacking <= publisher.Owed)
            {
                var ended = publisher.Ended!.Value;
                Violate(
                    _last,
                    $"{subscriber.Subscription} has neither message {lacking} of {key} nor a notice. Its publisher sent {ended.Sent} "
                    + $"messages and reported {ended.Unacknowledged} of them as not acknowledged.");
            }
        }
    }

    private Publisher Of(NodeKey sender, ulong topic)
    {
        if (!_publishers.TryGetValue((sender, topic), out var publisher))
        {
            _publishers.Add((sender, topic), publisher = new Publisher());
        }

        return publisher;
    }

    private IEnumerable<KeyValuePair<(NodeKey Sender, ulong Topic), Publisher>> SendersOf(Subscriber subscriber) =>
        _publishers.Where(one => one.Key.Topic == subscriber.Subscription.Topic);

    // The subscribers that stay, each with the publishers of its topic that have ended.
    private IEnumerable<(Subscriber Subscriber, NodeKey Key, Publisher Publisher)> Pairs() =>
        from subscriber in _subscribers.Values
        where !subscriber.IsEnding
        from one in SendersOf(subscriber)
        where one.Value.Ended is not null
        select (subscriber, one.Key.Sender, one.Value);

    private sealed class Publisher
    {
        public long Stable { get; set; }

        public PublisherEnded? Ended { get; set; }

        public long Sent => Ended?.Sent ?? 0;

        /// <summary>What a subscriber that stays must have.</summary>
        public long Owed => Ended is { } ended ? ended.Sent - ended.Unacknowledged : 0;
    }

    private sealed class Subscriber(Subscription subscription)
    {
        private readonly Dictionary<NodeKey, NumberRanges> _given = [];

        public Subscription Subscription => subscription;

        public bool IsEnding { get; set; }

        public bool IsAtOnce { get; set; }

        /// <summary>Of how many messages the gaps spoke that had come and were not handled.</summary>
        public long Reported { get; set; }

        public Dictionary<NodeKey, long> Owed { get; } = [];

        public NumberRanges Of(NodeKey sender)
        {
            if (!_given.TryGetValue(sender, out var given))
            {
                _given.Add(sender, given = new NumberRanges());
            }

            return given;
        }

        public long FirstLacking(NodeKey sender) => Of(sender).FirstMissing(1);
    }
}
