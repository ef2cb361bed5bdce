using System.Collections.Immutable;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Nodes.Measures;
using QuickSilver.Publishing;
using QuickSilver.Publishing.Lane;
using QuickSilver.Publishing.Requests;
using QuickSilver.Topics;
using QuickSilver.Topics.Grants;
using QuickSilver.Topics.Subscribers;

namespace QuickSilver.Nodes;

// The implementation of a node: its topics by id, and the results of the membership service. Core thread only, unless stated otherwise.
internal sealed class NodeCore : ITopicNode, IMembershipObserver
{
    private static readonly TimeSpan PulseInterval = TimeSpan.FromMilliseconds(500);

    private readonly INodeParts _parts;
    private readonly QuickSilverOptions _options;
    private readonly GuardedLoggers _logs;
    private readonly NodeTopics _topics = new();
    // Created when the node knows its id.
    private NodeMeter? _meter;
    // Null unless an option asks for it.
    private MeteredTopics? _metered;
    // Null until the first topic.
    private SharedContracts? _contracts;
    // Made with the first topic, because an idle node has no use for it.
    private NodeProtocols? _protocols;
    // Created before the first topic, so that every topic and endpoint can use it on any thread.
    private NodePublishing? _publishing;
    // Created with the first wait, and with the first topic.
    private TopicWaits? _waits;
    private BlockingHandlers? _handlers;
    // Its continuations run on the core thread (QuickSilverNode.StartAsync).
    private readonly TaskCompletionSource _joined = new();
    // Null before the start and after it.
    private Alarm? _startLimit;
    private readonly TaskCompletionSource _expelled;
    private readonly Alarm _pulse;
    private readonly StatusReading _status;
    private readonly ServiceLossWatch _losses;
    // Null until an observer watches.
    private SignsReading? _signs;
    private int _state = (int)NodeState.Starting;
    private readonly CancellationTokenSource _ended = new();
    // Created with the first call that waits, or at the end.
    private PendingCalls? _calls;
    private bool _hasBegun;
    // Why this incarnation of the node has ended; null while it is a member.
    private NodeExpelledException? _end;

    public NodeCore(INodeParts parts, QuickSilverOptions options, ILoggerFactory logs)
    {
        _parts = parts;
        _options = options;
        Environment = parts.Environment;
        OutsideTime = parts.OutsideTime;
        Completions = parts.Completions;
        _expelled = new TaskCompletionSource(Completions);
        _logs = GuardedLoggers.Of(logs);
        Log = _logs.CreateLogger("QuickSilver");
        PublishLosses = new PublishLosses(CounterCells, Log);
        Readings = new NodeReadings(parts, CounterCells, EndpointRegistry, _logs);
        if (parts.Interface is { } chosen)
        {
            ApiLog.InterfaceChosen(Log, chosen);
        }

        _status = new StatusReading(parts, Environment, OutsideTime, options, Troubles);
        _losses = new ServiceLossWatch(Environment, _topics.Ordered, parts.IsServiceHosted, ReadStatus, Log);
        _pulse = new Alarm(OnPulse);
    }

    public INodeEnvironment Environment { get; }

    public TimeProvider OutsideTime { get; }

    public TaskCreationOptions Completions { get; }

    /// <summary>Whether awaits of the node's own code continue in the caller's context. Read again for each await.</summary>
    public bool ResumesInContext => _parts.ResumesInContext;

    public ILogger Log { get; }

    public NodeCounterCells CounterCells { get; } = new();

    public NodeReadings Readings { get; }

    public PublishLosses PublishLosses { get; }

    public PublishBudget PublishBudget => _publishing!.Budget;

    public PublishRequestPool Requests => _publishing!.Requests;

    public PublishIntake Intake => _publishing!.Intake;

    public PublishLatency Latency => _publishing!.Latency;

    public EndpointRegistry EndpointRegistry { get; } = new();

    public Troubles Troubles { get; } = new();

    public IMembership Membership => _parts.Membership;

    /// <summary>The protocols that topics can be opened with.</summary>
    public NodeProtocols Protocols => Volatile.Read(ref _protocols) ?? MakeProtocols();

    /// <summary>The id of this node. From any thread, after the node has joined.</summary>
    public NodeId Self { get; private set; }

    public StatusReading StatusReading => _status;

    /// <summary>What the nodes of the cluster are called. From any thread.</summary>
    public INodeNames Names => _parts.Names;

    public TopicRefusals Refusals { get; } = new();

    public ContestedOpenings Contested => field ??= new ContestedOpenings();

    /// <summary>What people call this node. From any thread.</summary>
    public string Name => _parts.Name;

    /// <summary>
    /// From any thread: completes when the node has joined, and fails if it cannot join. It does so on the core thread, at which
    /// continuations run: none may call code of the application.
    /// </summary>
    public Task Joined => _joined.Task;

    /// <summary>
    /// From any thread: completes when the service has removed the node or the node has left the cluster by itself, and not otherwise.
    /// </summary>
    public Task Expulsion => _expelled.Task;

    /// <summary>From any thread, when <see cref="Expulsion"/> has completed: why this incarnation of the node has ended.</summary>
    public NodeExpelledException? EndOfLife => _end;

    /// <summary>From any thread: the notices to the application that the node is degraded.</summary>
    public StatusNotices Notices => _losses.Notices;

    /// <summary>The state of the node. From any thread.</summary>
    public NodeState State => (NodeState)Volatile.Read(ref _state);

    /// <summary>From any thread: cancelled when the core thread has ended.</summary>
    public CancellationToken Ended => _ended.Token;

    private PendingCalls Calls => LazyInitializer.EnsureInitialized(ref _calls, () => new PendingCalls(_parts));

    /// <summary>From any thread: a node as a person reads it.</summary>
    public NamedNode Named(NodeId node) => Names.Named(node);

    /// <summary>From any thread: runs the action on the core thread, after the actions that were passed to it before.</summary>
    public void Run(Action action) => Environment.Post(new ActionRequest(action));

    public void Begin() => Run(() =>
    {
        try
        {
            OnPulse();
            _startLimit = new Alarm(OnStartLimit);
            Environment.Schedule(_startLimit, _options.StartTimeout);
            _parts.Begin(this);
            _hasBegun = true;
            BeginMeter();
        }
        catch (Exception exception)
        {
            _joined.TrySetException(exception);
        }
    });

    // Also for a node that joins while it begins: one that has joined is measured.
    private void BeginMeter()
    {
        if (!_parts.HasMeter || _meter is not null)
        {
            return;
        }

        var self = new NodeId(Membership.Self.Id, Membership.Self.Incarnation);
        _metered = _options.MeteredTopics > 0 ? new MeteredTopics(_options.MeteredTopics, _topics.Ordered, EndpointRegistry) : null;
        Volatile.Write(ref _meter, Readings.BeginMeter(_options.Cluster, self, _metered));
    }

    /// <summary>From any thread.</summary>
    /// <exception cref="ObjectDisposedException">The node was disposed.</exception>
    public void CheckNotStopped()
    {
        if (State == NodeState.Stopped)
        {
            throw AfterDispose.OfNode();
        }
    }

    /// <summary>
    /// Gets the open topic of this name, or creates one with this contract, and with what its first endpoint asks of its protocol.
    /// </summary>
    public TopicCore GetOrAdd(string name, ContractDescription contract, ProtocolSettings? settings = null)
    {
        if (_end is { } end)
        {
            throw end;
        }

        CheckNotStopped();
        ulong id = TopicId.Of(name);
        if (_topics.Find(name, id) is { } open)
        {
            return open;
        }

        contract = (_contracts ??= new SharedContracts()).Of(contract);
        _publishing ??= new NodePublishing(Environment, _options.Limits.PublishQueueBytes, _meter) { Intake = { HeldUp = OnWait } };
        Readings.Publishing = _publishing;
        if (_handlers is null && _parts.HandlersCanBlock)
        {
            var limit = _options.HandlerLimit;
            var handlers = new BlockingHandlers(_parts.WatchTime, EndpointRegistry, () => _status.SincePulse, limit, CounterCells, Log);
            Volatile.Write(ref _handlers, handlers);
            _status.Handlers = handlers;
        }

        if (settings is not null)
        {
            Protocols.Set(id, settings);
        }

        var topic = new TopicCore(this, name, id, contract);
        _topics.Add(topic);
        return topic;
    }

    private NodeProtocols MakeProtocols()
    {
        var made = new NodeProtocols(this, _parts) { Waits = OnWait, Meter = () => _meter, MayBeRemoved = () => _status.MayBeRemoved };
        return Interlocked.CompareExchange(ref _protocols, made, null) ?? made;
    }

    public void WatchHandlers() => Volatile.Read(ref _handlers)?.Begin();

    /// <summary>
    /// Called when a topic waits to be opened, or the publish lane waits for a codec: a wait that takes too long is reported.
    /// </summary>
    public void OnWait()
    {
        if (_waits is null)
        {
            Volatile.Write(ref _waits, new TopicWaits(Environment, _options.StallWarning, _topics.Ordered, _publishing!.Intake.Lane, Log)
            {
                Protocols = Protocols,
            });
            Readings.Waits = _waits;
            _status.Waits = _waits;
        }

        _waits.Look();
    }

    public ITopicProtocol ProtocolOf(string guarantee) => Protocols.Of(guarantee);

    public ProtocolSettings? SettingsOf(ulong topicId) => Protocols.SettingsOf(topicId);

    public void OnCountBegins(TopicCore topic, long published) => _metered?.OnCountBegins(topic, published);

    public void OnCountEnds(TopicCore topic, bool isSender) => _metered?.OnCountEnds(topic, isSender);

    public void Forget(TopicCore topic)
    {
        _metered?.Forget(topic);
        _protocols?.Forget(topic.Id);
        _topics.Remove(topic);
    }

    public TopicView? ViewOf(ulong topicId) => _parts.ViewOf(topicId);

    public string? WhyWaiting(ulong topicId) => _parts.Multicast.WhyWaiting(topicId);

    public RegionView? RegionOf(ulong region) => _parts.RegionOf(region);

    public bool IsMember(NodeKey node) => _parts.IsMember(node);

    public bool IsSelf(NodeKey node) => node.Id == Self.Id && node.Incarnation == Self.Incarnation;

    public void Follow(SubscriberInterest interest) => _topics.Follow(interest);

    public void Unfollow(SubscriberInterest interest) => _topics.Unfollow(interest);

    public List<TopicEndpoint> OpenEndpoints() => _topics.OpenEndpoints();

    public void OnConfiguration(ConfigurationChange change)
    {
        OnJoined();
        _topics.OnConfiguration(change);
        _protocols?.OnConfiguration();
    }

    public void OnSettled(long configuration, ImmutableArray<OpenView> open)
    {
    }

    public void OnExpelled(string reason)
    {
        _losses.BeginChange();
        if (TryAdvance(NodeState.Expelled))
        {
            ApiLog.Expelled(Log, reason);
            EndLife(new NodeExpelledException(reason), $"The membership service removed this node: {reason}.");
        }
    }

    public void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null) =>
        _topics.Find(topicId)?.OnRefused(reason, deniedTo);

    public void OnGaveUp(string reason)
    {
        _losses.BeginChange();
        if (TryAdvance(NodeState.Expelled))
        {
            ApiLog.GaveUp(Log, reason);
            EndLife(NodeExpelledException.ByItself(reason), $"This node left the cluster: {reason}.");
        }
    }

    public void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed)
    {
        _signs ??= new SignsReading(Readings, _parts, _options, _topics.Ordered, ReadStatus, signs => _protocols?.AddSigns(signs));
        completed(_signs.Read(rows));
    }

    private void EndLife(NodeExpelledException failure, string inWords)
    {
        _end = failure;
        _losses.Close();
        _status.OnExpelled(inWords);
        _joined.TrySetException(failure);
        PublishLosses.Remedy = failure.Message;
        EndTopics(failure);
        _losses.EndChange(NodeStatusChangeKind.Expelled);
        _expelled.TrySetResult();
    }

    /// <summary>From any thread: the node ends, and its core thread is blocked. What waits for it is lost.</summary>
    public void OnEndWithoutCore()
    {
        if (Readings.Publishing?.QueuedMessages is > 0 and var messages)
        {
            Readings.EndAccepted();
            Interlocked.Add(ref CounterCells.PublishDrops, messages);
            ApiLog.EndedWithoutCore(Log, messages);
        }
    }

    private void EndTopics(Exception reason)
    {
        PublishLosses.Collect();
        _topics.OnNodeFailed(reason);

        // After what the endpoints do at their end, which they have passed to the core thread.
        Run(() => PublishLosses.Report(_hasBegun ? _parts.Multicast.ReadUnacknowledged() : [], _topics.NameOf));
    }

    public void OnServiceReachable(bool reachable)
    {
        bool wasJoined = State == NodeState.Running;
        _losses.BeginChange();
        _status.IsReachable = reachable;
        if (reachable)
        {
            OnJoined();
            _losses.OnBack();
        }

        if (wasJoined && reachable)
        {
            ApiLog.ServiceBack(Log);
        }
        else if (wasJoined)
        {
            ApiLog.ServiceLost(Log);
        }
    }

    public void OnServiceSilent(TimeSpan since)
    {
        if (State == NodeState.Running)
        {
            _losses.BeginChange();
            _status.OnSilent(Environment.UtcNow - since);
            _losses.OnSilent(since);
        }
    }

    public void OnOpened(TopicCore topic, TopicEndpoint endpoint) => _losses.OnOpened(topic, endpoint);

    /// <summary>From any thread: stops the node, so that nothing can be opened any more. False if it was stopped before.</summary>
    public bool TryStop()
    {
        _status.OnStopped();
        return TryAdvance(NodeState.Stopped);
    }

    /// <summary>Core thread: leaves the cluster, which is the last action of a node before its parts are stopped.</summary>
    public void Leave(Action completed)
    {
        Environment.Cancel(_pulse);
        _losses.Close();
        _waits?.Close();
        EndTopics(AfterDispose.OfNode());
        _protocols?.Close();

        if (_hasBegun)
        {
            Membership.Leave(completed);
        }
        else
        {
            completed();
        }
    }

    /// <summary>From any thread: waits for a task that the core thread will complete. Throws if the core thread ends.</summary>
    public Task UntilEndedAsync(Task task, CancellationToken cancellationToken) => Calls.UntilEndedAsync(task, cancellationToken);

    /// <summary>
    /// From any thread: called when the core thread has ended. Notifies all callers that still wait. Returns the endpoints with messages
    /// that their readers did not read.
    /// </summary>
    public IReadOnlyList<TopicEndpoint> End()
    {
        Volatile.Read(ref _meter)?.Dispose();
        Volatile.Read(ref _handlers)?.Dispose();
        _ended.Cancel();
        Calls.End();
        return EndpointRegistry.End();
    }

    public NodeStatus ReadStatus() => _status.Read(State, _topics.Count);

    private void OnJoined()
    {
        if (!TryAdvance(NodeState.Running))
        {
            return;
        }

        _status.IsReachable = Membership.IsReachable;
        Self = new NodeId(Membership.Self.Id, Membership.Self.Incarnation);
        ApiLog.Joined(Log, Named(Self), _options.Cluster);
        if (_startLimit is not null)
        {
            Environment.Cancel(_startLimit);
            _startLimit = null;
        }

        BeginMeter();
        _joined.TrySetResult();
    }

    // A timer outside the core thread has the same limit, and does not fire while the thread pool is blocked.
    private void OnStartLimit()
    {
        if (_joined.TrySetException(new TimeoutException()))
        {
            // Observed: the caller may have given up before.
            _ = _joined.Task.Exception;
        }
    }

    private bool TryAdvance(NodeState to) => ForwardState.TryAdvance(ref _state, (int)to);

    private void OnPulse()
    {
        _status.OnPulse();
        if (_hasBegun)
        {
            Readings.OnPulse(Environment.Now);
            _metered?.Note();
            _signs?.RestIfUnwatched();
        }

        if (State != NodeState.Stopped)
        {
            Environment.Schedule(_pulse, PulseInterval);
        }
    }
}
