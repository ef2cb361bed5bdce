using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// A node's side of the membership service. It keeps what is open across services and connections, and applies configurations strictly one
// after the other. Core thread only.
internal sealed class MembershipClient : IMembership, IServiceLinkOwner, IServiceMessages, IPauseObserver, IDisposable
{
    private readonly MembershipClientOptions _options;
    private readonly IMembershipObserver _observer;
    private readonly ConfigurationCache _configurations;
    private readonly DiscoveryContext _discovery;
    private readonly ServiceLink _link;
    private readonly ReachWatch _reach;
    // Null until the first topic is opened.
    private TopicTable? _topics;
    // Null until the first prefix is followed.
    private TopicFollows? _follows;
    private readonly ConfigurationAssembler _assembler = new();
    private readonly HeldRegions _held;
    private readonly NodeNames _names;
    private readonly ServiceSilence _silence;
    // Sent after the welcome, because the registration did not contain it; null while there is nothing.
    private List<Action>? _afterWelcome;
    private Alarm? _leaveAlarm;

    // The life of the service that welcomed this node, and of the one whose configuration it has.
    private ulong _welcomedBy;
    private ulong _service;
    private long _known;
    private long _confirmed;
    private ImmutableArray<OpenView> _open = [];
    private ClientPhase _phase;
    // Called when the node has left.
    private Action? _left;

    /// <param name="environment">The node's.</param>
    /// <param name="options">The identity of the node, and the address of the service.</param>
    /// <param name="observer">Gets what the service sends.</param>
    /// <param name="configurations">Shared by all nodes of the cluster in this process.</param>
    /// <param name="logger">The node's.</param>
    public MembershipClient(
        INodeEnvironment environment,
        MembershipClientOptions options,
        IMembershipObserver observer,
        ConfigurationCache configurations,
        ILogger logger)
    {
        _options = options;
        _observer = observer;
        _configurations = configurations;
        Roster = configurations.Views.NoNodes;
        _held = new HeldRegions(options.Self);
        _names = new NodeNames(new NamedNode(options.Self, options.Name), Roster);
        _silence = new ServiceSilence(environment, observer);
        _discovery = new DiscoveryContext(environment, options.Discovery, options.Hosted.Cluster, Counters, logger);
        _link = new ServiceLink(environment, options, this, _discovery);
        environment.Pauses.Add(this);
        _reach = new ReachWatch(environment, options.EndPoint, new FirewallAdvice(options.Hosted.GroupPorts), logger);
    }

    public ClientCounters Counters { get; } = new();

    // The context has both: a process may run thousands of nodes.
    private INodeEnvironment Environment => _discovery.Environment;
    private ILogger Logger => _discovery.Logger;

    public NodeKey Self => _options.Self;
    public bool IsReachable => _link.IsWelcome;

    public NodeRoster Roster { get; private set; }

    public INodeNames Names => _names;

    /// <summary>The last configuration applied; 0 before the first.</summary>
    public long Configuration => _known;

    public TopicFollows Follows => _follows ??= new TopicFollows(
        message =>
        {
            if (IsReachable)
            {
                _link.Send(message);
            }
        },
        new AnswerLimit(Environment, _options.WelcomeTimeout) { Service = () => IsReachable ? ServiceEndPoint : null });

    /// <summary>Live nodes, this one included.</summary>
    public int NodeCount => Roster.Count;

    /// <summary>Why the service refused this node last, for a start that never succeeds to say so.</summary>
    public string? LastRefusal { get; private set; }

    /// <summary>
    /// Why the last attempt to join, or to join again, failed; null while a service has admitted this node. From any thread.
    /// </summary>
    public string? LastFailure => _link.LastFailure;

    /// <summary>The same, if it is that the keys of both sides do not fit; from any thread.</summary>
    public string? KeyFailure => _link.KeyFailure;

    /// <summary>Why this node seems to be cut off from datagrams, or is, while that lasts; from any thread.</summary>
    public Trouble? Isolation => _reach.Trouble;

    /// <summary>The service that this node has, or tries to reach; null while it looks for one. From any thread.</summary>
    public IPEndPoint? ServiceEndPoint => _link.RemoteEndPoint ?? _link.Servers.All.FirstOrDefault();

    /// <summary>The service that this node hosts, if it does.</summary>
    public MembershipService? HostedService => _link.Discovery?.Hosted;

    public IPEndPoint? HostedAt => _link.Discovery?.HostedAt;

    /// <summary>A problem of discovery while the node works; null: there is none. From any thread.</summary>
    public Trouble? Trouble => _link.Discovery is { } discovery ? discovery.Trouble : _link.Servers.Trouble;

    // Another one of several servers takes over. Until then, the others would wait for a member that leaves without notice.
    private bool MayBeTakenOver => _link.Servers.All.Length > 1 && _known > 0;

    int IServiceLinkOwner.Rank => Roster.RankOf(Self);

    public void Start() => _link.Start();

    public void Open(TopicRequest request, Action<TopicOutcome> completed)
    {
        if (_phase.IsOver)
        {
            completed(new TopicOutcome($"Topic '{request.Name}': this node is no longer a member of the cluster."));
            return;
        }

        _topics ??= new TopicTable();
        Send(_topics.Open(request, completed));
    }

    public void Close(ulong topicId)
    {
        Action? abandoned = null;
        if (_topics?.Close(topicId, out abandoned) is { } message)
        {
            Send(message);
        }

        abandoned?.Invoke();
    }

    public void WhenApplied(Action<long> callback)
    {
        if (_phase.IsOver)
        {
            callback(_known);
            return;
        }

        (_topics ??= new TopicTable()).WhenApplied(callback);
    }

    public void Confirm(long configuration, ImmutableArray<OpenView> open)
    {
        _confirmed = Math.Max(_confirmed, configuration);
        _open = open;
        Send(OpenViewsMessage.Confirm(configuration, open));
    }

    public void ReportSuspect(NodeKey node, string reason)
    {
        if (IsReachable)
        {
            _link.Send(new SuspectMessage(node, reason));
        }
    }

    public TimeSpan LeaveLimit => MayBeTakenOver ? _options.TakeoverTimeout : _options.LeaveTimeout;

    public void Leave(Action completed)
    {
        if (_phase.IsOver || (!IsReachable && !MayBeTakenOver))
        {
            _left = completed;
            FinishLeaving();
            return;
        }

        bool isFirst = !_phase.IsLeaving;
        _phase.BeginLeaving();
        _left += completed;
        if (isFirst || !MayBeTakenOver)
        {
            SendLeave();
            if (!IsReachable)
            {
                Logger.WaitsToLeave(LeaveLimit);
            }

            Environment.Schedule(_leaveAlarm ??= new Alarm(FinishLeaving), LeaveLimit);
        }
    }

    public void GiveUp(string reason)
    {
        if (_phase.IsOver)
        {
            return;
        }

        Logger.GaveUp(reason);
        Leave(static () => { });
        _phase.GiveUp();
        _observer.OnGaveUp(reason);
    }

    public void Dispose()
    {
        _phase.End();
        Environment.Pauses.Remove(this);
        Environment.CancelIfMade(_leaveAlarm);
        _silence.End();
        _follows?.Close();
        _link.Dispose();
    }

    void IServiceLinkOwner.OnLinkUp()
    {
        _assembler.Reset();
        _phase.BeginRegistration();
        var join = _options.ToJoin() with
        {
            Known = _known,
            Confirmed = _confirmed,
            Open = _open,
            Service = _service,
            JoinOrder = Roster.Find(Self)?.JoinOrder ?? 0,
            KnownNodes = Roster.Count,
            Process = Environment.Label,
            Ended = _held.Ended,
        };
        _link.SendJoin(join, _topics?.Register(_held) ?? []);
        _afterWelcome = null;
    }

    void IServiceLinkOwner.OnLinkDown(string reason)
    {
        bool wasWelcome = _phase.IsWelcome;
        _phase.Disconnect();
        _afterWelcome = null;
        if (_phase.IsLeaving && !MayBeTakenOver)
        {
            FinishLeaving();
            return;
        }

        if (wasWelcome)
        {
            _silence.End();
            _observer.OnServiceReachable(false);
            _silence.Begin(_link.LastHeard, _link.RemovalLimit);
        }
    }

    // Shorter pauses cost no heartbeat, so they do not count against this node.
    void IPauseObserver.OnPause(in Pause pause)
    {
        _link.OnPause(pause.Length);
        if (IsReachable && pause.Length >= _link.HeartbeatInterval / 2)
        {
            _link.Send(new PausedMessage(pause.Length, pause.Cause));
        }
    }

    void IServiceLinkOwner.OnHeartbeatDue()
    {
        _link.Send(KnownMessage.Heartbeat(_known));
        LookAtAddress();
    }

    void IServiceLinkOwner.OnAttempt() => LookAtAddress();

    private void LookAtAddress()
    {
        if (_reach.IsAddressLostForGood(_options.Hosted.Failures))
        {
            GiveUp($"no interface of this machine has its address {Environment.LocalAddress} any more");
        }
    }

    string? IServiceLinkOwner.OnMessage(int kind, ReadOnlySpan<byte> body) => ServiceMessages.Read(kind, body, _configurations, this);

    void IServiceMessages.OnWelcome(WelcomeMessage welcome)
    {
        _welcomedBy = welcome.Service;
        LastRefusal = null;
        _link.OnWelcome(welcome.HeartbeatInterval, welcome.HeartbeatsMissed);
        _link.Servers.OnWelcome(_link.RemoteEndPoint, welcome.LeadsAlone, Environment.UtcNow, Logger);
        if (_phase.IsLeaving)
        {
            // The same service, on another connection.
            SendLeave();
        }

        foreach (var send in _afterWelcome ?? [])
        {
            send();
        }

        _afterWelcome = null;
        _follows?.AskAgain();
        if (!_phase.IsWelcome)
        {
            _phase.EndRegistration();
            _silence.End();
            _observer.OnServiceReachable(true);
        }
    }

    // The service gives the same answer to each attempt. It is reported once.
    void IServiceMessages.OnRefused(string reason)
    {
        if (LastRefusal != reason)
        {
            LastRefusal = reason;
            Logger.Refused(reason);
        }

        _link.OnRefused(reason);
    }

    void IServiceMessages.OnGoodbye(IPEndPoint? successor) => _link.OnGoodbye(successor);

    void IServiceMessages.OnLeft() => FinishLeaving();

    void IServiceMessages.OnSettled(OpenViewsMessage settled) => _observer.OnSettled(settled.Configuration, settled.Open);

    void IServiceMessages.OnInquiry(InquiryMessage inquiry)
    {
        _link.OnTried();
        _reach.Answer(inquiry, _link, _observer);
    }

    string? IServiceMessages.OnFollowedTopics(FollowedTopicsMessage news) => _follows?.OnFollowedTopics(news);

    // A late answer goes to the service that this node has then, which does not wait for it.
    void IServiceMessages.OnSnapshotQuestion(SnapshotQuestionMessage question) => _observer.OnSnapshotWanted(question.Rows, signs =>
    {
        if (IsReachable)
        {
            _link.Send(new SnapshotMessage { Question = question.Question, Signs = signs });
        }
    });

    // A message that the registration of a new session did not contain is sent when the service admits the node. Without a session, the
    // next registration contains it.
    private void Send<T>(T message)
        where T : IControlMessage
    {
        if (IsReachable)
        {
            _link.Send(message);
        }
        else if (_phase.HasRegistered)
        {
            (_afterWelcome ??= []).Add(() => _link.Send(message));
        }
    }

    bool IServiceMessages.OnConfigurationPart(ConfigurationMessage part)
    {
        if (_phase.IsOver)
        {
            // The service has not read yet that this node has given up.
            return true;
        }

        if (!_assembler.TryAdd(part, out var whole))
        {
            return false;
        }

        if (whole is null || (whole.Number <= _known && !(whole.IsSnapshot && _phase.IsResyncing)))
        {
            return true;
        }

        if (!whole.IsSnapshot && whole.Previous != _known)
        {
            AskForSnapshot(whole);
            return true;
        }

        Apply(whole);
        return true;
    }

    private void AskForSnapshot(ConfigurationMessage delta)
    {
        if (!_phase.IsResyncing)
        {
            _phase.BeginResync();
            Counters.SnapshotsAsked++;
            Logger.ConfigurationGap(delta.Number, delta.Previous, _known);
            _link.Send(KnownMessage.Resync(_known));
        }
    }

    private void Apply(ConfigurationMessage message)
    {
        if (message.IsSnapshot)
        {
            _phase.EndResync();
        }

        var content = message.Content;
        Roster = Roster.After(message.IsSnapshot, content.Joined, content.Removed);
        _discovery.OnMembers(Roster.Count);
        _names.OnRoster(Roster, message.IsSnapshot, content.Removed);
        _known = message.Number;
        bool isTakenOver = _service != _welcomedBy;
        _service = _welcomedBy;
        Counters.ConfigurationsApplied++;
        _reach.Forget();
        var topics = _topics?.Accept(content.Topics, message.LastRequest) ?? [];
        _held.Apply(message.IsSnapshot, content);
        _topics?.NoteMembership(topics, content.Regions, Self);
        _observer.OnConfiguration(ConfigurationAssembler.ToChange(message, _service, topics));
        _topics?.OnApplied(message.Number, message.LastRequest);
        if (isTakenOver && _phase.IsLeaving)
        {
            SendLeave();
        }
    }

    // A server that has taken over and sent no configuration yet would let this node go before the others can learn of it.
    private void SendLeave()
    {
        if (IsReachable && (_service == _welcomedBy || !MayBeTakenOver))
        {
            _link.Send(SignalMessage.Leave);
        }
    }

    void IServiceMessages.OnTopicOutcome(TopicOutcomeMessage outcome)
    {
        TopicRequest? lost = null;
        var callback = _topics?.Answer(outcome, out lost);
        if (lost is not null)
        {
            Logger.TopicLost(lost.Name, outcome.Refusal);
            _observer.OnTopicRefused(lost.TopicId, outcome.Refusal, outcome.DeniedTo);
        }

        callback?.Invoke();
    }

    void IServiceMessages.OnExpelled(string reason)
    {
        if (_phase.IsLeaving)
        {
            // It had left already, and has not received the answer.
            FinishLeaving();
        }
        else if (!_phase.IsOver)
        {
            _phase.End();
            _silence.End();
            Logger.Expelled(reason);
            _link.Stop();
            _observer.OnExpelled(reason);
        }
    }

    // The answer came, or the time is over. In both cases the service will learn that the node has left.
    private void FinishLeaving()
    {
        _phase.End();
        _silence.End();
        Environment.CancelIfMade(_leaveAlarm);
        _link.Stop();
        _link.Discovery?.EndHosting();
        var left = _left;
        _left = null;
        left?.Invoke();
    }
}
