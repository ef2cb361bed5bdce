using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Deliveries;

// The basis of the checkers of deliveries in views: the subscribers and when they subscribed, what each of them received, what each sender
// sent in which views, and which nodes are alive.
internal abstract class DeliveryChecker : HistoryChecker
{
    private readonly HashSet<(NodeKey Life, ulong Region, uint Number)> _memberOf = [];
    private readonly Dictionary<(NodeKey Sender, ulong Topic), SenderLog> _logs = [];
    private readonly Dictionary<ulong, List<SenderLog>> _logsByTopic = [];
    private readonly Dictionary<long, Listener> _listeners = [];
    private readonly List<Listener> _open = [];

    /// <summary>Topics whose losses are reported and not repaired.</summary>
    public Func<ulong, bool> IsBestEffort { get; init; } = static _ => false;

    /// <summary>The open subscriptions of nodes that are alive.</summary>
    protected IReadOnlyList<Listener> Open => _open;

    protected IReadOnlyCollection<SenderLog> Logs => _logs.Values;

    /// <summary>When something was last delivered.</summary>
    protected TimeSpan Last { get; private set; }

    public override void On(in RegionSeen seen)
    {
        if (seen.View.Members.Contains(seen.Life))
        {
            _memberOf.Add((seen.Life, seen.RegionId, seen.Number));
        }
    }

    public override void On(in Activated activated)
    {
        var listener = new Listener(activated);
        _listeners.Add(activated.Subscription.Number, listener);
        _open.Add(listener);
    }

    public override void On(in Sent sent)
    {
        var message = sent.Message;
        if (!_logs.TryGetValue((message.Sender, message.Topic), out var log))
        {
            _logs[(message.Sender, message.Topic)] = log = new SenderLog(message.Sender, message.Topic);
            if (!_logsByTopic.TryGetValue(message.Topic, out var logs))
            {
                _logsByTopic[message.Topic] = logs = [];
            }

            logs.Add(log);
        }

        log.Add(sent);
    }

    public override void On(in Delivered delivered)
    {
        Last = delivered.At;
        Find(delivered.Subscription)?.Of(delivered.Message.Sender).Add(delivered.Message.Sequence);
    }

    public override void OnUnsubscribed(TimeSpan at, Subscription subscription) => Close(subscription.Number);

    public override void OnStopped(TimeSpan at, int node, NodeKey life)
    {
        foreach (var listener in _open.Where(listener => listener.Life == life).ToArray())
        {
            Close(listener.Subscription.Number);
        }

        foreach (var log in _logs.Values)
        {
            log.HasStopped |= log.Sender == life;
        }
    }

    protected Listener? Find(Subscription subscription) => _listeners.GetValueOrDefault(subscription.Number);

    protected SenderLog? Find(MessageId message) => _logs.GetValueOrDefault((message.Sender, message.Topic));

    protected IReadOnlyList<SenderLog> LogsOf(ulong topic) => _logsByTopic.GetValueOrDefault(topic) ?? [];

    /// <summary>Whether it got the view, and is a member of it.</summary>
    protected bool IsMember(NodeKey life, RegionView view) => _memberOf.Contains((life, view.RegionId, view.Number));

    protected static string Name(RegionView view) => $"{view.RegionId:x}/{view.Number}@{view.Configuration}";

    private void Close(long number)
    {
        if (_listeners.Remove(number, out var listener))
        {
            _open.Remove(listener);
        }
    }

    protected sealed class Listener(in Activated activated)
    {
        private readonly Dictionary<NodeKey, NumberRanges> _given = [];

        public Subscription Subscription { get; } = activated.Subscription;

        public NodeKey Life { get; } = activated.Life;

        public long Configuration { get; } = activated.Configuration;

        public TimeSpan Since { get; } = activated.At;

        public NumberRanges Of(NodeKey sender)
        {
            if (!_given.TryGetValue(sender, out var ranges))
            {
                _given[sender] = ranges = new NumberRanges();
            }

            return ranges;
        }

        /// <summary>The one of these views in which this subscriber must receive what was sent; null when there is none.</summary>
        public RegionView? Among(ImmutableArray<RegionView> views)
        {
            foreach (var view in views)
            {
                if (view.Configuration >= Configuration && view.Members.Contains(Life))
                {
                    return view;
                }
            }

            return null;
        }
    }

    // Messages of consecutive numbers that were sent in the same views.
    protected sealed class Run(long first, ImmutableArray<RegionView> views)
    {
        private readonly List<TimeSpan> _times = [];

        public long First { get; } = first;

        public long Last => First + _times.Count - 1;

        public ImmutableArray<RegionView> Views { get; } = views;

        public TimeSpan Begun => _times[0];

        public void Add(TimeSpan at) => _times.Add(at);

        public TimeSpan SentAt(long number) => _times[(int)(number - First)];

        /// <summary>The first number that was sent at this time or later; after Last when none was.</summary>
        public long FirstSince(TimeSpan at)
        {
            int index = _times.BinarySearch(at);
            index = index < 0 ? ~index : index;
            while (index > 0 && _times[index - 1] == at)
            {
                index--;
            }

            return First + index;
        }
    }

    protected sealed class SenderLog(NodeKey sender, ulong topic)
    {
        private readonly List<Run> _runs = [];

        public IReadOnlyList<Run> Runs => _runs;

        public NodeKey Sender { get; } = sender;

        public ulong Topic { get; } = topic;

        public bool HasStopped { get; set; }

        public void Add(in Sent sent)
        {
            if (_runs.Count == 0 || _runs[^1].Last + 1 != sent.Message.Sequence || !_runs[^1].Views.SequenceEqual(sent.Views))
            {
                _runs.Add(new Run(sent.Message.Sequence, sent.Views));
            }

            _runs[^1].Add(sent.At);
        }

        public Run? RunOf(long number)
        {
            for (int i = _runs.Count - 1; i >= 0; i--)
            {
                if (_runs[i].First <= number)
                {
                    return _runs[i].Last >= number ? _runs[i] : null;
                }
            }

            return null;
        }
    }
}
