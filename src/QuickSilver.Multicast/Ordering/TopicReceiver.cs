using System.Collections.Immutable;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Pinned;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// Orders messages per topic and sender, across views and regions. Each message carries its number in the topic, so a lost packet delays
// only the topics whose messages it carried, and a node that changes its region continues where it was.
//
// A subscription is active from the configuration in which the membership service put it into a view. It ignores messages of older views.
// The first message of a topic in each view carries the start table, which shows where the sender's run begins for this subscription. Until
// it arrives, other messages are held.
internal sealed partial class TopicReceiver : ITopicReceiver
{
    // A topic usually has few senders. The dictionary is used only for more than these.
    private const int FewSenders = 8;

    // Null before the first message.
    private List<SenderOrder>? _senders;
    private Dictionary<NodeKey, SenderOrder>? _bySender;
    private DepartedSenders? _departed;
    private readonly IReceivingNode _node;
    private readonly IDeliverySink _sink;
    private readonly bool _isPinned;
    private bool _isClosed;

    public TopicReceiver(in ChannelSpec channel, IDeliverySink sink, IReceivingNode node)
    {
        TopicId = channel.Topic;
        Class = channel.Class;
        _isPinned = channel.IsPinned;
        _node = node;
        _sink = sink;
    }

    /// <summary>The run of each sender, for diagnostics.</summary>
    public IReadOnlyList<SenderOrder> Orders => _senders ?? [];

    public long Taken
    {
        get
        {
            long taken = _departed?.TakenCount ?? 0;
            foreach (var order in Orders)
            {
                taken += order.TakenCount;
            }

            return taken;
        }
    }

    /// <summary>The sink of the messages.</summary>
    public IDeliverySink Sink => _sink;

    public ulong TopicId { get; }
    public StreamClass Class { get; }
    public bool IsReliable => Class.IsReliable;

    /// <summary>Whether the sink has refused a message, so that the next messages of its sender wait for room.</summary>
    public bool IsAnyBlocked => _senders is not null && _senders.Exists(static order => order.IsBlocked);

    public string? Name { get; set; }

    /// <summary>A text for log messages.</summary>
    public string Label => Name is null ? $"topic {TopicId:x}" : $"topic \"{Name}\"";

    /// <summary>The configuration from which on this subscription is in the topic's view; 0 if it is not yet.</summary>
    public long ActiveFrom { get; set; }

    public void Activate(long configuration)
    {
        if (ActiveFrom == 0)
        {
            ActiveFrom = configuration;
        }
    }

    public void OnMessage(ConsumedStream stream, in StreamMessage message)
    {
        if (!IsActiveFor(stream) || stream.Class != Class)
        {
            return;
        }

        if (IsWithoutRight(stream.Sender))
        {
            OnWithoutRight(stream.Sender);
            return;
        }

        var order = Find(stream.Sender);
        bool isAhead = IsAhead(stream);
        if (!isAhead && !order.IsUnproven)
        {
            StreamOrders.Note(stream, TopicId, order);
        }

        if (!message.StartTable.IsEmpty)
        {
            Begin(order, stream, message.StartTable);
        }

        if (order.IsUnproven)
        {
            HoldUnproven(order, stream, message);
            return;
        }

        long sequence = message.Delivered.Sequence;
        // One that is held is here again after a refusal of memory.
        if (order.Next == sequence && !isAhead && !order.Holds(sequence) && TryPass(order, message.Delivered))
        {
            order.Advance();
            if (order.HeldCount > 0)
            {
                Drain(order);
            }

            return;
        }

        if (order.Next != 0 && sequence < order.Next)
        {
            _node.Context.Counters.DuplicateMessages++;
            if (order.HeldCount > 0)
            {
                // After a refusal of memory the message comes again, and those behind it wait for this.
                Drain(order);
            }

            return;
        }

        if (!IsReliable)
        {
            _node.Losses.Hold(this, order, stream, message);
        }
        else
        {
            bool isNew = order.Hold(stream, message);
            _node.Context.Counters.DuplicateMessages += isNew ? 0 : 1;
            if (!isAhead && order.Next != 0)
            {
                Drain(order);
            }
            else if (isAhead && isNew)
            {
                HoldIfReaderIsSlow(order);
            }
        }

        if (IsReliable && order.HeldCount > 0)
        {
            _node.Context.OnWait();
        }
    }

    /// <summary>Called when more of a stream is stable, which may be of another topic.</summary>
    public void OnStable(ConsumedStream stream)
    {
        if (_node.ViewsOf(TopicId) is not { } views || !views.IsOfTopic(stream.View))
        {
            return;
        }

        if (views.IsAhead(stream.View))
        {
            views.Stable!.OnAhead(stream);
        }
        else if (views.Configuration == stream.View.Configuration && Known(stream.Sender) is { IsUnproven: false } order)
        {
            views.Stable!.OnStable(stream, order.Taken);
        }
    }

    /// <summary>Called when a pinned topic's next view is about to be installed.</summary>
    public void OnViewEnds() => Stable?.OnViewEnds(Orders.Select(static order => (order.Sender, order.Taken)));

    // Not in a field: most topics are not pinned, and there are thousands of idle ones.
    private StableReports? Stable => _isPinned ? _node.ViewsOf(TopicId)?.Stable : null;

    private bool IsActiveFor(ConsumedStream stream) => !_isClosed && ActiveFrom != 0 && stream.View.Configuration >= ActiveFrom;

    public bool IsClosed => _isClosed;

    public void AwaitLast(long configuration, Action settled, Action completed) =>
        _node.AwaitLast(this, configuration, settled, completed);

    /// <summary>Called where a message waits for memory, but not where it begins the topic.</summary>
    public void OnBeginning(ConsumedStream stream, ReadOnlySpan<byte> starts)
    {
        if (IsActiveFor(stream) && stream.Class == Class && !IsWithoutRight(stream.Sender))
        {
            Begin(Find(stream.Sender), stream, starts);
        }
    }

    /// <summary>
    /// In a best-effort topic: called when the sender reports in its reliable stream that it has sent all messages up to a number.
    /// </summary>
    public void OnMark(ConsumedStream stream, ReadOnlySpan<byte> starts, long number)
    {
        if (!IsActiveFor(stream) || IsReliable || IsWithoutRight(stream.Sender))
        {
            return;
        }

        var order = Find(stream.Sender);
        Begin(order, stream, starts);
        order.NoteSent(number);
        if (order.IsUnproven)
        {
            return;
        }

        if (order.Next != 0)
        {
            Drain(order);
        }

        _node.Losses.Note(this, order);
    }

    private void Begin(SenderOrder order, ConsumedStream stream, ReadOnlySpan<byte> starts)
    {
        // A sender that joined this cluster after the subscription was in another cluster before, under other configurations.
        long since = _node.Context.Directory.TogetherSince(stream.Sender);
        order.OnKnown(since);
        if (order.HasBegun(since))
        {
            return;
        }

        long first = StartTable.FirstFor(starts, Math.Max(ActiveFrom, since), out long configuration);
        if (order.Next == 0)
        {
            // The sender may have sent to this subscription before, in a view of which this node was never notified. The table has that
            // view still: a sender forgets a view only when all members have its beginning, or are gone.
            // What needs memory comes first: if it is refused, the message comes again.
            long next = first == 0 ? 0 : StartTable.FirstFor(starts, ActiveFrom, out _);
            order.DropBefore(next);
            order.SkipTo(next);
        }

        if (first != 0)
        {
            order.Begin(since, configuration);
            order.RunStart = first;
            if (first > order.Next && IsReliable)
            {
                // The sender was away and is back, or this node was away for it: what it sent meanwhile never arrives.
                _node.OnLoss(stream);
            }
        }
    }

    /// <summary>
    /// Called when missing messages of this sender may never arrive. They will not arrive if the stream that has the next held message is
    /// at its end and no other stream of the sender still waits for packets. A stream that continues contains all messages from the
    /// beginning of the sender's run in it, and none from before.
    /// </summary>
    public void OnLoss(ConsumedStream stream, bool senderGone)
    {
        if (Known(stream.Sender) is not { IsUnproven: false } order)
        {
            return;
        }

        while (order.TryFirstHeld(out long first))
        {
            if (order.IsBlocked)
            {
                order.PendingLoss = stream;
                return;
            }

            order.TryPeekHeld(first, out var held);
            if (IsAhead(held.Stream) || _node.AwaitReadBefore(held.Stream) || held.Stream.AwaitReadThrough(held.Packet))
            {
                // Messages that wait in the older view, or before this one for memory, may precede it, although nothing is missing there.
                // Of a view that is not installed yet, nothing is delivered or reported.
                return;
            }

            if (held.Stream.IsReliable && !held.Stream.IsSenderGone)
            {
                if (order.Next == 0 || order.RunStart <= order.Next)
                {
                    return;
                }

                first = order.RunStart;
            }

            if (order.Next != 0 && first > order.Next)
            {
                GiveUp(order, first - 1, senderGone ? TopicGapReason.SenderGone : TopicGapReason.SentElsewhere);
            }

            order.SkipTo(first);
            Drain(order);
        }
    }

    /// <summary>
    /// Moves senders whose messages cannot arrive any more to DepartedSenders. They are kept there, because they may come back from another
    /// cluster.
    /// </summary>
    public void Forget(Predicate<NodeKey> isOver)
    {
        for (int i = _senders?.Count - 1 ?? -1; i >= 0; i--)
        {
            var order = _senders![i];
            if (!order.IsAwaiting && !order.IsBlocked && isOver(order.Sender))
            {
                Remove(order);
                if (order.Slow is not null)
                {
                    _node.SlowReaders.OnClosed(order);
                }

                Depart(order);
                Stable?.OnDeparted(order.Sender, order.Taken);
            }
        }
    }

    /// <summary>Called when a view was installed: delivers the messages of the view that waited for that.</summary>
    public void OnInstalled()
    {
        for (int i = 0; i < _senders?.Count; i++)
        {
            var order = _senders[i];
            Drain(order);
            if (order.Slow is not null)
            {
                _node.SlowReaders.OnInstalled(order);
            }

            if (order.TryFirstHeld(out long first) && order.TryPeekHeld(first, out var held) && !IsAhead(held.Stream))
            {
                _node.OnLoss(held.Stream);
            }
        }

        foreach (var stream in Stable?.TakeAhead() ?? [])
        {
            OnStable(stream);
        }
    }

    public void Close()
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        foreach (var order in _senders ?? [])
        {
            order.IsOver = true;
            order.DropAll();
            if (order.Slow is not null)
            {
                _node.SlowReaders.OnClosed(order);
            }
        }

        _senders = null;
        _bySender = null;
        _node.Forget(this);
    }

    /// <summary>Reports a range of messages that will not arrive as a gap, and continues after it.</summary>
    public void GiveUp(SenderOrder order, long last, TopicGapReason reason)
    {
        ReportGap(order.Sender, order.Next, last, reason);
        order.SkipTo(last + 1);
    }

    public void Drain(SenderOrder order)
    {
        while (!order.IsUnproven && order.TryPeekHeld(order.Next, out var held))
        {
            if (IsAhead(held.Stream) || !TryPass(order, held.Message))
            {
                return;
            }

            order.RemoveHeld(order.Next);
            order.Advance();
        }
    }

    private bool IsAhead(ConsumedStream stream) => _isPinned && _node.ViewsOf(TopicId)?.IsAhead(stream.View) != false;

    private SenderOrder Find(NodeKey sender)
    {
        if (Known(sender) is { } known)
        {
            return known;
        }

        // All that needs memory comes before anything is changed.
        _node.Context.Environment.Heap.Ask(HeapUse.SenderRun, 0);
        var order = _departed?.Find(sender) ?? new SenderOrder(sender, _sink) { IsUnproven = IsUnproven(sender) };
        _senders ??= new List<SenderOrder>(1);
        _senders.EnsureCapacity(_senders.Count + 1);
        _bySender?.Add(sender, order);
        _departed?.Take(sender);
        order.IsOver = false;
        _senders.Add(order);
        if (_bySender is null && _senders.Count > FewSenders)
        {
            _bySender = _senders.ToDictionary(static one => one.Sender);
        }

        return order;
    }

    private void Remove(SenderOrder order)
    {
        order.IsOver = true;
        _senders!.Remove(order);
        _bySender?.Remove(order.Sender);
    }

    private void Depart(SenderOrder order) => (_departed ??= new DepartedSenders()).Add(order);

    private SenderOrder? Known(NodeKey sender)
    {
        if (_bySender is not null)
        {
            return _bySender.GetValueOrDefault(sender);
        }

        if (_senders is null)
        {
            return null;
        }

        foreach (var order in _senders)
        {
            if (order.Sender == sender)
            {
                return order;
            }
        }

        return null;
    }

    private void ReportGap(NodeKey sender, long first, long last, TopicGapReason reason)
    {
        _node.Context.Counters.GapNotices++;
        try
        {
            _sink.OnGap(new TopicGap(sender, TopicId, first, last, reason));
        }
        catch (Exception)
        {
            _node.Context.Counters.SinkExceptions++;
        }
    }
}
