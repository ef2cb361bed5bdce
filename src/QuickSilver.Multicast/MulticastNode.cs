using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Requests;
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
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Ordering.BestEffort;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sealing;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Stalls;
using QuickSilver.Multicast.VitalSigns;

namespace QuickSilver.Multicast;

// The multicast layer of one node: applies configurations, and connects sending topics with the streams of their regions. PacketDispatcher
// handles received packets. Runs on the core thread.
//
// Invariants: all topics of a node move from old views to new ones within one call of OnConfiguration, so the messages of a topic go
// through exactly one view of each region per configuration. A superseded stream stays open until it is settled, and only then is the
// configuration confirmed to the service. A superseded view of which this node is a member stays open until the service reports that all
// nodes have confirmed and this node has consumed all its packets.
internal sealed partial class MulticastNode
    : IMulticast, IMembershipObserver, IOrderingNode, IStreamConsumer, ISentStreams, IViewsObserver, IWaitSources, IConfirmingNode,
        IPacketHandler
{
    private static readonly TimeSpan MemoryPause = TimeSpan.FromMilliseconds(2);

    private readonly MulticastContext _context;
    private readonly OpenViews _open;
    private readonly PacketDispatcher _dispatcher;
    private readonly PacketWays _ways;
    private PieceAssembly? _pieces;
    private readonly SendingPorts _ports;
    // Null: packets are not sealed.
    private readonly KeyRing? _keys;
    private readonly Dictionary<ulong, RegionView> _views = [];
    // Null until something is sent.
    private SentStreams? _sent;
    private LookAhead? _lookAhead;
    // Null until a topic is opened.
    private OpenTopics? _topics;
    // _marks and _losses are null until a best-effort topic needs them.
    private BestEffortMarks? _marks;
    private UnrepairedLosses? _losses;
    // Topics that wait for something other than their turn at a stream: for a view, memory or credit. Null until one does.
    private FeedLine? _waiting;
    private StabilityWaits? _stabilityWaits;
    private NodeWaits? _waits;
    // _creditLimits and _slowReaders are null until a reader is slow.
    private CreditLimits? _creditLimits;
    private SlowReaders? _slowReaders;
    private readonly Request _progress;
    // Null until something delays a confirmation.
    private Confirmation? _confirmation;
    private long _confirmed;
    private UncertainLosses? _uncertain;
    private HeldUpStreams? _heldUp;
    private long _configuration;
    private long _settled;
    private Alarm? _memoryLook;
    private bool _progressPosted;
    private bool _isClosed;

    public MulticastNode(
        INodeEnvironment environment, MulticastOptions options, Func<IMembershipObserver, DatagramAddress, IMembership> join)
    {
        options.Validate();
        _keys = options.IsSealed ? new KeyRing(environment, options) : null;
        var counters = new MulticastCounters();
        var splitter = new RunSplitter(options.ClusterId, _keys);
        var unicast = new DatagramPortOptions { ReceiveBufferBytes = options.ReceiveBufferBytes, SegmentationOffload = false };
        var control = environment.OpenPort(unicast, splitter);
        _ports = new SendingPorts(environment, options, splitter, port => SealingPort.Over(port, _keys, counters));
        var membership = join(this, new DatagramAddress(control.LocalEndPoint));
        _context = new MulticastContext(environment, options, membership)
        {
            Counters = counters,
            ControlPort = SealingPort.Over(control, _keys, counters),
            OnSenderProgress = PostProgress,
            OnWait = () => Waits.Look(),
        };
        _keys?.Begin(_context);
        _context.Sending.GroupPort = options.Unicast || options.Dissemination != GroupMulticast.Scheme ? null : _ports.Groups;
        _context.Receiving.Receiver = splitter;
        _context.Sending.Deaf = new DeafMembers(_context, _ports.Groups, region => _views.GetValueOrDefault(region));
        _open = new OpenViews(_context.Receiving, splitter, this);
        Readings = new VitalReadings(_context, _context.Sending.Retention, this, _open.All);
        _ways = new PacketWays(_context.Sending, this, _open, control);
        _dispatcher = Handlers();
        splitter.Begin(_dispatcher);
        _progress = new ActionRequest(OnProgress);
    }

    public MulticastContext Context => _context;

    NodeContext IOrderingNode.Context => _context;

    NodeContext ISendingNode.Context => _context;

    NodeContext IReceivingNode.Context => _context;

    public IDeliveryOrderScheme Order => _context.Order;

    public SendingParts Sending => _context.Sending;

    public ReceivingParts Receiving => _context.Receiving;

    public ParkingBudget Parking => _context.Parking;

    /// <summary>Null: packets are not sealed.</summary>
    public KeyRing? Keys => _keys;

    INodeEnvironment IConfirmingNode.Environment => _context.Environment;

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
    public IReadOnlyList<PacedTopic> Paced => _creditLimits?.Paced ?? [];

    public ClaimPool Claims => field ??= new();

    /// <summary>The receivers of all open views of which this node is a member, superseded views included.</summary>
    public IReadOnlyCollection<RegionReceiver> Regions => _open.All;

    /// <summary>The last configuration applied.</summary>
    public long Configuration => _configuration;

    public long Settled => _settled;

    /// <summary>The outbound streams, those of superseded views first.</summary>
    public IReadOnlyList<RegionSender> Streams => _sent?.All() ?? [];

    public CreditLimits CreditLimits => _creditLimits ??= new CreditLimits(this);

    /// <summary>What waits on this node, and for which nodes.</summary>
    public NodeWaits Waits => _waits ??= new NodeWaits(_context, this);

    public IReadOnlyCollection<IFeed> WaitingTopics => _waiting?.Feeds ?? [];
    public SentStreams Sent => _sent ??= new SentStreams();
    public List<RegionReceiver> OpenRegions => _open.All;
    public IEnumerable<ViewSequence> WaitingViews => _topics?.WaitingViews ?? [];
    public IEnumerable<AwaitedMessage> AwaitedMessages => _topics?.AwaitedMessages ?? [];
    public SlowReaders SlowReaders => _slowReaders ??= OpenSlowReaders();

    public int OutboundStreams => _sent?.Count ?? 0;
    public int MaxRunSegments => _ports.MaxRunSegments;

    /// <summary>Receives the same calls as this node, after it. A configuration is passed on when it has been applied.</summary>
    public IMembershipObserver? Observer { get; set; }

    public BestEffortMarks Marks => _marks ??= new BestEffortMarks(_context.Environment);
    public UnrepairedLosses Losses => _losses ??= new UnrepairedLosses(_context.Receiving);
    private OpenTopics Topics => _topics ??= new OpenTopics(this);

    /// <summary>The number of closed views that are remembered; for diagnostics.</summary>
    public int RememberedViews => _open.Remembered;

    /// <summary>The number of paths whose packet size is known or looked for; for diagnostics.</summary>
    public int KnownPaths => _context.Paths.Known;

    /// <summary>
    /// The number of topics that are published here, and of those of which only the next number is kept; for diagnostics.
    /// </summary>
    public (int Open, int Resting) NumberedTopics => (_topics?.Numbered ?? 0, _topics?.Resting ?? 0);

    public TopicView? ViewOf(ulong topicId) => _topics?.ViewOf(topicId);

    public ITopicSender OpenPublisher(in ChannelSpec channel) => Topics.OpenPublisher(channel);

    public ITopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink) => Topics.OpenSubscription(channel, sink);

    public string? WhyWaiting(ulong topicId) => _topics?.FindSender(topicId) is { } sender ? Waits.WhyWaiting(sender) : null;

    public IEnumerable<UnacknowledgedTopic> ReadUnacknowledged()
    {
        _context.FlushSockets();
        var messages = new UnacknowledgedMessages();
        foreach (var stream in Streams)
        {
            if (stream is { IsReliable: true, IsSettled: false })
            {
                stream.ReadUnacknowledged(messages, Waits.WhyUnacknowledged(stream));
            }
        }

        return messages.Topics;
    }

    public void OnConfiguration(ConfigurationChange change)
    {
        if (_isClosed || change.Number <= _configuration)
        {
            return;
        }

        _marks?.MarkClosed();
        _configuration = change.Number;
        Readings.OnConfiguration(change.Number);
        try
        {
            Apply(change);
        }
        catch (Exception exception)
        {
            // A configuration cannot be applied in part: other nodes would wait for packets that this node will never send or hold.
            MulticastLog.ConfigurationFailed(_context.Log, exception, change.Number);
            _context.GiveUp($"it could not apply configuration {change.Number}: {exception.Message}");
            throw;
        }
    }

    private void Apply(ConfigurationChange change)
    {
        // First of all, so that a node that is removed reads nothing that is sent from here on.
        _keys?.OnConfiguration(change);
        // Messages accepted before the change are sent in the views before it.
        _context.FlushSockets();
        // Removed nodes are removed from the old views before the new ones are opened, which may contain them again.
        foreach (var lost in _context.Directory.Apply(change, _context.Self))
        {
            OnNodeGone(lost);
        }

        ApplyRegions(change);
        _open.OnNodesCame(change.Number);
        if (_topics is not null || !change.Topics.IsEmpty)
        {
            Topics.Apply(change);
        }

        // Only after the topics have left the regions.
        foreach (ulong region in change.OutOfSight)
        {
            _keys?.Supersede(region);
            _views.Remove(region);
        }

        _context.Counters.Regions = _views.Count;
        _context.Sending.Deaf.OnConfiguration();

        // The observer is told of a view before it receives the first message of the view.
        Observer?.OnConfiguration(change);
        _topics?.OnConfiguration(change);
        _dispatcher.ReplayUnknown();
        ConfirmIfSettled();
        PostProgress();
    }

    public void OnSettled(long configuration, ImmutableArray<OpenView> open)
    {
        _settled = Math.Max(_settled, configuration);
        _topics?.Rest(_settled);
        _context.Receiving.TopicPorts?.OnSettled(_settled);
        _open.CloseSettled(_settled, open);
        _keys?.Rest(_sent, _open);
        Observer?.OnSettled(configuration, open);
    }

    public void OnClusterKey(ClusterKey key, bool isOfAnother) => _keys?.Add(key, isOfAnother);

    public void OnInquiry(ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed) =>
        _context.Echoes.Ask(targets, wait, completed);

    public void OnExpelled(string reason) => Observer?.OnExpelled(reason);
    public void OnGaveUp(string reason) => Observer?.OnGaveUp(reason);
    public void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null) =>
        Observer?.OnTopicRefused(topicId, reason, deniedTo);
    public void OnServiceReachable(bool reachable) => Observer?.OnServiceReachable(reachable);
    public void OnServiceSilent(TimeSpan since) => Observer?.OnServiceSilent(since);

    private SlowReaders OpenSlowReaders()
    {
        var readers = new SlowReaders(this);
        _context.Shortage.OfferAgain = readers.OfferAll;
        return readers;
    }

    public RegionSender? FindSender(ulong region, uint view, StreamClass streamClass) => _sent?.Find(region, view, streamClass);

    public RegionView? OwnViewOf(ulong topicId) => _topics?.OwnViewOf(topicId);

    public bool IsRoutedTo(ulong topicId, NodeKey member, ulong? region) =>
        _topics is not null && _topics.IsRoutedTo(topicId, member, region);

    public bool SendsTo(NodeKey member, ulong region, uint view) => _sent is not null && _sent.IsInto(region, view, member);

    public string? NameOf(ulong topicId) => _topics?.NameOf(topicId);

    public void SetCredit(ulong topicId, long through)
    {
        _topics?.SetCredit(topicId, through);
        PostProgress();
    }

    public ViewSequence? ViewsOf(ulong topicId) => _topics?.ViewsOf(topicId);

    public RegionView? RegionOf(ulong region) => _views.GetValueOrDefault(region);

    public bool IsOver(RegionView view) => _open.IsOver(view);

    public void SetHeld(ulong topicId, bool isHeld)
    {
        _topics?.SetHeld(topicId, isHeld);
        PostProgress();
    }

    public RegionSender? SenderFor(ulong region, StreamClass streamClass)
    {
        if (Sent.FindCurrent(region, streamClass) is { } stream)
        {
            return stream;
        }

        if (!_views.TryGetValue(region, out var view) || view.Members.IsEmpty)
        {
            return null;
        }

        stream = new RegionSender(
            _context.Sending,
            view,
            streamClass,
            _context.Receiving.Dissemination.ToSend(_context, _ports, _context.Sending.Deaf, view))
        {
            RoutedAt = _configuration,
        };
        Sent.Add(stream);
        return stream;
    }

    public void LookForMemoryAgain()
    {
        _memoryLook ??= new Alarm(PostProgress);
        if (!_memoryLook.IsPending)
        {
            _context.Environment.Schedule(_memoryLook, MemoryPause);
        }
    }

    public void Await(RegionSender stream, TopicSender topic)
    {
        stream.Await(topic);
        Waits.Look();
    }

    public void Wait(IFeed topic)
    {
        (_waiting ??= new FeedLine()).Add(topic);
        Waits.Look();
    }

    public void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed) => Observer?.OnSnapshotWanted(rows, completed);

    public void CompleteLater(IStabilityObserver observer, long sequence) =>
        _context.Environment.Post(new ActionRequest(() => observer.OnStable(sequence)));

    public void WhenStable(Action callback)
    {
        _marks?.MarkAll();
        _context.FlushSockets();
        (_stabilityWaits ??= new StabilityWaits()).Add(_sent?.All() ?? [], callback);
        PostProgress();
    }

    void IViewsObserver.OnViewClosed(RegionView view) => _ways.OnViewClosed(view);

    void IViewsObserver.OnViewsClosed()
    {
        ForgetSenders();
        _keys?.Rest(_sent, _open);
    }

    void IViewsObserver.OnStreamsEnded() => ForgetSenders();

    void IViewsObserver.OnViewsChecked() => _topics?.InstallViews();

    public void Forget(TopicSender topic) => Topics.Forget(topic);

    public void Forget(TopicReceiver receiver) => Topics.Forget(receiver);

    public void AwaitLast(TopicReceiver receiver, long configuration, Action settled, Action completed) =>
        Topics.Left(_open.IsSettledThrough, _open.HasAllThrough).Add(receiver, configuration, settled, completed);

    public void Close()
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        _context.FlushSockets();
        _uncertain?.Close();
        _heldUp?.Close();
        _topics?.CloseLeft();
        _context.Environment.CancelIfMade(_memoryLook);
        _creditLimits?.Close();
        _slowReaders?.Close();
        _waits?.Close();
        _confirmation?.Close();
        _marks?.Close();
        _losses?.Close();
        _context.Close();
        _sent?.Close();
        _open.Close();
        _ways.Close();
        _dispatcher.Close();
        _pieces?.Dispose();
        _context.Receiving.TopicPorts?.Close();
        _ports.Dispose();
        _context.ControlPort.Dispose();
        _keys?.Dispose();
    }

    // Registers the handler of each packet kind. The node itself handles the kinds whose handlers are created when first needed.
    private PacketDispatcher Handlers()
    {
        var data = new DataHandler(_open, _ways, this);
        var stability = new StabilityHandler(_context, _open);
        var dispatcher = new PacketDispatcher(_context, _open, data, _ways) { Keys = _keys };
        dispatcher.Register(PacketKind.Announce, data, keepEarly: true);
        dispatcher.Register(PacketKind.Token, stability);
        dispatcher.Register(PacketKind.Probe, stability);
        dispatcher.Register(PacketKind.ProbeReply, stability);
        dispatcher.Register(PacketKind.Ack, new AckHandler(_context, this, _context));
        dispatcher.Register(PacketKind.Pull, new RepairResponder(_context.Sending, this, _open, _context));
        dispatcher.Register(PacketKind.Hearing, _ways);
        dispatcher.Register(PacketKind.Credit, this, keepEarly: true);
        dispatcher.Register(PacketKind.Pause, new NodePauses(this, _context, _open));
        dispatcher.Register(PacketKind.Echo, this);
        dispatcher.Register(PacketKind.EchoReply, this);
        _pieces = new PieceAssembly(_context, dispatcher);
        dispatcher.Register(PacketKind.Piece, _pieces);
        return dispatcher;
    }

    DropReason IPacketHandler.OnPacket(in PacketHeader header, NodeKey sender) => header.Kind == PacketKind.Credit
        ? CreditLimits.OnPacket(header, sender)
        : _context.Echoes.OnPacket(header);

    private void ApplyRegions(ConfigurationChange change)
    {
        foreach (ulong region in change.RegionsAbsent(_views.Keys))
        {
            Supersede(region, change.Number);
            _views.Remove(region);
        }

        foreach (var view in change.Regions)
        {
            if (_views.TryGetValue(view.RegionId, out var known) && known.Number >= view.Number)
            {
                // A service that took over goes on with it.
                _open.Find(known.RegionId, known.Number)?.Confirm(change.Number);

                // The node may now have a key that it was not told before.
                if (known.Number == view.Number)
                {
                    _keys?.Add(view);
                }

                continue;
            }

            Supersede(view.RegionId, change.Number);
            if (view.Members.IsEmpty)
            {
                _views.Remove(view.RegionId);
                continue;
            }

            _views[view.RegionId] = view;
            _keys?.Add(view);
            if (view.Members.AsSpan().BinarySearch(_context.Self) >= 0)
            {
                _open.Open(view, this);
                if (_keys is not null && !_keys.Has(view))
                {
                    _context.GiveUp($"it has no key for {view}, although it seals its packets; the membership service may not seal");
                }
            }
        }
    }

    private void Supersede(ulong region, long configuration)
    {
        _sent?.Supersede(region, configuration);
        _open.Supersede(region, configuration);
    }

    // A departed node that has no stream left in any view can send nothing more.
    private void ForgetSenders() =>
        _topics?.ForgetSenders(sender => !_context.Directory.Contains(sender) && !_open.HasStreamOf(sender));

    private void OnNodeGone(LostNode lost)
    {
        _context.Paths.OnNodeGone(lost);
        _topics?.OnNodeGone(lost.Key);
        _ways.OnNodeGone(lost.Key);
        _open.OnNodeGone(lost);
        _creditLimits?.OnNodeGone(lost.Key);
        _sent?.OnNodeGone(lost.Key);
    }

    private void PostProgress()
    {
        if (!_progressPosted && !_isClosed)
        {
            _progressPosted = true;
            _context.Environment.Post(_progress);
        }
    }

    private void OnProgress()
    {
        _progressPosted = false;
        bool isWhole = false;
        try
        {
            ConfirmIfSettled();
            _stabilityWaits?.Serve();
            // A topic that still has to wait registers again, and is asked the next time.
            if (_waiting is not null && _waiting.GiveOneTurnEach())
            {
                PostProgress();
            }

            isWhole = true;
        }
        finally
        {
            if (!isWhole)
            {
                // Those that are left have their turn after a pause.
                _context.Shortage.TryAgainLater();
            }
        }
    }

    public void ConfirmIfSettled()
    {
        _sent?.CloseSettled();
        if (_confirmed == _configuration && _confirmation is null or { IsNothingNamed: true })
        {
            return;
        }

        if (_sent is not null)
        {
            Confirmation.Hold(_sent, _configuration, this, ref _confirmation);
        }

        long confirmed = _confirmation?.Weigh(_configuration) ?? _configuration;
        if (confirmed > _confirmed || _confirmation is { IsNews: true })
        {
            _confirmed = Math.Max(_confirmed, confirmed);
            _context.Membership.Confirm(_confirmed, _confirmation?.Named ?? []);
        }
    }
}
