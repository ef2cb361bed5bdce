using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I8: a message is delivered in a view that it was sent in. The promise of a reliable topic, as the guarantees state it, is
// weaker than that of a group in one point: an old view lives on, so a receiver may be in a newer one already. But it was
// told that view, is a member of it, and subscribed in it; and to every such subscriber that stays up a message goes whose
// sender stays up. Promised from when the subscription is told of: what came before it could listen, nobody can judge. Two
// that parted when the service changed owe each other nothing from before; that this is told, I1 sees to.
internal sealed class DeliveryViewChecker : HistoryChecker
{
    private readonly HashSet<(NodeKey Life, ulong Region, uint Number)> _memberOf = [];
    private readonly Dictionary<(NodeKey Sender, ulong Topic), SenderLog> _logs = [];
    private readonly Dictionary<ulong, List<SenderLog>> _logsByTopic = [];
    private readonly Dictionary<long, Listener> _listeners = [];
    private readonly List<Listener> _open = [];
    private readonly Partings _partings = new();
    private TimeSpan _last;

    public override string Invariant => "I8";

    public override void On(in Configured configured) => _partings.On(configured);

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
            _logs[(message.Sender, message.Topic)] = log = new SenderLog(message.Sender);
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
        _last = delivered.At;
        var message = delivered.Message;
        if (!_listeners.TryGetValue(delivered.Subscription.Number, out var listener))
        {
            return;
        }

        listener.Of(message.Sender).Add(message.Sequence);
        if (!_logs.TryGetValue((message.Sender, message.Topic), out var log) || log.RunOf(message.Sequence) is not { } run)
        {
            return;
        }

        bool isMember = false;
        foreach (var view in run.Views)
        {
            if (_memberOf.Contains((listener.Life, view.RegionId, view.Number)))
            {
                isMember = true;
                if (view.Configuration >= listener.Configuration)
                {
                    return;
                }
            }
        }

        string what = isMember
            ? $"older than its subscription, which is of configuration {listener.Configuration}"
            : "no view that it was told and is a member of";
        Violate(delivered.At, $"{delivered.Subscription} was given {message}, which was sent in {Names(run.Views)}: {what}.");
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

    public override void OnEnd()
    {
        foreach (var listener in _open)
        {
            foreach (var log in _logsByTopic.GetValueOrDefault(listener.Subscription.Topic) ?? [])
            {
                if (!log.HasStopped && log.FirstOwed(listener, _partings) is var (number, views) && number > 0)
                {
                    var message = new MessageId(log.Sender, listener.Subscription.Topic, number);
                    string view = $"the view that {message} was sent in ({Names(views)})";
                    Violate(_last, $"{listener.Subscription} is in {view}, and never got it.");
                }
            }
        }
    }

    private static string Names(ImmutableArray<RegionView> views) =>
        views.IsEmpty ? "no view at all" : string.Join(", ", views.Select(view => $"{view.RegionId:x}/{view.Number}@{view.Configuration}"));

    private void Close(long number)
    {
        if (_listeners.Remove(number, out var listener))
        {
            _open.Remove(listener);
        }
    }

    private sealed class Listener(in Activated activated)
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

        /// <summary>The view in which this listener is owed what was sent in these; null when in none.</summary>
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
    private sealed class Run(long first, ImmutableArray<RegionView> views)
    {
        private readonly List<TimeSpan> _times = [];

        public long First { get; } = first;

        public long Last => First + _times.Count - 1;

        public ImmutableArray<RegionView> Views { get; } = views;

        public TimeSpan Begun => _times[0];

        public void Add(TimeSpan at) => _times.Add(at);

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

    private sealed class SenderLog(NodeKey sender)
    {
        private readonly List<Run> _runs = [];

        public NodeKey Sender { get; } = sender;

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

        public (long Number, ImmutableArray<RegionView> Views) FirstOwed(Listener listener, Partings partings)
        {
            var given = listener.Of(Sender);
            foreach (var run in _runs)
            {
                if (listener.Among(run.Views) is { } view && !partings.HaveParted(Sender, run.Begun, listener.Life, view))
                {
                    long missing = given.FirstMissing(run.FirstSince(listener.Since));
                    if (missing <= run.Last)
                    {
                        return (missing, run.Views);
                    }
                }
            }

            return default;
        }
    }
}
