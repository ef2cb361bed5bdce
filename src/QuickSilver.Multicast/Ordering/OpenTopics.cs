using System.Net;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.BestEffort;
using QuickSilver.Multicast.Ordering.Leaving;
using QuickSilver.Multicast.Ordering.Pinned;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// The topics that are open at this node: their views, senders and receivers.
//
// Invariants: a view is kept while this node has an endpoint of its topic open, and comes from the service that sent the last snapshot. The
// numbers of a topic outlive its senders. In its lifetime, a node numbers at most MostNumbered topics.
internal sealed class OpenTopics(IOrderingNode node)
{
    private readonly Dictionary<ulong, TopicView> _views = [];
    // The newest sender of each topic; it links to the older ones (NextOfTopic).
    private readonly Dictionary<ulong, TopicSender> _senders = [];
    private readonly Dictionary<ChannelKey, TopicNumbers> _numbers = [];
    // The next number of each topic that has no publisher here now and no packets in any view in use. The number is kept for the lifetime
    // of the node, because subscribers remember the last number, or of the only subscriber. Null until there is one.
    private Dictionary<ChannelKey, long>? _resting;
    // The topics with one subscriber that have numbers. Null until there is one.
    private HashSet<ulong>? _ofOneSubscriber;
    // Where the numbers of topics with one subscriber begin: above those of all such topics that ended with their subscriber. One that is
    // taken back after it was removed remembers its last number, and begins a new run, since it was not together with this node meanwhile.
    private long _nextOfEnded = 1;
    // Closed senders whose numbers cannot be moved to _resting yet.
    private readonly List<TopicSender> _closing = [];
    private readonly Dictionary<ChannelKey, TopicReceiver> _receivers = [];
    // The view sequences of the pinned topics to which this node subscribes; null before the first.
    private SortedDictionary<ulong, ViewSequence>? _sequences;
    // The subscriptions that are notified of what is stable. Null until there is one.
    private List<TopicReceiver>? _reporting;
    // Null until a topic is left in order.
    private LeftTopics? _left;

    /// <summary>
    /// The number of topics that a node may publish in its lifetime, reliable and best effort. Each then occupies 40 bytes.
    /// </summary>
    public const int MostNumbered = 1 << 20;

    /// <summary>The number of topics that have no publisher here any more, and of which only the next number is kept.</summary>
    public int Resting => _resting?.Count ?? 0;

    /// <summary>The number of topics that are published here, or were until a moment ago.</summary>
    public int Numbered => _numbers.Count;

    /// <summary>The pinned topics of which a view waits for the one before.</summary>
    public IEnumerable<ViewSequence> WaitingViews => _sequences?.Values.Where(static sequence => sequence.IsWaiting) ?? [];

    /// <summary>Messages of reliable topics that later ones, which are here, wait for.</summary>
    public IEnumerable<AwaitedMessage> AwaitedMessages => _receivers.Values.SelectMany(static receiver => receiver.AwaitedMessages);

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

    /// <summary>The subscriptions whose topics this node has left, and that still take what was sent to them.</summary>
    public LeftTopics Left(Predicate<long> isSettled, Predicate<long> hasAll) =>
        _left ??= new LeftTopics(node.Context.Environment, isSettled, hasAll);

    public void CloseLeft() => _left?.Close();

    public TopicView? ViewOf(ulong topicId) => _views.GetValueOrDefault(topicId);

    public TopicReceiver? FindReceiver(ulong topicId, StreamClass streamClass) =>
        _receivers.GetValueOrDefault(new ChannelKey(topicId, streamClass));

    /// <summary>The newest sender of a topic; null if none is open.</summary>
    public TopicSender? FindSender(ulong topicId) => _senders.GetValueOrDefault(topicId);

    public ViewSequence? ViewsOf(ulong topicId) => _sequences?.GetValueOrDefault(topicId);

    public TopicSender OpenPublisher(in ChannelSpec channel)
    {
        Check(channel);
        var numbers = NumbersOf(channel);
        var sender = new TopicSender(channel, numbers, node) { NextOfTopic = _senders.GetValueOrDefault(channel.Topic) };
        _senders[channel.Topic] = sender;
        sender.IsHeld = ViewsOf(channel.Topic) is { IsHeld: true };
        if (ViewOf(channel.Topic) is { } view)
        {
            sender.Apply(view);
        }

        return sender;
    }

    public TopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink)
    {
        Check(channel);
        var receiver = new TopicReceiver(channel, sink, node);
        _receivers.Add(channel.Key, receiver);
        if (channel.ReportsStable)
        {
            (_reporting ??= []).Add(receiver);
        }

        if (channel.IsPinned)
        {
            var stable = channel.ReportsStable ? new StableReports(sink, node.Context) : null;
            (_sequences ??= []).Add(channel.Topic, new ViewSequence(node, receiver, sink, stable));
        }

        if (ViewOf(channel.Topic) is { Subscribed: true } view)
        {
            receiver.ActiveFrom = view.Configuration;
            receiver.Restrict(view.Publishers);
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

        node.Receiving.ApplyAddresses(change, AddressOf);
        FollowRegions();
    }

    /// <summary>Processes a mark: a sender reports in its reliable stream how many messages it has sent to a best-effort topic.</summary>
    public void OnMark(ConsumedStream stream, in StreamMessage message)
    {
        if (!stream.IsReliable || message.StartTable.IsEmpty || !TopicMark.TryRead(message.Delivered.Span, out var mark))
        {
            node.Context.Counters.Drop(DropReason.Malformed);
            return;
        }

        FindReceiver(mark.TopicId, StreamClass.BestEffort)?.OnMark(stream, message.StartTable, mark.Number);
    }

    /// <summary>Removes these senders from all subscriptions, except senders whose messages are still awaited.</summary>
    public void ForgetSenders(Predicate<NodeKey> isOver)
    {
        foreach (var receiver in _receivers.Values)
        {
            receiver.Forget(isOver);
        }
    }

    /// <summary>The node is not a member any more: its inbox ends with it.</summary>
    public void OnNodeGone(NodeKey node)
    {
        if (_resting is not null
            && _resting.Remove(new ChannelKey(TopicId.Of(InboxName.Of(node.ToString())), StreamClass.Reliable), out long next))
        {
            _nextOfEnded = Math.Max(_nextOfEnded, next);
        }
    }

    /// <summary>Called when views may be over: installs the next views of pinned topics.</summary>
    public void InstallViews()
    {
        foreach (var sequence in Sequences())
        {
            sequence.TryInstall();
        }
    }

    /// <summary>Sets whether the topic's publishers must refuse messages.</summary>
    public void SetHeld(ulong topicId, bool isHeld)
    {
        for (var sender = _senders.GetValueOrDefault(topicId); sender is not null; sender = sender.NextOfTopic)
        {
            sender.IsHeld = isHeld;
        }
    }

    /// <summary>The newest view by which this node, a member of it, gets the topic; null if there is none.</summary>
    public RegionView? OwnViewOf(ulong topicId)
    {
        foreach (ulong region in ViewOf(topicId)?.Regions ?? [])
        {
            if (node.RegionOf(region) is { } view && view.Members.AsSpan().BinarySearch(node.Context.Self) >= 0)
            {
                return view;
            }
        }

        return null;
    }

    /// <summary>Whether a sender of the topic on this node sends to this member, through this region if one is given.</summary>
    public bool IsRoutedTo(ulong topicId, NodeKey member, ulong? region)
    {
        for (var sender = _senders.GetValueOrDefault(topicId); sender is not null; sender = sender.NextOfTopic)
        {
            foreach (var route in sender.Routes)
            {
                if (route.IsLive(member) && (region is null || region == route.View.RegionId))
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>The name of a topic that is published here; null if it is not known.</summary>
    public string? NameOf(ulong topicId) => _senders.GetValueOrDefault(topicId)?.Name;

    /// <summary>Sets the last number for which all members have room.</summary>
    public void SetCredit(ulong topicId, long through)
    {
        foreach (var streamClass in StreamClass.All)
        {
            if (_numbers.TryGetValue(new ChannelKey(topicId, streamClass), out var numbers))
            {
                numbers.CreditThrough = through;
            }
        }
    }

    /// <summary>Reduces each topic that was closed before this configuration to its next number.</summary>
    public void Rest(long settled) => _closing.RemoveAll(closed => TryRest(closed, settled));

    /// <summary>Called when a configuration is applied: its nodes are known, and their rights to publish.</summary>
    public void OnConfiguration(ConfigurationChange change)
    {
        foreach (var receiver in _receivers.Values)
        {
            receiver.OnConfiguration(change);
        }
    }

    /// <summary>Called when more of the stream is stable.</summary>
    public void OnStable(ConsumedStream stream)
    {
        for (int i = _reporting?.Count - 1 ?? -1; i >= 0; i--)
        {
            _reporting![i].OnStable(stream);
        }
    }

    /// <summary>Called when missing messages of the stream's sender will not arrive any more.</summary>
    public void OnLoss(ConsumedStream stream)
    {
        bool senderGone = stream.IsSenderGone && stream.IsReliable;
        foreach (var receiver in _receivers.Values)
        {
            if (receiver.Class == stream.Class)
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
        _closing.Add(sender);
    }

    // The next subscription to the topic begins with a view of its own, not with the view that this subscription had.
    public void Forget(TopicReceiver receiver)
    {
        _receivers.Remove(new ChannelKey(receiver.TopicId, receiver.Class));
        _reporting?.Remove(receiver);
        if (_sequences is not null && _sequences.Remove(receiver.TopicId, out var sequence))
        {
            sequence.Close();
        }

        if (ViewOf(receiver.TopicId) is { } view)
        {
            _views[receiver.TopicId] = view with { Subscribed = false };
        }

        ForgetView(receiver.TopicId);
    }

    private static void Check(in ChannelSpec channel)
    {
        if (channel.IsPinned && !channel.Class.IsReliable)
        {
            throw new ArgumentException(
                $"Topic {channel.Topic:x} is pinned and best effort. Only a reliable topic can be pinned.", nameof(channel));
        }

        if (channel.StreamNumber >= StreamClass.Numbers || (channel.StreamNumber != 0 && !channel.Class.IsReliable))
        {
            throw new ArgumentException(
                $"Topic {channel.Topic:x} asks for the stream number {channel.StreamNumber}. A reliable topic can have 0 to "
                + $"{StreamClass.Numbers - 1}, and a best-effort one has 0.",
                nameof(channel));
        }

        if (channel is { ReportsStable: true, IsPinned: false })
        {
            throw new ArgumentException(
                $"Topic {channel.Topic:x} reports what is stable and is not pinned. Only the members of a pinned topic know it.",
                nameof(channel));
        }
    }

    // A region may have a new view although its topic has not changed.
    private void FollowRegions()
    {
        foreach (var sequence in Sequences())
        {
            if (ViewOf(sequence.TopicId) is { Subscribed: true, Regions: [var region] } && node.RegionOf(region) is { } view
                && view.Members.AsSpan().BinarySearch(node.Context.Self) >= 0)
            {
                sequence.OnView(view);
            }
        }
    }

    // Where this node receives the topic, besides the groups of its regions.
    private IPEndPoint? AddressOf(ulong topicId) => ViewOf(topicId) is { Subscribed: true } view ? view.Address?.EndPoint : null;

    // A copy, because sinks may close topics while they are called.
    private ViewSequence[] Sequences() => _sequences is null ? [] : [.. _sequences.Values];

    private TopicNumbers NumbersOf(in ChannelSpec channel)
    {
        var topic = channel.Key;
        if (_numbers.TryGetValue(topic, out var numbers))
        {
            return numbers;
        }

        numbers = new TopicNumbers();
        if (_resting is not null && _resting.Remove(topic, out long next))
        {
            numbers.Next = next;
        }
        else if (_numbers.Count + Resting >= MostNumbered)
        {
            throw new InvalidOperationException(
                $"This node has published {MostNumbered:N0} topics. This is the maximum, because a node keeps the last message number of "
                + "each topic. Use fewer topics, or start a new node.");
        }
        else if (channel.HasOneSubscriber)
        {
            numbers.Next = _nextOfEnded;
        }

        if (channel.HasOneSubscriber)
        {
            (_ofOneSubscriber ??= []).Add(channel.Topic);
        }

        _numbers.Add(topic, numbers);
        return numbers;
    }

    // True if nothing more is to do for the closed sender: only its next number is kept, or another sender of the topic uses its numbers,
    // or it never sent a message.
    private bool TryRest(TopicSender closed, long settled)
    {
        var topic = new ChannelKey(closed.TopicId, closed.Class);
        if (IsPublished(topic) || !_numbers.TryGetValue(topic, out var numbers))
        {
            return true;
        }

        bool isUnused = numbers.Next == 1;
        if (!isUnused && !(closed.HasBegun && numbers.IsSettled(settled) && node.Sent.HasBegunEverywhere(closed.TopicId)))
        {
            return false;
        }

        _numbers.Remove(topic);
        if (_ofOneSubscriber?.Remove(closed.TopicId) == true && closed.IsUnheard)
        {
            _nextOfEnded = Math.Max(_nextOfEnded, numbers.Next);
        }
        else if (!isUnused)
        {
            (_resting ??= []).Add(topic, numbers.Next);
        }

        return true;
    }

    private bool IsPublished(ChannelKey topic)
    {
        for (var sender = _senders.GetValueOrDefault(topic.Topic); sender is not null; sender = sender.NextOfTopic)
        {
            if (sender.Class == topic.Class)
            {
                return true;
            }
        }

        return false;
    }

    private void Apply(TopicView view)
    {
        // A receiver that opens in the middle of a view has missed the beginning of the senders' runs. It waits for a view that includes
        // it.
        _views[view.TopicId] = IsReceived(view.TopicId) || !view.Subscribed ? view : view with { Subscribed = false };
        for (var sender = _senders.GetValueOrDefault(view.TopicId); sender is not null; sender = sender.NextOfTopic)
        {
            sender.Apply(view);
        }

        foreach (var streamClass in StreamClass.All)
        {
            if (FindReceiver(view.TopicId, streamClass) is { } receiver)
            {
                receiver.Restrict(view.Publishers);
                if (view.Subscribed)
                {
                    receiver.Activate(view.Configuration);
                }
            }
        }
    }

    private bool IsReceived(ulong topicId)
    {
        foreach (var streamClass in StreamClass.All)
        {
            if (FindReceiver(topicId, streamClass) is not null)
            {
                return true;
            }
        }

        return false;
    }

    // The view of a topic that is no longer open here is not updated. If the topic is opened again, it waits for a new view.
    private void ForgetView(ulong topicId)
    {
        if (!IsReceived(topicId) && !_senders.ContainsKey(topicId))
        {
            _views.Remove(topicId);
        }
    }
}
