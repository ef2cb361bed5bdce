using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering;

namespace QuickSilver.Tests.Infrastructure.Fakes;

internal sealed class FakeMulticast : IMulticast
{
    public Dictionary<ulong, FakeSender> Senders { get; } = [];

    public Dictionary<ulong, FakeReceiver> Receivers { get; } = [];

    /// <summary>How many messages senders opened from now on take before they say no.</summary>
    public int Room { get; set; } = int.MaxValue;

    /// <summary>What the messages of all topics wait for.</summary>
    public string? Waits { get; set; }

    /// <summary>What not all members have acknowledged.</summary>
    public List<UnacknowledgedTopic> Unacknowledged { get; } = [];

    public IPacketExchange Packets => throw new NotSupportedException();

    public string? WhyWaiting(ulong topicId) => Waits;

    public IEnumerable<UnacknowledgedTopic> ReadUnacknowledged() => Unacknowledged;

    public ITopicSender OpenPublisher(in ChannelSpec channel) =>
        Senders[channel.Topic] = new FakeSender { Room = Room, IsReliable = channel.Class.IsReliable };

    public ITopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink) =>
        Receivers[channel.Topic] = new FakeReceiver(channel.Topic, sink) { IsReliable = channel.Class.IsReliable };

    public HoldingSink OpenSubscription(in ChannelSpec channel, IDeliverySink sink, IDeliveryGate gate) =>
        throw new NotSupportedException();
}

// Core thread only. Takes messages while there is room; stability comes when the test says so, unless Stabilizes is on.
internal sealed class FakeSender : ITopicSender
{
    private readonly List<(long Sequence, IStabilityObserver Observer)> _unstable = [];
    private readonly List<Action> _whenStable = [];
    private bool _saidNo;

    public List<byte[]> Sent { get; } = [];

    public long Count { get; private set; }

    public int Room { get; set; }

    public bool IsReliable { get; init; }

    public bool Keeps { get; set; } = true;

    public bool Stabilizes { get; set; }

    public bool IsClosed { get; private set; }

    /// <summary>Thrown in place of taking a message.</summary>
    public Exception? Throws { get; set; }

    /// <summary>Called with each message taken, as loopback delivery is.</summary>
    public Action<long, byte[]>? OnTaken { get; set; }

    public ISenderFeed? Feed { get; set; }

    /// <summary>Larger ones are never taken.</summary>
    public long MostBytes { get; set; } = long.MaxValue;

    public bool IsStable => _unstable.Count == 0;

    public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
    {
        if (Throws is { } exception)
        {
            throw exception;
        }

        if (payload.Length > MostBytes)
        {
            return -1;
        }

        if (IsClosed || Room == 0)
        {
            _saidNo = true;
            return -1;
        }

        Room--;
        Count++;
        if (Keeps)
        {
            Sent.Add(payload.ToArray());
            OnTaken?.Invoke(Count, Sent[^1]);
        }

        if (observer is not null && Stabilizes)
        {
            observer.OnStable(Count);
        }
        else if (observer is not null)
        {
            _unstable.Add((Count, observer));
        }

        return Count;
    }

    public int RoomBytes { get; set; } = int.MaxValue;

    /// <summary>The numbers that observers of several messages gave, and whether they said that nothing follows.</summary>
    public List<(long Number, bool IsLast)> Observed { get; } = [];

    public void ObserveTaken(IStabilityObserver observer, long number, bool isLast)
    {
        if (Keeps)
        {
            Observed.Add((number, isLast));
        }

        if (Stabilizes)
        {
            observer.OnStable(number);
        }
        else
        {
            _unstable.Add((number, observer));
        }
    }

    public bool AwaitRoom()
    {
        _saidNo |= IsClosed || Room == 0;
        return !IsClosed && Room > 0;
    }

    public void GiveRoom(int messages)
    {
        Room = messages;
        if (_saidNo && messages > 0)
        {
            _saidNo = false;
            bool hasMore;
            do
            {
                var budget = PullBudget.OneTurn;
                hasMore = Feed?.Pull(ref budget) ?? false;
            }
            while (hasMore);
        }
    }

    public void MakeStable()
    {
        var stable = _unstable.ToArray();
        _unstable.Clear();
        foreach (var (sequence, observer) in stable)
        {
            observer.OnStable(sequence);
        }

        var callbacks = _whenStable.ToArray();
        _whenStable.Clear();
        foreach (var callback in callbacks)
        {
            callback();
        }
    }

    /// <summary>As <see cref="MakeStable"/>, without allocating.</summary>
    public void MakeStableInPlace()
    {
        foreach (var (sequence, observer) in _unstable)
        {
            observer.OnStable(sequence);
        }

        _unstable.Clear();
    }

    /// <summary>One of those that wait becomes stable, by its place since all were last notified.</summary>
    public void Reach(int at)
    {
        var (number, observer) = _unstable[at];
        _unstable[at] = (number, NoObserver.Instance);
        observer.OnStable(number);
    }

    public void Abandon(string reason)
    {
        foreach (var (number, observer) in _unstable)
        {
            observer.OnAbandoned(number, reason);
        }

        _unstable.Clear();
    }

    public void WhenStable(Action callback)
    {
        if (Stabilizes)
        {
            callback();
        }
        else
        {
            _whenStable.Add(callback);
        }
    }

    public void Close() => IsClosed = true;

    private sealed class NoObserver : IStabilityObserver
    {
        public static readonly NoObserver Instance = new();

        public void OnStable(long sequence)
        {
        }

        public void OnAbandoned(long sequence, string reason)
        {
        }
    }
}

internal sealed class FakeReceiver(ulong topicId, IDeliverySink sink) : ITopicReceiver
{
    public static readonly NodeKey Peer = new(0xA, 1);

    private readonly Dictionary<NodeKey, SenderOrder> _orders = [];
    private readonly MulticastCounters _counters = new();

    public bool IsReliable { get; init; }

    public bool IsClosed { get; private set; }

    public long Taken { get; private set; }

    public int Resumes { get; private set; }

    public Action? OnResume { get; set; }

    public bool Deliver(long sequence, ReadOnlySpan<byte> payload, NodeKey? sender = null) => Deliver(sequence, payload.ToArray(), sender);

    public bool Deliver(long sequence, byte[] payload, NodeKey? sender = null)
    {
        var message = new DeliveredMessage(sender ?? Peer);
        message.Set(topicId, sequence, payload, 0, payload.Length);
        if (!_orders.TryGetValue(message.Sender, out var order))
        {
            _orders.Add(message.Sender, order = new SenderOrder(message.Sender, sink));
        }

        bool isTaken = order.TryHandUp(message, _counters);
        Taken += isTaken ? 1 : 0;
        return isTaken;
    }

    public void Gap(long first, long last, TopicGapReason reason, NodeKey? sender = null) =>
        sink.OnGap(new TopicGap(sender ?? Peer, topicId, first, last, reason));

    /// <summary>What came and was not taken.</summary>
    public (long First, long Last)? Refused { get; set; }

    public IReadOnlyList<UntakenRange> Untaken() =>
        Refused is { } range ? [new UntakenRange(Peer, range.First, range.Last)] : [];

    public void Resume()
    {
        Resumes++;
        OnResume?.Invoke();
    }

    public void Close() => IsClosed = true;
}
