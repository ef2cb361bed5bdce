using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sealing;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.VitalSigns;

namespace QuickSilver.Multicast;

// The multicast layer of one node: builds the parts, wires them, and passes on what the membership service and the layer above say. Runs
// on the core thread.
internal sealed class MulticastNode : IMulticast, IMembershipObserver, IViewsObserver
{
    private readonly MulticastContext _context;
    private readonly AppliedConfiguration _applied = new();
    private readonly SettlementReport _report;
    private readonly TopicStreams _topics;
    private readonly OpenViews _open;
    private readonly PacketDispatcher _dispatcher;
    private readonly PacketWays _ways;
    private readonly SendingPorts _ports;
    private bool _isClosed;

    public MulticastNode(
        INodeEnvironment environment, MulticastOptions options, Func<IMembershipObserver, DatagramAddress, IMembership> join)
    {
        options.Validate();
        Keys = options.IsSealed ? new KeyRing(environment, options) : null;
        var counters = new MulticastCounters();
        var splitter = new RunSplitter(options.ClusterId, Keys);
        // Copies of the data come to it as runs, for members that do not hear a group and in regions too small to have one.
        var unicast = new DatagramPortOptions
        {
            ReceiveBufferBytes = options.ReceiveBufferBytes,
            SegmentationOffload = options.SegmentationOffload,
        };
        var control = environment.OpenPort(unicast, splitter);
        _ports = new SendingPorts(environment, options, splitter, port => SealingPort.Over(port, Keys, counters));
        var membership = join(this, new DatagramAddress(control.LocalEndPoint));
        _context = new MulticastContext(environment, options, membership)
        {
            Counters = counters,
            ControlPort = SealingPort.Over(control, Keys, counters),
            OnSenderProgress = () => _topics!.PostProgress(),
            OnWait = () => _topics!.Waits.Look(),
        };
        Keys?.Begin(_context);
        _context.Ports = _ports;
        var dissemination = _context.Receiving.Dissemination;
        _context.Sending.GroupPort = dissemination.SharesTopics ? _ports.Groups : null;
        _context.Receiving.Receiver = splitter;
        _context.Sending.Deaf = new DeafMembers(_context, _ports.Groups, region => _applied.Regions.GetValueOrDefault(region))
        {
            Use = dissemination,
        };
        _open = new OpenViews(_context.Receiving, splitter, this);
        _report = new SettlementReport(_context, _applied);
        _topics = new TopicStreams(_context, _applied, _report, _open);
        Readings = new VitalReadings(_context, _context.Sending.Retention, _topics, _open.All);
        _ways = new PacketWays(_context.Sending, _topics, _open, control);
        _dispatcher = new PacketDispatcher(_context, _open, new DataHandler(_open, _ways, _topics.Router), _ways) { Keys = Keys };
        RegisterHandlers();
        splitter.Begin(_dispatcher);
    }

    public MulticastContext Context => _context;

    /// <summary>Null: packets are not sealed.</summary>
    public KeyRing? Keys { get; }

    public MulticastCounters Counters => _context.Counters;

    public VitalReadings Readings { get; }

    public IRepairWatch? RepairWatch { set => _context.Schemes.RepairWatch = value; }

    public ILogger Log { set => _context.Log = value; }

    /// <summary>
    /// A sentence about a problem of this node that does not stop it; null if there is none. Can be read from any thread.
    /// </summary>
    public string? Trouble => _context.Troubles.First;

    public IReadOnlyList<Trouble> Troubles => _context.Troubles.Oldest;

    /// <summary>The topics of this node that are held to the rate of a reader. From any thread.</summary>
    public IReadOnlyList<PacedTopic> Paced => _topics.Paced;

    /// <summary>The receivers of all open views of which this node is a member, superseded views included.</summary>
    public IReadOnlyCollection<RegionReceiver> Regions => _open.All;

    /// <summary>The topics, and the streams that carry them.</summary>
    public TopicStreams Topics => _topics;

    /// <summary>The outbound streams, those of superseded views first.</summary>
    public IReadOnlyList<ISentStream> Streams => _topics.Streams;

    public CreditLimits CreditLimits => _topics.CreditLimits;

    /// <summary>The last configuration applied.</summary>
    public long Configuration => _applied.Number;

    public int OutboundStreams => _report.SentIfAny?.Count ?? 0;

    public int MaxRunSegments => _ports.MaxRunSegments;

    /// <summary>Receives the same calls as this node, after it. A configuration is passed on when it has been applied.</summary>
    public IMembershipObserver? Observer { get; set; }

    /// <summary>The number of closed views that are remembered; for diagnostics.</summary>
    public int RememberedViews => _open.Remembered;

    /// <summary>The number of paths whose packet size is known or looked for; for diagnostics.</summary>
    public int KnownPaths => _context.Paths.Known;

    /// <summary>
    /// The number of topics that are published here, and of those of which only the next number is kept; for diagnostics.
    /// </summary>
    public (int Open, int Resting) NumberedTopics =>
        (_topics.Router.TopicsIfAny?.Numbered ?? 0, _topics.Router.TopicsIfAny?.Resting ?? 0);

    public TopicView? ViewOf(ulong topicId) => _topics.Router.TopicsIfAny?.ViewOf(topicId);

    public RegionView? RegionOf(ulong region) => _topics.RegionOf(region);

    // It has no state, so none is kept between configurations.
    private ConfigurationApplier Applier => new(_context, _applied, _topics, _report, _open)
    {
        Ways = _ways,
        Dispatcher = _dispatcher,
        Keys = Keys,
    };

    public IPacketExchange Packets => field ??= new PacketExchange(_context, _dispatcher.Handlers);

    public ITopicSender OpenPublisher(in ChannelSpec channel) => _topics.Router.Topics.OpenPublisher(channel);

    public ITopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink) =>
        _topics.Router.Topics.OpenSubscription(channel, sink);

    public HoldingSink OpenSubscription(in ChannelSpec channel, IDeliverySink sink, IDeliveryGate gate) =>
        new(channel, sink, gate, _context.Environment, _context.Parking, (spec, holding) => OpenSubscription(spec, holding));

    public string? WhyWaiting(ulong topicId) =>
        _topics.Router.TopicsIfAny?.FindSender(topicId) is { } sender ? _topics.Waits.WhyWaiting(sender) : null;

    public IEnumerable<UnacknowledgedTopic> ReadUnacknowledged() => _topics.ReadUnacknowledged();

    public void WhenStable(Action callback) => _topics.WhenStable(callback);

    public void OnConfiguration(ConfigurationChange change)
    {
        if (_isClosed || change.Number <= _applied.Number)
        {
            return;
        }

        _topics.BeginConfiguration();
        _applied.Number = change.Number;
        Readings.OnConfiguration(change.Number);
        try
        {
            Applier.Apply(change, Observer);
        }
        catch (Exception exception)
        {
            // A configuration cannot be applied in part: other nodes would wait for packets that this node will never send or hold.
            MulticastLog.ConfigurationFailed(_context.Log, exception, change.Number);
            _context.GiveUp($"it could not apply configuration {change.Number}: {exception.Message}");
            throw;
        }
    }

    public void OnSettled(long configuration, ImmutableArray<OpenView> open)
    {
        Applier.Settle(configuration, open);
        Observer?.OnSettled(configuration, open);
    }

    public void OnClusterKey(ClusterKey key, bool isOfAnother) => Keys?.Add(key, isOfAnother);

    public void OnInquiry(ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed) =>
        _context.Echoes.Ask(targets, wait, completed);

    public void OnExpelled(string reason) => Observer?.OnExpelled(reason);

    public void OnGaveUp(string reason) => Observer?.OnGaveUp(reason);

    public void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null) =>
        Observer?.OnTopicRefused(topicId, reason, deniedTo);

    public void OnServiceReachable(bool reachable) => Observer?.OnServiceReachable(reachable);

    public void OnServiceSilent(TimeSpan since) => Observer?.OnServiceSilent(since);

    public void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed) => Observer?.OnSnapshotWanted(rows, completed);

    void IViewsObserver.OnViewClosed(RegionView view) => _ways.OnViewClosed(view);

    void IViewsObserver.OnViewsClosed() => Applier.OnViewsClosed();

    void IViewsObserver.OnStreamsEnded() => Applier.ForgetSenders();

    void IViewsObserver.OnViewsChecked() => _topics.Router.TopicsIfAny?.InstallViews();

    public void Close()
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        _topics.BeginClose();
        _context.FlushSockets();
        // In the order in which they were built. The part that was built last is closed first.
        Action[] closers =
        [
            () => Keys?.Dispose(),
            _context.ControlPort.Dispose,
            _ports.Dispose,
            _context.Receiving.Dissemination.Close,
            () => _context.Receiving.TopicPorts?.Close(),
            _dispatcher.Close,
            _ways.Close,
            _open.Close,
            () => _report.SentIfAny?.Close(),
            _context.Close,
            _topics.Close,
        ];
        for (int i = closers.Length - 1; i >= 0; i--)
        {
            closers[i]();
        }
    }

    // Registers the handler of each packet kind. Data packets have theirs already.
    private void RegisterHandlers()
    {
        var handlers = _dispatcher.Handlers;
        var stability = new StabilityHandler(_context, _open);
        handlers.Register(PacketKind.Announce, _dispatcher.Data, keepsEarly: true);
        handlers.Register(PacketKind.Token, stability);
        handlers.Register(PacketKind.Probe, stability);
        handlers.Register(PacketKind.ProbeReply, stability);
        handlers.Register(PacketKind.Ack, new AckHandler(_context, _topics, _context));
        handlers.Register(PacketKind.Pull, new RepairResponder(_context.Sending, _topics, _open, _context));
        handlers.Register(PacketKind.Hearing, _ways);
        handlers.Register(PacketKind.Credit, _topics, keepsEarly: true);
        handlers.Register(PacketKind.Pause, new NodePauses(_topics, _context, _open));
        handlers.Register(PacketKind.Echo, _context);
        handlers.Register(PacketKind.EchoReply, _context);
        handlers.Register(PacketKind.Piece, _dispatcher);
        foreach (var kind in _context.Receiving.Repair.Kinds)
        {
            handlers.Register(kind, "the repair scheme", new RegionRepairHandler(_open));
        }

        foreach (var kind in _context.Receiving.Dissemination.Kinds)
        {
            handlers.Register(kind, "the dissemination scheme", _context.Receiving.Dissemination);
        }
    }
}
