using QuickSilver.Groups.Ordering;
using QuickSilver.Groups.States;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Protocols.Transfers;

namespace QuickSilver.Groups.Protocol;

// The groups of a node, as a member or to send. The channel of each is reliable and pinned, so that it has views of its own. Its messages
// pass a gate that orders them, and its views come to the application between the messages.
internal sealed class GroupTopics(IProtocolNode node) : ITopicProtocol, ITransferSource
{
    private readonly SortedDictionary<ulong, OpenGroup> _groups = [];
    // Null until the first group is opened.
    private ReplyPost? _post;
    // Opened with the first group that has a state.
    private ITransfers? _transfers;
    private long _orders;
    private long _handovers;
    private long _refused;
    private long _ignored;

    public static TopicProtocolFactory Factory { get; } = new("Group", static node => new GroupTopics(node)) { IsPinned = true };

    public IReadOnlyList<ProtocolCounter> Counters =>
    [
        new()
        {
            Name = "quicksilver.groups.orders",
            Unit = "{message}",
            Description = "Messages by which this node ordered the messages of other members of groups.",
            Read = () => Volatile.Read(ref _orders),
        },
        new()
        {
            Name = "quicksilver.groups.handovers",
            Unit = "{handover}",
            Description = "Times that this node handed the order of a group over to a member that sent alone.",
            Read = () => Volatile.Read(ref _handovers),
        },
        new()
        {
            Name = "quicksilver.groups.refused",
            Unit = "{message}",
            Description = "Messages in groups that no member sends. They were not passed to the application.",
            Read = () => Volatile.Read(ref _refused),
        },
        new()
        {
            Name = "quicksilver.groups.answers",
            Unit = "{message}",
            Description = "Answers to questions in groups that this node has sent to other members.",
            Read = () => _post?.Answers ?? 0,
        },
        new()
        {
            Name = "quicksilver.groups.undelivered",
            Unit = "{message}",
            Description = "Answers to questions in groups that were dropped on their way, or for which no question waited any more.",
            Read = () => _post?.Undelivered ?? 0,
        },
        new()
        {
            Name = "quicksilver.groups.tools.ignored",
            Unit = "{message}",
            Description = "Operations of tools of groups that were ignored: they were malformed, or their sender was no member.",
            Read = () => Volatile.Read(ref _ignored),
        },
    ];

    public ITopicSender OpenPublisher(in ProtocolTopic topic)
    {
        ulong id = topic.Id;
        var group = GroupOf(topic);
        return group.Sender = new GroupSender(node.Multicast.OpenPublisher(ChannelOf(topic)), group, () =>
        {
            group.Sender = null;
            Forget(id);
        });
    }

    public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink)
    {
        ulong id = topic.Id;
        var group = GroupOf(topic);
        var gate = new GroupGate(node.Self)
        {
            RoundsToMove = topic.Settings is GroupSettings { OrderFollowsTraffic: false } ? null : OrderTraffic.Rounds,
            NameOf = member => node.Named(member).ToString()!,
            OnPending = group.OnPending,
            OnOrders = () => group.Receiver?.Holding.PumpSoon(),
            OnWait = node.OnWait,
            Suspends = topic.Settings is GroupSettings { PrimaryPartitionOnly: true } ? group.Primary.IsLeft : null,
        };
        var receiver = new GroupReceiver(sink, gate, node.Self, group.Asked, group.OnFlushing, () => _refused++);
        receiver.Holding = node.Multicast.OpenSubscription(ChannelOf(topic), receiver, gate);
        receiver.OnClose = () =>
        {
            group.Receiver = null;
            Forget(id);
        };
        return group.Receiver = receiver;
    }

    public void OnConfiguration()
    {
        foreach (var group in _groups.Values)
        {
            if (group.Asked.IsAny)
            {
                group.OnConfiguration();
            }
        }
    }

    public void AddWaits(List<IProtocolWait> waits)
    {
        foreach (var group in _groups.Values)
        {
            if (group.IsWaiting)
            {
                waits.Add(group);
            }

            if (group.Seeker is { IsSeeking: true } seeker)
            {
                waits.Add(seeker);
            }
        }
    }

    public void AddSigns(List<ProtocolSnapshot> signs)
    {
        foreach (var group in _groups.Values)
        {
            if (group.Receiver is { Gate.Passing: var view } receiver)
            {
                signs.Add(group.Signs.Read(view, receiver.Holding.Held, group.Member, group.Seeker));
            }
        }
    }

    public void Close()
    {
        foreach (var group in _groups.Values)
        {
            group.Close();
        }

        _transfers?.Close();
        _post?.Close();
    }

    ITransferContent? ITransferSource.Open(NodeKey taker, ReadOnlySpan<byte> subject, long from)
    {
        if (!StateChunk.TryReadSubject(subject, out ulong topic, out long view)
            || !_groups.TryGetValue(topic, out var group) || group is not { Receiver: not null, Member: { } member })
        {
            return null;
        }

        var request = new StateRequest(new NodeId(taker.Id, taker.Incarnation), view, member.Completions);
        member.OnAsked(request);
        group.Signs.OnAsked(request);
        return new StateGiving(member, request, from);
    }

    private ReplyPost Post =>
        _post ??= new ReplyPost(node, Factory.Guarantee, topic => _groups.TryGetValue(topic, out var group) ? group.Asked : null);

    private static ChannelSpec ChannelOf(in ProtocolTopic topic) =>
        new(topic.Id)
        {
            Reliability = Reliability.Reliable,
            IsPinned = true,
            ReportsStable = true,
            Parameters = topic.Contract.Parameters,
        };

    private OpenGroup GroupOf(in ProtocolTopic topic)
    {
        if (!_groups.TryGetValue(topic.Id, out var group))
        {
            group = _groups[topic.Id] = new OpenGroup(node, topic.Id, topic.Name, Post, () => _orders++, () => _handovers++);
        }

        if (topic.Settings is GroupSettings { IsUsed: false } settings)
        {
            settings.IsUsed = true;
            settings.Join = member => Join(group, member);
            settings.Asked = group.Asked;
            settings.OnIgnored = () => Interlocked.Increment(ref _ignored);
        }

        return group;
    }

    private StateSeeker? Join(OpenGroup group, IStateMember member)
    {
        if (group.IsClosed)
        {
            return null;
        }

        _transfers ??= node.OpenTransfers(Factory.Guarantee, this);
        return group.Join(member, _transfers);
    }

    private void Forget(ulong topic)
    {
        if (_groups.TryGetValue(topic, out var group) && group is { Sender: null, Receiver: null })
        {
            group.Close();
            _groups.Remove(topic);
        }
    }
}
