using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Progress;

// I19: at the end of a history, long after the faults, every open subscription of a live node has received everything that live senders
// published to its topic since it subscribed. Call Subscribed when the service reports that the configuration of the subscription is
// settled; before that, a sender may still use the view without it. If a subscription received messages earlier, it must also receive the
// following ones. Where nodes may be separated when the service changes, Subscribed is called again when the change of the service is
// settled. A sender then owes what it sent since it moved to the new service, and the messages after those received earlier only when it is
// heard again (I1). I8 checks what nodes that were not separated owe each other from before.
internal sealed class LivenessChecker : HistoryChecker
{
    private readonly Dictionary<ulong, List<SenderLog>> _logsByTopic = [];
    private readonly Dictionary<(ulong Topic, NodeKey Sender), SenderLog> _logs = [];
    private readonly List<Open> _open = [];
    private readonly Dictionary<long, Open> _openByNumber = [];
    // The configuration in which each node was last admitted, and when it moved to that service from another one.
    private readonly Dictionary<NodeKey, (long Configuration, TimeSpan At)> _admitted = [];
    private TimeSpan _last;

    public override string Invariant => "I19";

    /// <summary>True: a gap notice excuses (best effort, or senders and regions that may be lost). False: only delivery counts.</summary>
    public bool GapsExcuse { get; init; }

    /// <summary>Topics whose losses are reported and not repaired: checked by another checker (<see cref="BestEffortChecker"/>).</summary>
    public Func<ulong, bool> IsBestEffort { get; init; } = static _ => false;

    public override bool IsComplete => FirstMissing() is null;

    public override void On(in Published published)
    {
        _last = published.At;
        var message = published.Message;
        if (IsBestEffort(message.Topic))
        {
            return;
        }

        if (!_logs.TryGetValue((message.Topic, message.Sender), out var log))
        {
            _logs[(message.Topic, message.Sender)] = log = new SenderLog(message.Sender);
            if (!_logsByTopic.TryGetValue(message.Topic, out var logs))
            {
                _logsByTopic[message.Topic] = logs = [];
            }

            logs.Add(log);
        }

        log.Entries.Add((published.At, message.Sequence));
    }

    public override void On(in Delivered delivered)
    {
        _last = delivered.At;
        if (_openByNumber.TryGetValue(delivered.Subscription.Number, out var open))
        {
            open.Of(delivered.Message.Sender).Add(delivered.Message.Sequence);
        }
    }

    public override void On(in GapReported gap)
    {
        if (GapsExcuse && gap.First <= gap.Last && _openByNumber.TryGetValue(gap.Subscription.Number, out var open))
        {
            open.Of(gap.Sender).Add(gap.First, gap.Last);
        }
    }

    public override void On(in Configured configured)
    {
        var life = configured.Life;
        if (configured.Change.Joined.FirstOrDefault(node => node.Key == life) is { AdmittedAt: > 0 } own
            && (!_admitted.TryGetValue(life, out var known) || known.Configuration != own.AdmittedAt))
        {
            _admitted[life] = (own.AdmittedAt, known.Configuration == 0 ? default : configured.At);
        }
    }

    public override void OnSubscribed(TimeSpan at, Subscription subscription)
    {
        if (_openByNumber.TryGetValue(subscription.Number, out var known))
        {
            known.At = at;
            return;
        }

        var open = new Open(subscription, at);
        _open.Add(open);
        _openByNumber.Add(subscription.Number, open);
    }

    public override void OnUnsubscribed(TimeSpan at, Subscription subscription)
    {
        if (_openByNumber.Remove(subscription.Number, out var open))
        {
            _open.Remove(open);
        }
    }

    public override void OnStopped(TimeSpan at, int node, NodeKey life)
    {
        foreach (var open in _open.Where(open => open.Subscription.Node == node).ToArray())
        {
            OnUnsubscribed(at, open.Subscription);
        }

        foreach (var log in _logs.Values)
        {
            log.Stopped |= log.Sender == life;
        }
    }

    public override void OnEnd()
    {
        foreach (var open in _open)
        {
            if (FirstMissing(open) is { } message)
            {
                Violate(_last, $"{open.Subscription} did not receive {message}, which was published while it was subscribed.");
            }
        }
    }

    /// <summary>A message that some subscription must still receive, or null.</summary>
    public (Subscription Subscription, MessageId Message)? FirstMissing()
    {
        foreach (var open in _open)
        {
            if (FirstMissing(open) is { } message)
            {
                return (open.Subscription, message);
            }
        }

        return null;
    }

    private MessageId? FirstMissing(Open open)
    {
        if (!_logsByTopic.TryGetValue(open.Subscription.Topic, out var logs))
        {
            return null;
        }

        foreach (var log in logs)
        {
            var since = GapsExcuse ? _admitted.GetValueOrDefault(log.Sender).At : default;
            if (!log.Stopped && log.FirstMissing(open, since > open.At ? since : open.At, hasSequel: !GapsExcuse) is { } number)
            {
                return new MessageId(log.Sender, open.Subscription.Topic, number);
            }
        }

        return null;
    }

    private sealed class Open(Subscription subscription, TimeSpan at)
    {
        private readonly Dictionary<NodeKey, NumberRanges> _given = [];

        public Subscription Subscription { get; } = subscription;

        public TimeSpan At { get; set; } = at;

        public NumberRanges Of(NodeKey sender)
        {
            if (!_given.TryGetValue(sender, out var ranges))
            {
                _given[sender] = ranges = new NumberRanges();
            }

            return ranges;
        }
    }

    // What one life of a node published to one topic; entries ascend in time and number.
    private sealed class SenderLog(NodeKey sender)
    {
        public NodeKey Sender { get; } = sender;

        public List<(TimeSpan At, long Sequence)> Entries { get; } = [];

        public bool Stopped { get; set; }

        public long? FirstMissing(Open open, TimeSpan since, bool hasSequel)
        {
            var given = open.Of(Sender);
            long first = FirstSince(since);
            if (hasSequel && !given.IsEmpty)
            {
                first = Math.Min(first, given.Least);
            }

            long missing = first == long.MaxValue ? first : given.FirstMissing(first);
            return missing <= Entries[^1].Sequence ? missing : null;
        }

        private long FirstSince(TimeSpan at)
        {
            int low = 0;
            int high = Entries.Count;
            while (low < high)
            {
                int middle = (low + high) / 2;
                if (Entries[middle].At > at)
                {
                    high = middle;
                }
                else
                {
                    low = middle + 1;
                }
            }

            return low < Entries.Count ? Entries[low].Sequence : long.MaxValue;
        }
    }
}
