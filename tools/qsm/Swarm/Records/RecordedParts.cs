using System.Collections.Immutable;
using System.Net;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.VitalSigns;
using QuickSilver.Simulation.Checkers.Records;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Tool.Swarm.Records;

// A node's parts with a listener between the layers: what the face hands down to be sent, under which number and into which
// views it goes, and what the membership service sends. It changes nothing.
internal sealed class RecordedParts(INodeParts parts, NodeRecorder recorder) : INodeParts
{
    private readonly Dictionary<ulong, TopicReceiver> _receivers = [];
    private RecordedMulticast? _multicast;

    public INodeEnvironment Environment => parts.Environment;

    public IMembership Membership => parts.Membership;

    public IMulticast Multicast => _multicast ??= new RecordedMulticast(this, parts.Multicast);

    public TopicProtocols Protocols => parts.Protocols;

    public TimeProvider OutsideTime => parts.OutsideTime;

    public TaskCreationOptions Completions => parts.Completions;

    public bool ResumesInContext => parts.ResumesInContext;

    public bool HasMeter => parts.HasMeter;

    public string? LastRefusal => parts.LastRefusal;

    public string? LastFailure => parts.LastFailure;

    public string? KeyFailure => parts.KeyFailure;

    public string Name => parts.Name;

    public INodeNames Names => parts.Names;

    public IReadOnlyList<Trouble> Troubles => parts.Troubles;

    public Trouble? Isolation => parts.Isolation;

    public IPEndPoint? ServiceEndPoint => parts.ServiceEndPoint;

    public int Members => parts.Members;

    public string? Interface => parts.Interface;

    public void Begin(IMembershipObserver observer) => parts.Begin(new RecordedObserver(this, observer));

    public TopicView? ViewOf(ulong topicId) => parts.ViewOf(topicId);

    public LayerCounters Counters => parts.Counters;

    public long PoolStarvations => parts.PoolStarvations;

    public bool IsSegmented => parts.IsSegmented;

    public Task StopAsync() => parts.StopAsync();

    /// <summary>From which configuration on this node subscribes to a topic that it has opened.</summary>
    public Task<long> ActiveFromAsync(ulong topic)
    {
        var found = new TaskCompletionSource<long>(TaskCreationOptions.RunContinuationsAsynchronously);
        Environment.Post(new ActionRequest(() => found.SetResult(_receivers[topic].ActiveFrom)));
        return found.Task;
    }

    private sealed class RecordedObserver(RecordedParts owner, IMembershipObserver observer) : IMembershipObserver
    {
        public void OnConfiguration(ConfigurationChange change)
        {
            owner.RecordChange(change);
            observer.OnConfiguration(change);
        }

        public void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed) => observer.OnSnapshotWanted(rows, completed);

        public void OnSettled(long configuration, ImmutableArray<OpenView> open)
        {
            owner.RecordSettled(configuration);
            observer.OnSettled(configuration, open);
        }

        public void OnExpelled(string reason)
        {
            owner.RecordStopped();
            observer.OnExpelled(reason);
        }

        public void OnGaveUp(string reason)
        {
            owner.RecordStopped();
            observer.OnGaveUp(reason);
        }

        public void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null) =>
            observer.OnTopicRefused(topicId, reason, deniedTo);

        public void OnServiceReachable(bool reachable) => observer.OnServiceReachable(reachable);
    }

    private void RecordChange(ConfigurationChange change) => recorder.Configured(Membership.Self, change);

    private void RecordSettled(long configuration) => recorder.Settled(configuration);

    private void RecordStopped() => recorder.Stopped();

    private sealed class RecordedMulticast(RecordedParts owner, IMulticast multicast) : IMulticast
    {
        public VitalReadings? Readings => multicast.Readings;

        public IPacketExchange Packets => multicast.Packets;

        public ITopicSender OpenPublisher(in ChannelSpec channel) =>
            new RecordedSender(owner, channel.Topic, (TopicSender)multicast.OpenPublisher(channel));

        public ITopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink)
        {
            var receiver = multicast.OpenSubscription(channel, sink);
            owner._receivers[channel.Topic] = (TopicReceiver)receiver;
            return receiver;
        }

        public HoldingSink OpenSubscription(in ChannelSpec channel, IDeliverySink sink, IDeliveryGate gate)
        {
            var holding = multicast.OpenSubscription(channel, sink, gate);
            owner._receivers[channel.Topic] = (TopicReceiver)holding.Receiver;
            return holding;
        }
    }

    private sealed class RecordedSender(RecordedParts owner, ulong topic, TopicSender sender) : ITopicSender
    {
        private RegionView[] _views = [];
        private int _routes = -1;

        public ISenderFeed? Feed
        {
            get => sender.Feed;
            set => sender.Feed = value;
        }

        public bool IsStable => sender.IsStable;

        public long Count => sender.Sent;

        public StreamLimit Limit => sender.Limit;

        public int RoomBytes => sender.RoomBytes;

        public long MostBytes => sender.MostBytes;

        public void ObserveTaken(IStabilityObserver observer, long number, bool isLast) => sender.ObserveTaken(observer, number, isLast);

        public bool AwaitRoom() => sender.AwaitRoom();

        public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
        {
            long atTicks = NodeRecorder.NowTicks();
            long number = sender.TrySend(payload, observer, extensions);
            if (number >= 0)
            {
                owner.RecordPublished(atTicks, topic, number, payload, Routes());
            }

            return number;
        }

        public void WhenStable(Action callback) => sender.WhenStable(callback);

        public void Close() => sender.Close();

        // The same number for as long as the routes are the same.
        private int Routes()
        {
            bool same = _routes >= 0 && _views.Length == sender.Routes.Count;
            for (int i = 0; same && i < _views.Length; i++)
            {
                same = ReferenceEquals(_views[i], sender.Routes[i].View);
            }

            if (!same)
            {
                _views = [.. sender.Routes.Select(route => route.View)];
                _routes = owner.RecordRoutes(_views);
            }

            return _routes;
        }
    }

    private int RecordRoutes(RegionView[] views) => recorder.Routes([.. views]);

    private void RecordPublished(long atTicks, ulong topic, long number, ReadOnlySpan<byte> payload, int routes) =>
        recorder.Published(atTicks, new MessageId(Membership.Self, topic, number), TraceHash.Of(payload), routes);
}
