using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Ordering.BestEffort;
using QuickSilver.Multicast.Ordering.Credit;
using QuickSilver.Multicast.Ordering.Pinned;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Stalls;

namespace QuickSilver.Multicast;

// Connects the topics of this node with the streams of their regions, and gives waiting topics their turn when there may be progress.
internal sealed class TopicStreams : Request, IOrderingNode, ISentStreams, IWaitSources, IPacketHandler
{
    private static readonly TimeSpan MemoryPause = TimeSpan.FromMilliseconds(2);

    private readonly MulticastContext _context;
    private readonly AppliedConfiguration _applied;
    private readonly SettlementReport _report;
    private readonly OpenViews _open;
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
    private Alarm? _memoryLook;
    private bool _progressPosted;
    private bool _isClosed;

    public TopicStreams(
        MulticastContext context, AppliedConfiguration applied, SettlementReport report, OpenViews open)
    {
        _context = context;
        _applied = applied;
        _report = report;
        _open = open;
        Router = new MessageRouter(this, open);
    }

    /// <summary>Takes what comes in the streams of the views, and has the topics.</summary>
    public MessageRouter Router { get; }

    public NodeContext Context => _context;

    public SendingParts Sending => _context.Sending;

    public ReceivingParts Receiving => _context.Receiving;

    public ParkingBudget Parking => _context.Parking;

    public ClaimPool Claims => field ??= new();

    public long Configuration => _applied.Number;

    public long Settled => _applied.Settled;

    public SentStreams Sent => _report.Sent;

    /// <summary>The outbound streams, those of superseded views first.</summary>
    public IReadOnlyList<IAcknowledgedStream> Streams => AllStreams;

    /// <summary>The topics of this node that are held to the rate of a reader. From any thread.</summary>
    public IReadOnlyList<PacedTopic> Paced => _creditLimits?.Paced ?? [];

    public CreditLimits CreditLimits => _creditLimits ??= new CreditLimits(this);

    public SlowReaders SlowReaders => _slowReaders ??= OpenSlowReaders();

    /// <summary>What waits on this node, and for which nodes.</summary>
    public NodeWaits Waits => _waits ??= new NodeWaits(_context, this);

    public BestEffortMarks Marks => _marks ??= new BestEffortMarks(_context.Environment);

    public UnrepairedLosses Losses => _losses ??= new UnrepairedLosses(_context.Receiving);

    public IReadOnlyCollection<IFeed> WaitingTopics => _waiting?.Feeds ?? [];

    public List<RegionReceiver> OpenRegions => _open.All;

    public IEnumerable<ViewSequence> WaitingViews => Router.TopicsIfAny?.WaitingViews ?? [];

    public IEnumerable<AwaitedMessage> AwaitedMessages => Router.TopicsIfAny?.AwaitedMessages ?? [];

    /// <summary>The marks of the topics that are closed belong to the configuration that ends.</summary>
    public void BeginConfiguration() => _marks?.MarkClosed();

    public RegionSender? FindSender(ulong region, uint view, StreamClass streamClass) =>
        _report.SentIfAny?.Find(region, view, streamClass);

    IAcknowledgedStream? ISentStreams.FindSender(ulong region, uint view, StreamClass streamClass) => FindSender(region, view, streamClass);

    public RegionView? RegionOf(ulong region) => _applied.Regions.GetValueOrDefault(region);

    public RegionView? OwnViewOf(ulong topicId) => Router.TopicsIfAny?.OwnViewOf(topicId);

    public bool IsRoutedTo(ulong topicId, NodeKey member, ulong? region) =>
        Router.TopicsIfAny is { } topics && topics.IsRoutedTo(topicId, member, region);

    public bool SendsTo(NodeKey member, ulong region, uint view) =>
        _report.SentIfAny is { } sent && sent.IsInto(region, view, member);

    public string? NameOf(ulong topicId) => Router.TopicsIfAny?.NameOf(topicId);

    public ViewSequence? ViewsOf(ulong topicId) => Router.TopicsIfAny?.ViewsOf(topicId);

    public bool IsOver(RegionView view) => _open.IsOver(view);

    public bool AwaitReadBefore(ConsumedStream stream) => _open.AwaitReadBefore(stream);

    public bool MayBringMoreBefore(ConsumedStream stream) => _open.MayBringMoreBefore(stream);

    public void OnLoss(ConsumedStream stream) => Router.OnLoss(stream);

    public void SetCredit(ulong topicId, long through)
    {
        Router.TopicsIfAny?.SetCredit(topicId, through);
        PostProgress();
    }

    public void SetHeld(ulong topicId, bool isHeld)
    {
        Router.TopicsIfAny?.SetHeld(topicId, isHeld);
        PostProgress();
    }

    /// <summary>Handles the credit of a reader.</summary>
    public DropReason OnPacket(in PacketHeader header, NodeKey sender) => CreditLimits.OnPacket(header, sender);

    public RegionSender? SenderFor(ulong region, StreamClass streamClass)
    {
        if (Sent.FindCurrent(region, streamClass) is { } stream)
        {
            return stream;
        }

        if (!_applied.Regions.TryGetValue(region, out var view) || view.Members.IsEmpty)
        {
            return null;
        }

        var path = _context.Receiving.Dissemination.ToSend(view);
        stream = new RegionSender(_context.Sending, view, streamClass, path) { RoutedAt = _applied.Number };
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

    public void CompleteLater(IStabilityObserver observer, long sequence) =>
        _context.Environment.Post(new ActionRequest(() => observer.OnStable(sequence)));

    public void WhenStable(Action callback)
    {
        _marks?.MarkAll();
        _context.FlushSockets();
        (_stabilityWaits ??= new StabilityWaits()).Add(_report.SentIfAny?.All() ?? [], callback);
        PostProgress();
    }

    public void Forget(TopicSender topic) => Router.Topics.Forget(topic);

    public void Forget(TopicReceiver receiver) => Router.Topics.Forget(receiver);

    public void AwaitLast(TopicReceiver receiver, long configuration, Action settled, Action completed) =>
        Router.Topics.Left(_open.IsSettledThrough, _open.HasAllThrough).Add(receiver, configuration, settled, completed);

    private List<RegionSender> AllStreams => _report.SentIfAny?.All() ?? [];

    public IEnumerable<UnacknowledgedTopic> ReadUnacknowledged()
    {
        _context.FlushSockets();
        var messages = new UnacknowledgedMessages();
        foreach (var stream in AllStreams)
        {
            if (stream is { IsReliable: true, IsSettled: false })
            {
                stream.ReadUnacknowledged(messages, Waits.WhyUnacknowledged(stream));
            }
        }

        return messages.Topics;
    }

    public void OnNodeGone(NodeKey node) => _creditLimits?.OnNodeGone(node);

    public void PostProgress()
    {
        if (!_progressPosted && !_isClosed)
        {
            _progressPosted = true;
            _context.Environment.Post(this);
        }
    }

    /// <summary>Called after there was progress: the node is itself the request, because most nodes are idle.</summary>
    public override void Execute()
    {
        _progressPosted = false;
        bool isWhole = false;
        try
        {
            _report.ConfirmIfSettled();
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

    public override string ToString() => "request TopicStreams.Execute";

    /// <summary>From now on nothing waits for progress.</summary>
    public void BeginClose() => _isClosed = true;

    public void Close()
    {
        Router.Close();
        _context.Environment.CancelIfMade(_memoryLook);
        _creditLimits?.Close();
        _slowReaders?.Close();
        _waits?.Close();
        _report.Close();
        _marks?.Close();
        _losses?.Close();
    }

    private SlowReaders OpenSlowReaders()
    {
        var readers = new SlowReaders(this);
        _context.Shortage.OfferAgain = readers.OfferAll;
        return readers;
    }
}
