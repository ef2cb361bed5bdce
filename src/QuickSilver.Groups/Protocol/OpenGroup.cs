using QuickSilver.Core.Alarms;
using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.Questions;
using QuickSilver.Groups.States;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Groups.Protocol;

// One group on one node: its two halves, and the orders that this node sends while it is the oldest member.
internal sealed class OpenGroup : IProtocolWait
{
    private static readonly RegionView NoMembers = new() { RegionId = 0, Number = 0, Configuration = 0, Group = null, Members = [] };

    private readonly IProtocolNode _node;
    private readonly ulong _topic;
    private readonly string _name;
    private readonly Action _sent;
    private readonly Action _handedOver;
    // Orders are sent at the end of the step, so that one message has those of all messages that came in it.
    private readonly Alarm _orders;
    // The newest view in which this node sends.
    private long _sendsIn;
    // Of a node that is no member: those to which it sends.
    private readonly MembersByAge _members = new();
    private long _membersSince = -1;

    public OpenGroup(IProtocolNode node, ulong topic, string name, IReplyPost post, Action sent, Action handedOver)
    {
        Asked = new AskedQuestions(name, node.Self, post);
        _node = node;
        _topic = topic;
        _name = name;
        _sent = sent;
        _handedOver = handedOver;
        _orders = new Alarm(() => SendOrders());
        Signs = new GroupSigns(node, name);
        Primary = new PrimaryPartition(node, () => Receiver?.Holding.Pump());
    }

    public NodeKey Self => _node.Self;

    /// <summary>The questions of this node.</summary>
    public AskedQuestions Asked { get; }

    public GroupSender? Sender { get; set; }

    public GroupReceiver? Receiver { get; set; }

    /// <summary>This node has sent messages of its own that have a place in the order.</summary>
    public bool HasSentOrdered { get; set; }

    /// <summary>The member, if it has a state, and what seeks it.</summary>
    public IStateMember? Member { get; private set; }

    public StateSeeker? Seeker { get; private set; }

    public GroupSigns Signs { get; }

    /// <summary>Whether this node may be outside the primary partition. Only some groups ask.</summary>
    public PrimaryPartition Primary { get; }

    public bool IsClosed { get; private set; }

    public bool IsWaiting => Receiver is { Holding.Held: > 0 };

    public long Progress => Receiver?.Holding.Progress ?? 0;

    public string What => $"{Receiver?.Holding.Held ?? 0} messages of group \"{_name}\" wait for "
        + (Primary.IsWaiting ? "the service to confirm that this node is in the primary partition" : "their order");

    public string? WaitsFor =>
        Primary.IsWaiting ? "the membership service" : Receiver?.Gate.Passing is { } view ? $"node {_node.Named(view.Orderer)}" : null;

    /// <summary>The member has a state, or seeks it.</summary>
    public StateSeeker Join(IStateMember member, ITransfers transfers)
    {
        Member = member;
        return Seeker = new StateSeeker(_node, transfers, _topic, _name, member);
    }

    /// <summary>A question of this node was sent. If the node is no member, it will not see that it is delivered.</summary>
    public void OnAsked(long id)
    {
        if (Receiver is null)
        {
            OnConfiguration();
            Asked.OnDelivered(id);
        }
    }

    /// <summary>The node has applied a configuration: what it sends from now on is sent in its views.</summary>
    public void OnConfiguration()
    {
        if (Receiver is not null)
        {
            return;
        }

        var view = _node.ViewOf(_topic) is { Regions: [var region] } ? _node.RegionOf(region) : null;
        long since = view?.Configuration ?? 0;
        if (since != _membersSince)
        {
            _membersSince = since;
            Asked.OnView(_members.Pass(_topic, view ?? NoMembers));
        }
    }

    public void OnPending()
    {
        if (!_orders.IsPending)
        {
            _node.Environment.Schedule(_orders, TimeSpan.Zero);
        }
    }

    /// <summary>A view is decided. From now on, all that this node sends is sent in it.</summary>
    public void OnFlushing(long configuration) => _sendsIn = configuration;

    /// <summary>Sends what this node has ordered. False: there is no room for all of it.</summary>
    public bool SendOrders()
    {
        if (Receiver?.Gate.Arriving is not { IsOrdering: true, Pending: var pending } view)
        {
            return true;
        }

        if (view.Configuration < _sendsIn)
        {
            // What is sent now comes too late to order anything of that view.
            pending.Clear();
            return true;
        }

        if (HasSentOrdered)
        {
            HasSentOrdered = false;
            view.Traffic.OnOwn();
        }

        Span<byte> body = stackalloc byte[StepsBody.MostOrderBytes];
        while (pending.Count > 0)
        {
            var only = pending.OnlySender;
            var (steps, bytes) = pending.Write(view, body);
            // Without a sender this node cannot order. That ends with its leaving.
            if (Sender is not { } sender || !sender.TrySendOrders(body[..bytes]))
            {
                return false;
            }

            pending.Remove(steps);
            view.Traffic.OnOrdered(only);
            _sent();
        }

        return view.Successor is not { } successor || TryHandOver(view, successor);
    }

    private bool TryHandOver(OrderedView view, NodeKey successor)
    {
        Span<byte> body = stackalloc byte[StepsBody.HeaderBytes + StepsBody.StepBytes];
        StepsBody.WriteHeader(body, GroupFrame.Handover, view.Configuration, steps: 1);
        StepsBody.Write(body[StepsBody.HeaderBytes..], view.RankOf(successor), new OrderStep(successor, 0));
        if (Sender is not { } sender || !sender.TrySendOrders(body))
        {
            return false;
        }

        view.HandOver();
        _handedOver();
        return true;
    }

    /// <summary>
    /// The view for whose messages a causal message of this node can wait; null if all that this node has got is of views before the one in
    /// which the message is sent.
    /// </summary>
    public OrderedView? Causes => Receiver?.Gate.Passing is { } view && view.Configuration >= _sendsIn ? view : null;

    public void Close()
    {
        IsClosed = true;
        _node.Environment.Cancel(_orders);
        Primary.Close();
        Seeker?.Close();
        Asked.Close();
    }
}
