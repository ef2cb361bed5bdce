using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// A node's side of the membership service. It keeps what is open across services and connections, applies configurations
// strictly one after the other, and hands them on. Core thread only.
internal sealed class MembershipClient : IMembership, IServiceLinkOwner, IPauseObserver, IDisposable
{
    private readonly MembershipClientOptions _options;
    private readonly IMembershipObserver _observer;
    private readonly ConfigurationCache _configurations;
    private readonly DiscoveryContext _discovery;
    private readonly ServiceLink _link;
    private readonly ReachWatch _reach;
    // Null while the machine has the address of this node.
    private volatile AddressLoss? _addressLoss;
    // Null until the first topic is opened.
    private TopicTable? _topics;
    // Null until the first prefix is followed.
    private TopicFollows? _follows;
    private readonly ConfigurationAssembler _assembler = new();
    private readonly HeldRegions _held;
    private readonly NodeNames _names;
    private readonly ServiceSilence _silence;
    // Asked between a registration and the service's welcome; null while there is nothing.
    private List<Action>? _afterWelcome;
    private Alarm? _leaveAlarm;

    // The life of the service that welcomed this node, and of the one whose configuration it has.
    private ulong _welcomedBy;
    private ulong _service;
    private long _known;
    private long _confirmed;
    private ImmutableArray<OpenView> _open = [];
    private bool _isResyncing;
    private bool _isOver;
    private bool _toldReachable;
    private bool _hasJoined;
    private bool _hadOthers;
    private Action? _left;

    /// <param name="environment">The node's.</param>
    /// <param name="options">Who the node is, and where the service is.</param>
    /// <param name="observer">Told of what the service says.</param>
    /// <param name="configurations">The one of all nodes of the cluster that this process runs.</param>
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
        _reach = new ReachWatch(environment, options.EndPoint, new ReachAdvice(options.Hosted.GroupPorts), logger);
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

    /// <summary>Why no service has taken this node in yet, or again, as far as the last attempt tells; from any thread.</summary>
    public string? LastFailure => _link.LastFailure;

    /// <summary>The same, if it is that the keys of both sides do not fit; from any thread.</summary>
    public string? KeyFailure => _link.KeyFailure;

    /// <summary>Why this node seems to be cut off from datagrams, or is, while that lasts; from any thread.</summary>
    public Trouble? Isolation => _addressLoss?.Trouble ?? _reach.Isolation;

    /// <summary>The service that this node has, or tries to reach; null while it looks for one. From any thread.</summary>
    public IPEndPoint? ServiceEndPoint => _link.RemoteEndPoint ?? _link.Servers.All.FirstOrDefault();

    /// <summary>The service that this node hosts, if it does.</summary>
    public MembershipService? HostedService => _link.Discovery?.Hosted;

    public IPEndPoint? HostedAt => _link.Discovery?.HostedAt;

    /// <summary>What ails discovery though the node goes on; null when all is well. From any thread.</summary>
    public Trouble? Trouble => _link.Discovery is { } discovery ? discovery.Trouble : _link.Servers.Trouble;

    // Another one of several servers comes. Until then, the others would wait for a member that goes without a word.
    private bool MayBeTakenOver => _link.Servers.All.Length > 1 && _known > 0;

    int IServiceLinkOwner.Rank
    {
        get
        {
            if (Roster.Find(Self) is not { } self)
            {
                return 0;
            }

            int older = 0;
            foreach (var other in Roster.All)
            {
                older += (other.JoinOrder, other.Key).CompareTo((self.JoinOrder, self.Key)) < 0 ? 1 : 0;
            }

            return older;
        }
    }

    public void Start() => _link.Start();

    public void Open(TopicRequest request, Action<TopicOutcome> completed)
    {
        if (_isOver)
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
        if (_isOver)
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
        if (_isOver || (!IsReachable && !MayBeTakenOver))
        {
            _left = completed;
            FinishLeaving();
            return;
        }

        bool isFirst = _left is null;
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
        if (_isOver)
        {
            return;
        }

        Logger.GaveUp(reason);
        Leave(static () => { });
        _isOver = true;
        _observer.OnGaveUp(reason);
    }

    public void Dispose()
    {
        _isOver = true;
        Environment.Pauses.Remove(this);
        Environment.CancelIfMade(_leaveAlarm);
        _silence.End();
        _follows?.Close();
        _link.Dispose();
    }

    void IServiceLinkOwner.OnLinkUp()
    {
        _assembler.Reset();
        _isResyncing = false;
        var join = new JoinMessage
        {
            Cluster = _options.Hosted.Cluster,
            ProtocolVersion = ControlFrame.ProtocolVersion,
            Node = Self,
            EndPoint = _options.EndPoint,
            Known = _known,
            Confirmed = _confirmed,
            Open = _open,
            Service = _service,
            JoinOrder = Roster.Find(Self)?.JoinOrder ?? 0,
            KnownNodes = Roster.Count,
            TellsSigns = true,
            Proof = _options.Proof,
            Name = _options.Name,
            Process = Environment.Label,
            Ended = _held.Ended,
        };
        _link.SendJoin(join, _topics?.Register(_held) ?? []);
        _afterWelcome = null;
        _hasJoined = true;
    }

    void IServiceLinkOwner.OnLinkDown(string reason)
    {
        _hasJoined = false;
        _afterWelcome = null;
        if (_left is not null && !MayBeTakenOver)
        {
            FinishLeaving();
            return;
        }

        if (_toldReachable)
        {
            TellReachable(false);
            _silence.Begin(_link.LastHeard, _link.RemovalLimit);
        }
    }

    // Shorter pauses cost no heartbeat, so nobody holds them against this node.
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
        _addressLoss = AddressLoss.Look(_addressLoss, Environment, _options.Hosted.Failures, Logger);
        if (_addressLoss?.IsForGood(Environment.Now) == true)
        {
            GiveUp($"no interface of this machine has its address {Environment.LocalAddress} any more");
        }
    }

    string? IServiceLinkOwner.OnMessage(int kind, ReadOnlySpan<byte> body)
    {
        string? fault = null;
        switch (kind)
        {
            case ControlMessageKind.Welcome when ControlFrame.TryRead<WelcomeMessage>(body, out var welcome, out fault):
                OnWelcome(welcome);
                return null;
            case ControlMessageKind.Refused when ControlFrame.TryRead(body, kind, ReasonMessage.Read, out var refused, out fault):
                // Asked again and again it gives the same answer; it is told once.
                if (LastRefusal != refused.Reason)
                {
                    LastRefusal = refused.Reason;
                    Logger.Refused(refused.Reason);
                }

                _link.OnRefused(refused.Reason);
                return null;
            case ControlMessageKind.Configuration when ControlFrame.TryRead(
                body, _configurations, static (bytes, known) => known.Read(bytes), out var part, out fault):
                return OnConfigurationPart(part) ? null : $"part {part.Part} of configuration {part.Number} out of order";
            case ControlMessageKind.TopicOutcome when ControlFrame.TryRead<TopicOutcomeMessage>(body, out var outcome, out fault):
                OnTopicOutcome(outcome);
                return null;
            case ControlMessageKind.Settled when ControlFrame.TryRead(body, kind, OpenViewsMessage.Read, out var settled, out fault):
                _observer.OnSettled(settled.Configuration, settled.Open);
                return null;
            case ControlMessageKind.Expelled when ControlFrame.TryRead(body, kind, ReasonMessage.Read, out var expelled, out fault):
                OnExpelled(expelled.Reason);
                return null;
            case ControlMessageKind.HeartbeatReply:
                return null;
            case ControlMessageKind.Goodbye when ControlFrame.TryRead<GoodbyeMessage>(body, out var goodbye, out fault):
                _link.OnGoodbye(goodbye.Successor);
                return null;
            case ControlMessageKind.Inquiry when ControlFrame.TryRead<InquiryMessage>(body, out var inquiry, out fault):
                OnInquiry(inquiry);
                return null;
            case ControlMessageKind.SignsQuestion when ControlFrame.TryRead<SignsQuestionMessage>(body, out var question, out fault):
                OnSignsQuestion(question);
                return null;
            case ControlMessageKind.FollowedTopics when ControlFrame.TryRead<FollowedTopicsMessage>(body, out var news, out fault):
                return _follows?.OnTold(news);
            case ControlMessageKind.Left:
                FinishLeaving();
                return null;
            default:
                // A newer service's message is skipped; a known one that does not decode ends the stream.
                return fault is null ? null : $"invalid message of kind {kind}: {fault}";
        }
    }

    private void OnWelcome(WelcomeMessage welcome)
    {
        _welcomedBy = welcome.Service;
        LastRefusal = null;
        _link.OnWelcome(welcome.HeartbeatInterval, welcome.HeartbeatsMissed);
        _link.Servers.OnWelcome(_link.RemoteEndPoint, welcome.LeadsAlone, Environment.UtcNow, Logger);
        if (_left is not null)
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
        TellReachable(true);
    }

    // The service's own echo is the last of the targets, at the address that its stream goes to. On this node's own machine it would
    // tell nothing of the network.
    private void OnInquiry(InquiryMessage inquiry)
    {
        _link.OnTried();
        if (inquiry.ClusterKey is { } key)
        {
            _observer.OnClusterKey(key, isOfAnother: !IsReachable);
        }

        var targets = inquiry.Targets;
        int members = targets.Length;
        var service = _link.RemoteEndPoint;
        bool isBeside = service?.Address.Equals(_options.EndPoint.Address) == true;
        if (inquiry.ServicePort != 0 && service is not null && !isBeside)
        {
            targets = targets.Add(new IPEndPoint(service.Address, inquiry.ServicePort));
        }

        _observer.OnInquiry(targets, TimeSpan.FromMilliseconds(inquiry.WaitMilliseconds), answered =>
        {
            ulong ofMembers = (1UL << members) - 1;
            var ofThem = new EchoesAnswered(answered.Any & ofMembers, answered.First & ofMembers);
            _reach.OnFound(answered.Any != 0, targets.Length, service);
            _link.Send(new FindingsMessage(inquiry.Id, new Findings(ofThem, (answered.Any >> members) != 0, isBeside)));
        });
    }

    // An answer that is late goes to whatever service this node has then, which does not wait for it.
    private void OnSignsQuestion(SignsQuestionMessage question) => _observer.OnSignsWanted(question.Rows, signs =>
    {
        if (IsReachable)
        {
            _link.Send(new SignsMessage { Question = question.Question, Signs = signs });
        }
    });

    // What the registration of a new session does not say: it is said when the session is taken in. Without a session, the
    // next registration says it.
    private void Send<T>(T message)
        where T : IControlMessage
    {
        if (IsReachable)
        {
            _link.Send(message);
        }
        else if (_hasJoined)
        {
            (_afterWelcome ??= []).Add(() => _link.Send(message));
        }
    }

    private void TellReachable(bool isReachable)
    {
        if (_toldReachable != isReachable)
        {
            _toldReachable = isReachable;
            _silence.End();
            _observer.OnServiceReachable(isReachable);
        }
    }

    private bool OnConfigurationPart(ConfigurationMessage part)
    {
        if (_isOver)
        {
            // The service has not read yet that this node has given up.
            return true;
        }

        if (!_assembler.TryAdd(part, out var whole))
        {
            return false;
        }

        if (whole is null || (whole.Number <= _known && !(whole.IsSnapshot && _isResyncing)))
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
        if (!_isResyncing)
        {
            _isResyncing = true;
            Counters.SnapshotsAsked++;
            Logger.ConfigurationGap(delta.Number, delta.Previous, _known);
            _link.Send(KnownMessage.Resync(_known));
        }
    }

    private void Apply(ConfigurationMessage message)
    {
        if (message.IsSnapshot)
        {
            _isResyncing = false;
        }

        var content = message.Content;
        Roster = Roster.After(message.IsSnapshot, content.Joined, content.Removed);
        _hadOthers |= Roster.Count > 1;
        _discovery.IsLeftAlone = _hadOthers && Roster.Count == 1;
        _names.OnRoster(Roster, message.IsSnapshot, content.Removed);
        _known = message.Number;
        bool isTakenOver = _service != _welcomedBy;
        _service = _welcomedBy;
        Counters.ConfigurationsApplied++;
        _reach.Forget();
        var topics = Accept(content.Topics, message.LastRequest);
        _held.Apply(message.IsSnapshot, content);
        _topics?.NoteMembership(topics, content.Regions, Self);
        _observer.OnConfiguration(ConfigurationAssembler.ToChange(message, _service, topics));
        _topics?.OnApplied(message.Number, message.LastRequest);
        if (isTakenOver && _left is not null)
        {
            SendLeave();
        }
    }

    // A server that has taken over and told nothing yet would let this node go before the others can know of it.
    private void SendLeave()
    {
        if (IsReachable && (_service == _welcomedBy || !MayBeTakenOver))
        {
            _link.Send(SignalMessage.Leave);
        }
    }

    // Nearly always what was told is accepted as it is.
    private ImmutableArray<TopicView> Accept(ImmutableArray<TopicView> told, ulong lastRequest)
    {
        ImmutableArray<TopicView>.Builder? other = null;
        for (int i = 0; i < told.Length; i++)
        {
            var accepted = _topics?.Accept(told[i], lastRequest);
            if (other is null && accepted != told[i])
            {
                other = ImmutableArray.CreateBuilder<TopicView>();
                other.AddRange(told, i);
            }

            if (accepted is not null)
            {
                other?.Add(accepted);
            }
        }

        return other?.DrainToImmutable() ?? told;
    }

    private void OnTopicOutcome(TopicOutcomeMessage outcome)
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

    private void OnExpelled(string reason)
    {
        if (_left is not null)
        {
            // It had left already, and did not hear the answer.
            FinishLeaving();
        }
        else if (!_isOver)
        {
            _isOver = true;
            _silence.End();
            Logger.Expelled(reason);
            _link.Stop();
            _observer.OnExpelled(reason);
        }
    }

    // The answer came, or the time is over: either way the service will know.
    private void FinishLeaving()
    {
        _isOver = true;
        _silence.End();
        Environment.CancelIfMade(_leaveAlarm);
        _link.Stop();
        _link.Discovery?.EndHosting();
        var left = _left;
        _left = null;
        left?.Invoke();
    }
}
