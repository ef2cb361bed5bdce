using System.Collections.Immutable;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Receiving.Windows;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.VitalSigns;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Checkers.Synchrony;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Seeds.Tests.Infrastructure.Recording;

// A node's parts with a listener between the layers: what the face hands down to be sent, under which number and into which
// views it goes, and what the membership service sends. It changes nothing.
internal sealed class RecordedParts(SimulatedParts parts, History history, SimulatedMachine machine) : INodeParts
{
    private readonly List<RecordedSender> _senders = [];
    private RecordedMulticast? _multicast;
    private long _admittedAt;

    public INodeEnvironment Environment => parts.Environment;

    public IMembership Membership => parts.Membership;

    public IMulticast Multicast => _multicast ??= new RecordedMulticast(this);

    // True time: a node's own clock may run wrong.
    private TimeSpan Now => machine.Environment.Cluster.Now;

    public TopicProtocols Protocols => parts.Protocols;

    public TimeProvider OutsideTime => parts.OutsideTime;

    public TaskCreationOptions Completions => parts.Completions;

    public bool ResumesInContext => parts.ResumesInContext;

    public bool HasBegun { get; private set; }

    public NodeKey Key => HasBegun ? parts.Membership.Self : default;

    public MulticastNode Node => (MulticastNode)parts.Multicast;

    /// <summary>Where to look for tables that may grow.</summary>
    public object Tables => parts;

    public Dictionary<ulong, TopicReceiver> Receivers { get; } = [];

    /// <summary>The last configuration that all nodes have confirmed.</summary>
    public long Settled { get; private set; }

    public long LastConfiguration { get; private set; }

    public Action? OnSettled { get; set; }

    /// <summary>The node came over from another service, in this configuration.</summary>
    public Action<long>? OnAdmittedAnew { get; set; }

    public Action? OnExpelled { get; set; }

    public SynchronyChecker? Synchrony { get; init; }

    public void Begin(IMembershipObserver observer)
    {
        parts.Begin(new RecordedObserver(this, observer));
        HasBegun = true;
    }

    public bool HasMeter => parts.HasMeter;

    public TopicView? ViewOf(ulong topicId) => parts.ViewOf(topicId);

    public RegionView? RegionOf(ulong region) => parts.RegionOf(region);

    public bool IsMember(NodeKey node) => parts.IsMember(node);

    public string? LastRefusal => parts.LastRefusal;

    public string? LastFailure => parts.LastFailure;

    public string? KeyFailure => parts.KeyFailure;

    public string Name => parts.Name;

    public INodeNames Names => parts.Names;

    public IReadOnlyList<Trouble> Troubles => parts.Troubles;

    public Trouble? Isolation => parts.Isolation;

    public LayerCounters Counters => parts.Counters;

    public long PoolStarvations => parts.PoolStarvations;

    public bool IsSegmented => parts.IsSegmented;

    public Task StopAsync() => parts.StopAsync();

    /// <summary>How many messages the multicast layer took for this topic.</summary>
    public long TakenOf(ulong topic) => _senders.Where(sender => sender.Topic == topic).Sum(sender => sender.Taken);

    /// <summary>Old views, streams in and out that are not settled and messages that are held, for a message.</summary>
    public string Unsettled()
    {
        var views = Node.Regions.Where(region => region.SupersededAt != 0 || region.Streams.Any(IsOpen)).Select(Describe);
        var held = Receivers.Values.SelectMany(receiver => receiver.Orders.Where(order => order.HeldCount > 0).Select(order =>
            $"{order.HeldCount} of {order.Sender} in {receiver.TopicId:x16} from {receiver.ActiveFrom:x}, next {order.Next}"));
        var unacked = Node.Streams.Where(stream => !stream.IsSettled).Select(Describe);
        var drops = Enum.GetValues<DropReason>().Where(reason => Node.Counters.Dropped(reason) > 0)
            .Select(reason => $"{Node.Counters.Dropped(reason)} {reason}");
        return $"{string.Join("; ", views)}; sends {string.Join("; ", unacked)}; retains {Node.Readings.UnackedBytes} bytes; "
            + $"held: {string.Join(", ", held)}; dropped: {string.Join(", ", drops)}";
    }

    public MemoryReading ReadMemory(bool quiet)
    {
        long kept = 0;
        foreach (var region in Node.Regions)
        {
            foreach (var stream in region.Streams)
            {
                long done = stream.Retention == Retention.None ? stream.Consumed : Math.Min(stream.Stable, stream.Consumed);
                kept = Math.Max(kept, stream.Highest - done);
            }
        }

        return new MemoryReading(Now, machine.Number, Key)
        {
            IsQuiet = quiet,
            RetainedBytes = Node.Readings.UnackedBytes,
            KeptPackets = kept,
            LeasedBlocks = parts.Environment.Buffers.LeasedBlocks,
            OldViews = Node.Regions.Count(region => region.SupersededAt != 0),
            OutboundStreams = Node.OutboundStreams + Node.Topics.Sent.Shared.Count,
        };
    }

    private static bool IsOpen(InboundStream stream) =>
        stream.Consumed < stream.Highest || (stream.Retention != Retention.None && stream.Stable < stream.Highest);

    private static string Describe(RegionReceiver region)
    {
        string view = $"{region.View}@{region.View.Configuration:x} superseded {region.SupersededAt:x}";
        var tracker = region.Stability;
        string rings = tracker is RingHierarchy hierarchy ? $"<{string.Join("; ", hierarchy.Rings)}>" : "";
        string live = $"live {region.Live}, unconsumed {tracker.LastUnconsumed:c}, heard {tracker.LastHeard:c} {rings}";
        return $"{view}, {live} [{string.Join(", ", region.Streams.Where(IsOpen).Select(Describe))}]";
    }

    private static string Describe(ISentStream stream)
    {
        string view = $"{stream.View}@{stream.View.Configuration:x} superseded {stream.SupersededAt:x}";
        return $"{view}, {stream.Acknowledged}/{stream.Last} to {string.Join('+', stream.View.Members.Where(stream.IsLive))}";
    }

    private static string Describe(InboundStream stream)
    {
        string numbers = $"{stream.Stable}/{stream.Consumed}/{stream.Contiguous}/{stream.Highest}";
        return $"{stream.Sender} {numbers}{(stream.IsSenderGone ? " gone" : "")}{(stream.Retention != Retention.None ? " cached" : "")}";
    }

    private sealed class RecordedObserver(RecordedParts owner, IMembershipObserver observer) : IMembershipObserver
    {
        public void OnConfiguration(ConfigurationChange change)
        {
            owner.Tell(change);
            observer.OnConfiguration(change);
        }

        public void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed) => observer.OnSnapshotWanted(rows, completed);

        public void OnSettled(long configuration, ImmutableArray<OpenView> open)
        {
            owner.Settled = Math.Max(owner.Settled, configuration);
            observer.OnSettled(configuration, open);
            owner.OnSettled?.Invoke();
        }

        public void OnExpelled(string reason)
        {
            owner.OnExpelled?.Invoke();
            observer.OnExpelled(reason);
        }

        public void OnGaveUp(string reason)
        {
            owner.OnExpelled?.Invoke();
            observer.OnGaveUp(reason);
        }

        public void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null) =>
            observer.OnTopicRefused(topicId, reason, deniedTo);

        public void OnServiceReachable(bool reachable) => observer.OnServiceReachable(reachable);
    }

    private void Tell(ConfigurationChange change)
    {
        if (change.Joined.FirstOrDefault(node => node.Key == Key) is { AdmittedAt: > 0 } own && own.AdmittedAt != _admittedAt)
        {
            bool isAnew = _admittedAt != 0;
            _admittedAt = own.AdmittedAt;
            if (isAnew)
            {
                OnAdmittedAnew?.Invoke(change.Number);
            }
        }

        LastConfiguration = change.Number;
        history.Configured(Now, machine.Number, Key, change);
    }

    private sealed class RecordedMulticast(RecordedParts owner) : IMulticast
    {
        public VitalReadings? Readings => owner.Node.Readings;

        public string? WhyWaiting(ulong topicId) => owner.Node.WhyWaiting(topicId);

        public IEnumerable<UnacknowledgedTopic> ReadUnacknowledged() => owner.Node.ReadUnacknowledged();

        public IPacketExchange Packets => owner.Node.Packets;

        public ITopicSender OpenPublisher(in ChannelSpec channel)
        {
            var sender = new RecordedSender(owner, channel.Topic, (TopicSender)owner.Node.OpenPublisher(channel));
            owner._senders.Add(sender);
            return sender;
        }

        public ITopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink)
        {
            var receiver = owner.Node.OpenSubscription(channel, Recorded(channel, sink));
            owner.Receivers[channel.Topic] = (TopicReceiver)receiver;
            return receiver;
        }

        public HoldingSink OpenSubscription(in ChannelSpec channel, IDeliverySink sink, IDeliveryGate gate)
        {
            var holding = owner.Node.OpenSubscription(channel, Recorded(channel, sink), gate);
            owner.Receivers[channel.Topic] = (TopicReceiver)holding.Receiver;
            return holding;
        }

        private IDeliverySink Recorded(in ChannelSpec channel, IDeliverySink sink) =>
            channel.IsPinned && owner.Synchrony is { } synchrony ? new SynchronySink(owner.Key, synchrony, sink) : sink;
    }

    private sealed class RecordedSender(RecordedParts owner, ulong topic, TopicSender sender) : ITopicSender
    {
        private ImmutableArray<RegionView> _views = [];

        public ulong Topic => topic;

        public long Taken { get; private set; }

        public ISenderFeed? Feed
        {
            get => sender.Feed;
            set => sender.Feed = value;
        }

        public bool IsStable => sender.IsStable;

        public bool AwaitRoom() => sender.AwaitRoom();

        public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
        {
            long number = sender.TrySend(payload, observer is null ? null : new RecordedStability(owner, topic, observer));
            if (number >= 0)
            {
                Taken++;
                owner.Tell(new MessageId(owner.Key, topic, number), TraceHash.Of(payload), Views());
            }
            else if (payload.Length > sender.MostBytes)
            {
                // The topic has come to so many regions that packet memory never has room: the publisher reports it lost and continues.
                Taken++;
            }

            return number;
        }

        public int RoomBytes => sender.RoomBytes;

        public long MostBytes => sender.MostBytes;

        public void ObserveTaken(IStabilityObserver observer, long number, bool isLast) => sender.ObserveTaken(observer, number, isLast);

        public void WhenStable(Action callback) => sender.WhenStable(callback);

        public void Close() => sender.Close();

        // The same array for as long as the routes are the same: one is kept per run of messages.
        private ImmutableArray<RegionView> Views()
        {
            bool same = _views.Length == sender.Routes.Count;
            for (int i = 0; same && i < _views.Length; i++)
            {
                same = ReferenceEquals(_views[i], sender.Routes[i].View);
            }

            return same ? _views : _views = [.. sender.Routes.Select(route => route.View)];
        }
    }

    private sealed class RecordedStability(RecordedParts owner, ulong topic, IStabilityObserver observer) : IStabilityObserver
    {
        public void OnStable(long sequence)
        {
            owner.TellStable(new MessageId(owner.Key, topic, sequence));
            observer.OnStable(sequence);
        }

        public void OnAbandoned(long sequence, string reason) => observer.OnAbandoned(sequence, reason);
    }

    private void TellStable(MessageId message) => history.Stable(Now, message);

    private void Tell(MessageId message, ulong hash, ImmutableArray<RegionView> views)
    {
        history.Published(Now, message, hash);
        history.Sent(Now, message, views);
    }
}
