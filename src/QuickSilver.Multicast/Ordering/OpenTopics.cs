using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Ordering;

// The topics that are open at this node: their views, who sends in them and who receives.
//
// Invariants: a view is kept while somebody here has its topic open, and is of the service that told of the last snapshot; a
// topic's numbers outlive its senders.
internal sealed class OpenTopics(MulticastNode node)
{
    private readonly Dictionary<ulong, TopicView> _views = [];
    // The newest of each topic; the others hang on it.
    private readonly Dictionary<ulong, TopicSender> _senders = [];
    private readonly Dictionary<(ulong Topic, bool Reliable), TopicNumbers> _numbers = [];
    private readonly Dictionary<(ulong Topic, bool Reliable), TopicReceiver> _receivers = [];

    public Dictionary<(ulong Topic, bool Reliable), TopicReceiver>.ValueCollection Receivers => _receivers.Values;

    private IEnumerable<TopicSender> Senders
    {
        get
        {
            foreach (var newest in _senders.Values)
            {
                for (var sender = newest; sender is not null; sender = sender.NextOfTopic)
                {
                    yield return sender;
                }
            }
        }
    }

    public TopicView? ViewOf(ulong topicId) => _views.GetValueOrDefault(topicId);

    public TopicReceiver? FindReceiver(ulong topicId, bool reliable) => _receivers.GetValueOrDefault((topicId, reliable));

    public TopicSender OpenSender(ulong topicId, bool reliable)
    {
        if (!_numbers.TryGetValue((topicId, reliable), out var numbers))
        {
            _numbers.Add((topicId, reliable), numbers = new TopicNumbers());
        }

        var sender = new TopicSender(topicId, reliable, numbers, node) { NextOfTopic = _senders.GetValueOrDefault(topicId) };
        _senders[topicId] = sender;
        if (ViewOf(topicId) is { } view)
        {
            sender.Apply(view);
        }

        return sender;
    }

    public TopicReceiver OpenReceiver(ulong topicId, bool reliable, ITopicSink sink)
    {
        var receiver = new TopicReceiver(topicId, reliable, sink, node);
        _receivers.Add((topicId, reliable), receiver);
        if (ViewOf(topicId) is { Subscribed: true } view)
        {
            receiver.ActiveFrom = view.Configuration;
        }

        return receiver;
    }

    public void Apply(ConfigurationChange change)
    {
        if (change.IsSnapshot)
        {
            _views.Clear();
            foreach (var sender in Senders)
            {
                sender.Unroute();
            }
        }

        foreach (var view in change.Topics)
        {
            Apply(view);
        }

        foreach (var sender in Senders)
        {
            sender.Route();
            sender.MarkRoutes(change.Number);
        }
    }

    /// <summary>Whether some sender of the topic here sends to this member.</summary>
    public bool IsRoutedTo(ulong topicId, NodeKey member)
    {
        for (var sender = _senders.GetValueOrDefault(topicId); sender is not null; sender = sender.NextOfTopic)
        {
            foreach (var route in sender.Routes)
            {
                if (route.IsLive(member))
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>How far all members have room for the topic.</summary>
    public void SetCredit(ulong topicId, long through)
    {
        foreach (bool reliable in (ReadOnlySpan<bool>)[true, false])
        {
            if (_numbers.TryGetValue((topicId, reliable), out var numbers))
            {
                numbers.CreditThrough = through;
            }
        }
    }

    /// <summary>What is missing of the stream's sender will not come any more.</summary>
    public void OnLoss(InboundStream stream)
    {
        bool senderGone = stream.IsSenderGone && stream.IsReliable;
        foreach (var receiver in _receivers.Values)
        {
            if (receiver.IsReliable == stream.IsReliable)
            {
                receiver.OnLoss(stream, senderGone);
            }
        }
    }

    public void Forget(TopicSender sender)
    {
        var newest = _senders.GetValueOrDefault(sender.TopicId);
        if (newest == sender)
        {
            _senders.Remove(sender.TopicId);
            if (sender.NextOfTopic is { } next)
            {
                _senders.Add(sender.TopicId, next);
            }
        }

        for (var before = newest; before is not null; before = before.NextOfTopic)
        {
            if (before.NextOfTopic == sender)
            {
                before.NextOfTopic = sender.NextOfTopic;
            }
        }

        ForgetView(sender.TopicId);
    }

    // The next subscription to the topic begins with a view of its own, never with the one this subscription had.
    public void Forget(TopicReceiver receiver)
    {
        _receivers.Remove((receiver.TopicId, receiver.IsReliable));
        if (ViewOf(receiver.TopicId) is { } view)
        {
            _views[receiver.TopicId] = view with { Subscribed = false };
        }

        ForgetView(receiver.TopicId);
    }

    private void Apply(TopicView view)
    {
        var reliable = FindReceiver(view.TopicId, reliable: true);
        var bestEffort = FindReceiver(view.TopicId, reliable: false);
        // A receiver that opens in the middle of a view has missed where the senders' runs begin: it waits for a view of its own.
        bool receives = reliable is not null || bestEffort is not null;
        _views[view.TopicId] = receives || !view.Subscribed ? view : view with { Subscribed = false };
        for (var sender = _senders.GetValueOrDefault(view.TopicId); sender is not null; sender = sender.NextOfTopic)
        {
            sender.Apply(view);
        }

        if (view.Subscribed)
        {
            reliable?.Activate(view.Configuration);
            bestEffort?.Activate(view.Configuration);
        }
    }

    // A topic that is not open here any more is not kept up to date; opened again, it waits for a new view.
    private void ForgetView(ulong topicId)
    {
        if (FindReceiver(topicId, reliable: true) is null && FindReceiver(topicId, reliable: false) is null
            && !_senders.ContainsKey(topicId))
        {
            _views.Remove(topicId);
        }
    }
}
