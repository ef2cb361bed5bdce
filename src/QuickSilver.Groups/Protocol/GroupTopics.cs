using QuickSilver.Groups.Ordering;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Groups.Protocol;

// The groups of a node. The channel of each is reliable and pinned, so that it has views of its own. Its messages pass a gate that orders
// them, and its views come to the application between the messages.
internal sealed class GroupTopics(IProtocolNode node) : ITopicProtocol
{
    private readonly SortedDictionary<ulong, OpenGroup> _groups = [];
    private long _orders;
    private long _refused;

    public static TopicProtocolFactory Factory { get; } = new("Group", static node => new GroupTopics(node)) { IsPinned = true };

    public IReadOnlyList<ProtocolCounter> Counters =>
    [
        new()
        {
            Name = "quicksilver.groups.orders",
            Unit = "{message}",
            Description = "Messages by which this node, as the oldest member of a group, ordered the messages of others.",
            Read = () => Volatile.Read(ref _orders),
        },
        new()
        {
            Name = "quicksilver.groups.refused",
            Unit = "{message}",
            Description = "Messages in groups that no member sends. They were not passed to the application.",
            Read = () => Volatile.Read(ref _refused),
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
            NameOf = member => node.Named(member).ToString()!,
            OnPending = group.OnPending,
            OnWait = node.OnWait,
        };
        var receiver = new GroupReceiver(sink, gate, node.Self, group.OnFlushing, () => _refused++);
        receiver.Holding = node.Multicast.OpenSubscription(ChannelOf(topic), receiver, gate);
        receiver.OnClose = () =>
        {
            group.Receiver = null;
            Forget(id);
        };
        return group.Receiver = receiver;
    }

    public void AddWaits(List<IProtocolWait> waits)
    {
        foreach (var group in _groups.Values)
        {
            if (group.IsWaiting)
            {
                waits.Add(group);
            }
        }
    }

    public void Close()
    {
        foreach (var group in _groups.Values)
        {
            group.Close();
        }
    }

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
        if (topic.Settings is GroupSettings settings)
        {
            settings.IsUsed = true;
        }

        if (!_groups.TryGetValue(topic.Id, out var group))
        {
            group = _groups[topic.Id] = new OpenGroup(node, topic.Name, () => _orders++);
        }

        return group;
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
