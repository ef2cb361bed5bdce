using System.Buffers.Binary;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Requests;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Multicast.Tests.Infrastructure;

internal readonly record struct Received(NodeKey Sender, ulong Topic, long Sequence, uint Hash, int Bytes);

internal sealed record SeenView(MemberView View, int At, Host.Sink By);

// One node of a test: its multicast, what it published and what it was given.
internal sealed class Host
{
    private readonly MulticastCluster _cluster;
    private readonly Dictionary<ulong, ITopicSender> _senders = [];
    private readonly Dictionary<ulong, (ITopicReceiver Receiver, Sink Sink)> _receivers = [];

    public Host(MulticastCluster cluster, SimulatedMachine node, MulticastOptions options)
    {
        _cluster = cluster;
        Node = node;
        Multicast = new MulticastNode(node.Environment, options, (observer, address) =>
            Membership = cluster.Service.Add(node, observer, address.EndPoint));
    }

    public SimulatedMachine Node { get; }
    public MulticastNode Multicast { get; }
    public ScriptedMembership Membership { get; private set; } = null!;
    public NodeKey Key => Membership.Self;
    public List<Received> Log { get; } = [];
    public List<TopicGap> Gaps { get; } = [];
    public Dictionary<(ulong Topic, long Sequence), uint> Published { get; } = [];

    /// <summary>The views of pinned topics that came, each with the number of messages that had come before it.</summary>
    public List<SeenView> Views { get; } = [];
    public long Refused { get; private set; }

    /// <summary>Each message carries the hash of its payload beside it.</summary>
    public bool Stamps { get; set; }

    /// <summary>Writes the order stamp of each message; null: there is none.</summary>
    public Func<byte[]>? OrderStamp { get; set; }

    /// <summary>Opens subscriptions behind a gate; null: without one.</summary>
    public Func<IDeliveryGate>? Gate { get; set; }

    /// <summary>Of each message that was received, the stamp that it carried; null for one without.</summary>
    public List<uint?> Stamped { get; } = [];

    /// <summary>Whether its subscriptions, of pinned topics, are notified of what is stable.</summary>
    public bool ReportsStable { get; set; }

    /// <summary>Called with the sink of each subscription before it is opened.</summary>
    public Action<Sink>? OnSubscribed { get; set; }

    public void Publishes(ulong topic, bool reliable = true)
    {
        Membership.Open.Add(topic);
        _senders[topic] = Multicast.OpenPublisher(Channel(topic, reliable));
    }

    public Sink Subscribes(ulong topic, bool reliable = true)
    {
        Membership.Open.Add(topic);
        Membership.Subscriptions.Add(topic);
        var sink = new Sink(this);
        OnSubscribed?.Invoke(sink);
        var channel = Channel(topic, reliable) with { ReportsStable = ReportsStable };
        ITopicReceiver receiver = Gate is { } gate
            ? Multicast.OpenSubscription(channel, sink, gate())
            : Multicast.OpenSubscription(channel, sink);
        _receivers[topic] = (receiver, sink);
        return sink;
    }

    private ChannelSpec Channel(ulong topic, bool reliable) => new(topic)
    {
        Reliability = reliable ? Reliability.Reliable : Reliability.BestEffort,
        IsPinned = _cluster.Service.Pinned.Contains(topic),
        StreamNumber = (byte)_cluster.StreamNumbers.GetValueOrDefault(topic),
        HasOneSubscriber = _cluster.Inboxes.Contains(topic),
    };

    public Sink SinkOf(ulong topic) => _receivers[topic].Sink;

    /// <summary>It continues to publish.</summary>
    public void StopsReceiving(ulong topic)
    {
        _receivers.Remove(topic, out var open);
        open.Receiver.Close();
        Membership.Subscriptions.Remove(topic);
    }

    public ITopicReceiver ReceiverOf(ulong topic) => _receivers[topic].Receiver;

    public void Unsubscribes(ulong topic)
    {
        _receivers.Remove(topic, out var open);
        open.Receiver.Close();
        Membership.Close(topic);
    }

    public void StopsPublishing(ulong topic)
    {
        _senders.Remove(topic, out var sender);
        sender!.Close();
        Membership.Close(topic);
    }

    public bool IsSubscribed(ulong topic) => _receivers.ContainsKey(topic);

    public void Resume(ulong topic) => OnCore(() => _receivers[topic].Receiver.Resume());

    public void OnCore(Action action) => Node.Environment.Post(new ActionRequest(action));

    /// <summary>Publishes on the core thread; false when there was no room.</summary>
    public bool Publish(ulong topic, int bytes)
    {
        var payload = Payload(topic, bytes);
        byte[] fields = Stamps ? Stamp(payload) : OrderStamp is { } order ? OfOrder(order()) : [];
        long sequence = _senders[topic].TrySend(payload, null, fields);
        if (sequence < 0)
        {
            Refused++;
            return false;
        }

        Published[(topic, sequence)] = Hash(payload);
        return true;
    }

    public void PublishAll(ulong topic, int count, int bytes) => PublishAll(topic, [.. Enumerable.Repeat(bytes, count)]);

    /// <summary>Publishes messages of these sizes, as there is room.</summary>
    public void PublishAll(ulong topic, IReadOnlyList<int> sizes)
    {
        int next = 0;
        void Go()
        {
            while (next < sizes.Count && Publish(topic, sizes[next]))
            {
                next++;
            }
        }

        OnCore(() =>
        {
            _senders[topic].Feed = new Told(Go);
            Go();
        });
    }

    public ITopicSender Sender(ulong topic) => _senders[topic];

    private sealed class Told(Action what) : ISenderFeed
    {
        public bool Pull(ref PullBudget budget)
        {
            what();
            return false;
        }
    }

    public IEnumerable<long> SequencesOf(NodeKey sender, ulong topic) =>
        Log.Where(one => one.Sender == sender && one.Topic == topic).Select(one => one.Sequence);

    // Behind an unknown field.
    private static byte[] Stamp(byte[] payload)
    {
        var fields = new byte[MessageExtensions.MostBytes];
        var stamp = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32LittleEndian(stamp, Hash(payload));
        int used = MessageExtensions.Add(fields, 0, (ExtensionKind)200, new byte[payload.Length % 50]);
        used = MessageExtensions.Add(fields, used, ExtensionKind.OrderStamp, stamp);
        return fields[..used];
    }

    private static byte[] OfOrder(byte[] stamp)
    {
        var fields = new byte[MessageExtensions.MostBytes];
        return fields[..MessageExtensions.Add(fields, 0, ExtensionKind.OrderStamp, stamp)];
    }

    private byte[] Payload(ulong topic, int bytes)
    {
        var payload = new byte[bytes];
        ulong seed = (Key.Id << 40) ^ (topic << 20) ^ (ulong)Published.Count;
        for (int i = 0; i + 8 <= bytes; i += 8)
        {
            seed = (seed * 6364136223846793005UL) + 1442695040888963407UL;
            BinaryPrimitives.WriteUInt64LittleEndian(payload.AsSpan(i), seed);
        }

        return payload;
    }

    public static uint Hash(ReadOnlySpan<byte> bytes)
    {
        uint hash = 2166136261;
        foreach (byte b in bytes)
        {
            hash = (hash ^ b) * 16777619;
        }

        return hash;
    }

    internal sealed class Sink(Host host) : IDeliverySink
    {
        public bool IsFull { get; set; }

        /// <summary>What it throws in place of taking a message.</summary>
        public Func<Exception>? Throws { get; set; }

        public Action<Received>? OnReceived { get; set; }

        public Action<MemberView>? OnViewed { get; set; }

        public Action<NodeKey, long>? OnReportedStable { get; set; }

        public bool KeepsBarriers { get; set; }

        /// <summary>Not released.</summary>
        public List<IFlushBarrier> Barriers { get; } = [];

        public bool TryAccept(in DeliveredMessage message)
        {
            if (IsFull)
            {
                return false;
            }

            if (Throws is { } throws)
            {
                throw throws();
            }

            var received = new Received(message.Sender, message.TopicId, message.Sequence, Hash(message.Span), message.Length);
            host.Log.Add(received);
            host.Stamped.Add(message.Extensions.TryFind(ExtensionKind.OrderStamp, out var stamp) && stamp.Length == sizeof(uint)
                ? BinaryPrimitives.ReadUInt32LittleEndian(stamp)
                : null);
            OnReceived?.Invoke(received);
            return true;
        }

        public void OnGap(in TopicGap gap) => host.Gaps.Add(gap);

        public void OnStable(NodeKey sender, long through) => OnReportedStable?.Invoke(sender, through);

        public void OnView(MemberView view)
        {
            host.Views.Add(new SeenView(view, host.Log.Count, this));
            OnViewed?.Invoke(view);
        }

        public void OnFlush(IFlushBarrier barrier)
        {
            if (KeepsBarriers)
            {
                Barriers.Add(barrier);
            }
            else
            {
                barrier.Release();
            }
        }
    }
}
