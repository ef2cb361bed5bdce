using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Recovery;
using QuickSilver.Multicast.Stalls;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast;

// One node's multicast: where configurations are applied, and sending topics meet their regions' streams. What arrives goes
// through PacketReader. All on the core thread.
//
// Invariants: a node's topics move from old views to new ones within one OnConfiguration, so a topic's messages go through
// exactly one view of each region per configuration; a superseded stream stays until it is settled, and the configuration
// is confirmed to the service only then; a superseded view of which this node is a member stays until the service says
// that all nodes have confirmed, and all it holds was accepted above.
internal sealed class MulticastNode : IMulticast, IMembershipObserver, IStreamConsumer
{
    private static readonly TimeSpan MemoryPause = TimeSpan.FromMilliseconds(2);

    private readonly MulticastContext _context;
    private readonly PacketReader _reader;
    private readonly SendingPorts _ports;
    private readonly Dictionary<ulong, RegionView> _views = [];
    private readonly Dictionary<(ulong Region, StreamClass Class), RegionSender> _senders = [];
    private readonly List<RegionSender> _retired = [];
    // What was packed into since the last flush. Nobody looks at the other streams: a node may have thousands that rest.
    private readonly List<RegionSender> _unflushed = [];
    // Null until one is.
    private OpenTopics? _topics;
    // Null until a best-effort topic has something for them.
    private BestEffortMarks? _marks;
    private UnrepairedLosses? _losses;
    private List<TopicSender> _waiting = [];
    private List<TopicSender> _waitingBefore = [];
    private StabilityWaits? _stabilityWaits;
    private NodeWaits? _waits;
    // Null until a reader is slow.
    private CreditLimits? _creditLimits;
    private SlowReaders? _slowReaders;
    private readonly Request _flush;
    private readonly Request _progress;
    // Null until something holds a confirmation up.
    private Confirmation? _confirmation;
    private long _confirmed;
    private UncertainLosses? _uncertain;
    private HeldUpStreams? _heldUp;
    private long _configuration;
    private long _settled;
    private Alarm? _memoryLook;
    private bool _flushPosted;
    private bool _progressPosted;
    private bool _isClosed;

    public MulticastNode(
        INodeEnvironment environment, MulticastOptions options, Func<IMembershipObserver, DatagramAddress, IMembership> join)
    {
        options.Validate();
        _reader = new PacketReader(options);
        var unicast = new DatagramPortOptions { ReceiveBufferBytes = options.ReceiveBufferBytes, SegmentationOffload = false };
        var control = environment.OpenPort(unicast, _reader);
        _ports = new SendingPorts(environment, options, _reader);
        var membership = join(this, new DatagramAddress(control.LocalEndPoint));
        _context = new MulticastContext(environment, options, membership)
        {
            ControlPort = control,
            OnSenderProgress = PostProgress,
            OnWait = () => Waits.Look(),
        };
        _context.Deaf = new DeafMembers(_context, _ports.Groups, region => _views.GetValueOrDefault(region));
        _reader.Attach(_context, this);
        _flush = new ActionRequest(OnFlush);
        _progress = new ActionRequest(OnProgress);
    }

    public MulticastContext Context => _context;

    public MulticastCounters Counters => _context.Counters;

    public IRepairWatch? RepairWatch
    {
        set => _context.RepairWatch = value;
    }

    public ILogger Log
    {
        set => _context.Log = value;
    }

    /// <summary>What ails this node though it goes on, in a sentence; null when all is well. From any thread.</summary>
    public string? Trouble => _context.Troubles.First;

    public Stack<StabilityClaim> ClaimPool => field ??= new();

    /// <summary>Every live region of which this node is a member, old views included.</summary>
    public IReadOnlyCollection<RegionReceiver> Regions => _reader.Regions;

    /// <summary>Bytes that all outbound streams keep now; the counter of unacknowledged bytes lags behind it.</summary>
    public long RetainedBytes => _context.Retention.Bytes;

    /// <summary>The last configuration applied.</summary>
    public long Configuration => _configuration;

    /// <summary>The outbound streams, those of old views first.</summary>
    public IReadOnlyList<RegionSender> Streams => AllSenders();

    /// <summary>Of which topics the members take how much, and of which others' readers here do.</summary>
    public CreditLimits CreditLimits => _creditLimits ??= new CreditLimits(this);

    /// <summary>What waits, and for whom.</summary>
    public NodeWaits Waits => _waits ??= new NodeWaits(this);

    public List<TopicSender> WaitingTopics => _waiting;

    public List<RegionSender> RetiredStreams => _retired;

    public Dictionary<(ulong Region, StreamClass Class), RegionSender>.ValueCollection CurrentStreams => _senders.Values;

    public List<RegionReceiver> OpenRegions => _reader.OpenRegions;

    public SlowReaders SlowReaders => _slowReaders ??= new SlowReaders(this);

    public int OutboundStreams => _senders.Count + _retired.Count;

    public int MaxRunSegments => _ports.MaxRunSegments;

    /// <summary>Told the same as this node, after it: of a configuration when it was applied.</summary>
    public IMembershipObserver? Observer { get; set; }

    public BestEffortMarks Marks => _marks ??= new BestEffortMarks(this);

    public UnrepairedLosses Losses => _losses ??= new UnrepairedLosses(this);

    private OpenTopics Topics => _topics ??= new OpenTopics(this);

    /// <summary>Views that were closed here and are remembered; for diagnostics.</summary>
    public int RememberedViews => _reader.RememberedViews;

    /// <summary>Topics that are published here, and of which only the next number is kept; for diagnostics.</summary>
    public (int Open, int Resting) NumberedTopics => (_topics?.Numbered ?? 0, _topics?.Resting ?? 0);

    public TopicView? ViewOf(ulong topicId) => _topics?.ViewOf(topicId);

    public ITopicSender OpenPublisher(in ChannelSpec channel) => Topics.OpenPublisher(channel);

    public ITopicReceiver OpenSubscription(in ChannelSpec channel, ITopicSink sink) => Topics.OpenSubscription(channel, sink);

    public void OnConfiguration(ConfigurationChange change)
    {
        if (_isClosed || change.Number <= _configuration)
        {
            return;
        }

        _marks?.MarkClosed();
        _configuration = change.Number;
        try
        {
            Apply(change);
        }
        catch (Exception exception)
        {
            // Half a configuration is none: others would wait for what this node will never send or hold.
            MulticastLog.ConfigurationFailed(_context.Log, exception, change.Number);
            _context.GiveUp($"it could not apply configuration {change.Number}: {exception.Message}");
            throw;
        }
    }

    private void Apply(ConfigurationChange change)
    {
        // Messages taken before the change belong to the views before it.
        FlushAll();
        // Who is gone is so from the old views, and may be in the new ones.
        foreach (var node in _context.Directory.Apply(change, _context.Self))
        {
            OnNodeGone(node);
        }

        _reader.OnNodesCame();
        ApplyRegions(change);
        if (_topics is not null || !change.Topics.IsEmpty)
        {
            Topics.Apply(change);
        }

        // Not before the topics have left them.
        foreach (ulong region in change.OutOfSight)
        {
            _views.Remove(region);
        }

        _context.Counters.Regions = _views.Count;
        _context.Deaf.OnConfiguration();

        // Who is above knows of a view before the first message of it comes.
        Observer?.OnConfiguration(change);
        _reader.ReplayUnknown();
        ConfirmIfSettled();
        PostProgress();
    }

    public void OnSettled(long configuration, ImmutableArray<OpenView> open)
    {
        _settled = Math.Max(_settled, configuration);
        _topics?.Rest(_settled);
        _reader.CloseSettled(_settled, open);
        Observer?.OnSettled(configuration, open);
    }

    public void OnInquiry(ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed) =>
        _context.Echoes.Ask(targets, wait, completed);

    public void OnExpelled(string reason) => Observer?.OnExpelled(reason);
    public void OnGaveUp(string reason) => Observer?.OnGaveUp(reason);
    public void OnTopicRefused(ulong topicId, string reason) => Observer?.OnTopicRefused(topicId, reason);
    public void OnServiceReachable(bool reachable) => Observer?.OnServiceReachable(reachable);

    public void OnMessage(InboundStream stream, in StreamMessage message)
    {
        ulong topicId = message.Delivered.TopicId;
        if (message.StartTable.IsEmpty && StreamOrders.Of(stream)?.Find(topicId) is { } order
            && order.TryTake(message.Delivered, _context.Counters))
        {
            return;
        }

        if (topicId == MessageHeader.MarkTopic)
        {
            OnMark(stream, message);
        }
        else
        {
            _topics?.FindReceiver(topicId, stream.Class)?.OnMessage(stream, message);
        }
    }

    /// <summary>Whether streams of older views have something that was not read yet and goes before what this one has.</summary>
    public bool AwaitReadBefore(InboundStream stream) => _reader.AwaitReadBefore(stream);

    public void OnLoss(InboundStream stream)
    {
        _uncertain ??= new UncertainLosses(_context.Environment, one => _reader.IsAnyMissing(one.Sender), one => _topics?.OnLoss(one));
        _uncertain.Add(stream);
    }

    public void OnUnread(InboundStream stream)
    {
        (_heldUp ??= new HeldUpStreams(_context.Environment)).Add(stream);
    }

    public RegionSender? FindSender(ulong region, uint view, StreamClass streamClass)
    {
        if (_senders.TryGetValue((region, streamClass), out var current) && current.View.Number == view)
        {
            return current;
        }

        foreach (var old in _retired)
        {
            if (old.View.RegionId == region && old.View.Number == view && old.Class == streamClass)
            {
                return old;
            }
        }

        return null;
    }

    public bool IsRoutedTo(ulong topicId, NodeKey member) => _topics is not null && _topics.IsRoutedTo(topicId, member);

    public void SetCredit(ulong topicId, long through)
    {
        _topics?.SetCredit(topicId, through);
        PostProgress();
    }

    /// <summary>In all views that are still open to send.</summary>
    public bool HasBegunEverywhere(ulong topicId)
    {
        foreach (var sender in _senders.Values)
        {
            if (!sender.HasBegun(topicId))
            {
                return false;
            }
        }

        return _retired.TrueForAll(sender => sender.HasBegun(topicId));
    }

    public RegionSender? SenderFor(ulong region, StreamClass streamClass)
    {
        if (_senders.TryGetValue((region, streamClass), out var sender))
        {
            return sender;
        }

        if (!_views.TryGetValue(region, out var view) || view.Members.IsEmpty)
        {
            return null;
        }

        sender = new RegionSender(_context, view, streamClass, _ports.PathTo(view, _context)) { RoutedAt = _configuration };
        _senders.Add((region, streamClass), sender);
        return sender;
    }

    /// <summary>Packet memory is short: streams of which nothing is on the way keep no block.</summary>
    public void RestSettledStreams()
    {
        foreach (var sender in _senders.Values)
        {
            sender.RestIfSettled(needsBlock: true);
        }
    }

    /// <summary>
    /// A topic found too little packet memory. Of what others leave of it nobody tells, so those who wait look again.
    /// </summary>
    public void LookForMemoryAgain()
    {
        _memoryLook ??= new Alarm(PostProgress);
        if (!_memoryLook.IsPending)
        {
            _context.Environment.Schedule(_memoryLook, MemoryPause);
        }
    }

    /// <summary>Once until the topic is told of room.</summary>
    public void Wait(TopicSender topic)
    {
        _waiting.Add(topic);
        Waits.Look();
    }

    public void FlushSoon(RegionSender stream)
    {
        if (!stream.IsFlushNoted)
        {
            stream.IsFlushNoted = true;
            _unflushed.Add(stream);
        }
    }

    public void NoteSent()
    {
        _context.Counters.MessagesSent++;
        PostFlush();
    }

    public void PostFlush()
    {
        if (!_flushPosted)
        {
            _flushPosted = true;
            _context.Environment.Post(_flush);
        }
    }

    public void CompleteLater(IStabilityObserver observer, long sequence) =>
        _context.Environment.Post(new ActionRequest(() => observer.OnStable(sequence)));

    public void WhenStable(Action callback)
    {
        _marks?.MarkAll();
        FlushAll();
        (_stabilityWaits ??= new StabilityWaits()).Add(AllSenders(), callback);
        PostProgress();
    }

    /// <summary>Views were closed: who is gone, and has no stream left in any, will not be heard of again.</summary>
    public void ForgetSenders()
    {
        if (_topics is null)
        {
            return;
        }

        foreach (var receiver in _topics.Receivers)
        {
            receiver.Forget(sender => !_context.Directory.Contains(sender) && !_reader.HasStreamOf(sender));
        }
    }

    public void Forget(TopicSender topic) => Topics.Forget(topic);

    public void Forget(TopicReceiver receiver) => Topics.Forget(receiver);

    public void Close()
    {
        if (_isClosed)
        {
            return;
        }

        _isClosed = true;
        _uncertain?.Close();
        _heldUp?.Close();
        _context.Environment.CancelIfMade(_memoryLook);
        _creditLimits?.Close();
        _slowReaders?.Close();
        _waits?.Close();
        _confirmation?.Close();
        _marks?.Close();
        _losses?.Close();
        _context.Close();
        foreach (var sender in AllSenders())
        {
            sender.Close("the node was closed");
        }

        _reader.Close();
        _ports.Dispose();
        _context.ControlPort.Dispose();
    }

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
                continue;
            }

            Supersede(view.RegionId, change.Number);
            if (view.Members.IsEmpty)
            {
                _views.Remove(view.RegionId);
                continue;
            }

            _views[view.RegionId] = view;
            if (view.Members.AsSpan().BinarySearch(_context.Self) >= 0)
            {
                _reader.Open(view, this);
            }
        }
    }

    private void Supersede(ulong region, long configuration)
    {
        foreach (var streamClass in StreamClass.All)
        {
            if (_senders.Remove((region, streamClass), out var sender))
            {
                _retired.Add(sender);
                sender.Supersede(configuration);
            }
        }

        _reader.Supersede(region, configuration);
    }

    private void OnNodeGone(NodeKey node)
    {
        _reader.OnNodeGone(node);
        _creditLimits?.OnNodeGone(node);
        foreach (var sender in AllSenders())
        {
            if (!sender.OnMemberGone(node))
            {
                sender.Abandon();
            }
        }
    }

    private List<RegionSender> AllSenders()
    {
        var all = new List<RegionSender>(_senders.Count + _retired.Count);
        all.AddRange(_retired);
        all.AddRange(_senders.Values);
        return all;
    }

    private void OnMark(InboundStream stream, in StreamMessage message)
    {
        if (!stream.IsReliable || message.StartTable.IsEmpty || !TopicMark.TryRead(message.Delivered.Span, out var mark))
        {
            Counters.Drop(DropReason.Malformed);
            return;
        }

        _topics?.FindReceiver(mark.TopicId, StreamClass.BestEffort)?.OnMark(stream, message.StartTable, mark.Number);
    }

    private void OnFlush()
    {
        _flushPosted = false;
        FlushAll();
    }

    // The request, if it is posted, stays so: it may be posted again only after it ran.
    private void FlushAll()
    {
        // By index: who is told that a message is out may send the next.
        for (int i = 0; i < _unflushed.Count; i++)
        {
            var stream = _unflushed[i];
            stream.IsFlushNoted = false;
            stream.Flush();
        }

        _unflushed.Clear();
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
        ConfirmIfSettled();
        _context.Counters.UnackedBytes = _context.Retention.Bytes;
        _stabilityWaits?.Serve();
        // Whoever is told may come to wait again: for the next time.
        (_waiting, _waitingBefore) = (_waitingBefore, _waiting);
        foreach (var topic in _waitingBefore)
        {
            if (!topic.IsWaiting)
            {
                continue;
            }

            if (topic.HasRoom)
            {
                topic.SignalRoom();
            }
            else
            {
                _waiting.Add(topic);
            }
        }

        _waitingBefore.Clear();
    }

    /// <summary>Tells the membership service how far all that was sent is settled, where that is news.</summary>
    public void ConfirmIfSettled()
    {
        for (int i = 0; i < _retired.Count; i++)
        {
            if (_retired[i].IsSettled)
            {
                _retired[i].Close("the view is settled");
                _retired.RemoveAt(i--);
            }
        }

        if (_confirmed == _configuration && _confirmation is null or { IsNothingNamed: true })
        {
            return;
        }

        foreach (var sender in _retired)
        {
            (_confirmation ??= new Confirmation(this)).Hold(sender, sender.SupersededAt);
        }

        // Its members wait for a stream that no topic here uses any more, whatever this node was told of the region since.
        foreach (var sender in _senders.Values)
        {
            if (!sender.IsSettled && sender.RoutedAt < _configuration)
            {
                (_confirmation ??= new Confirmation(this)).Hold(sender, sender.RoutedAt + 1);
            }
        }

        long confirmed = _confirmation?.Weigh(_configuration) ?? _configuration;
        if (confirmed > _confirmed || _confirmation is { IsNews: true })
        {
            _confirmed = Math.Max(_confirmed, confirmed);
            _context.Membership.Confirm(_confirmed, _confirmation?.Named ?? []);
        }
    }
}
