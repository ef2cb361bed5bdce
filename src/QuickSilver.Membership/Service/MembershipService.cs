using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Reachability;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service.Admissions;
using QuickSilver.Membership.Service.Arbitration;
using QuickSilver.Membership.Service.Configurations;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Membership.Service.Topics;
using QuickSilver.Membership.Service.Watching;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service;

// The membership service. It knows the members and the topics that they have open, answers the requests of sessions, and removes members
// that fail. ConfigurationIssuer sends every change to the members. A state machine on its node's core thread: all that it does follows
// from requests and alarms.
internal sealed class MembershipService : IControlAcceptor, IControlRequests, Joining.IOwner, IMemberRoll, IDisposable
{
    // A member that has spoken within so many heartbeats is heard.
    private const int HeartbeatsFresh = 3;

    private readonly INodeEnvironment _environment;
    private readonly MembershipServiceOptions _options;
    private readonly IMembershipStore _store;
    private readonly SessionContext _sessionContext;
    private readonly ConfigurationIssuer _issuer;
    private readonly RegionMap _map;
    private readonly MemberTopics _topics;
    private readonly ConfigurationNumbers _numbers;
    private readonly Settlement _settlement;
    private readonly FailureDetector _failures;
    private readonly Admission _admission;
    private readonly Joining _joining;
    private readonly Audience _audience;
    private readonly Inquiries _inquiries;
    private readonly FaultArbitrations _arbitrations;
    private readonly MemberPauses _pauses;
    private readonly Observers _observers;
    private readonly Alarm _failureAlarm;

    private readonly MemberTable _members;
    private readonly SessionTable _sessions;
    private readonly Refusals _refusals;
    private IControlListener? _listener;
    // The address to which sessions were referred when the service ended.
    private IPEndPoint? _successor;
    private bool _isRetired;

    public MembershipService(
        INodeEnvironment environment,
        MembershipServiceOptions options,
        IMembershipStore store,
        ServiceCounters counters,
        ILogger logger)
    {
        logger = GuardedLogger.Of(logger);
        _environment = environment;
        _options = options;
        _store = store;
        _sessionContext = new SessionContext(environment, options.Limits, counters, logger)
        {
            Audit = options.Audit is { } audit ? GuardedLogger.Of(audit) : logger,
        };
        _sessions = new SessionTable(options.Limits);
        _refusals = new Refusals(counters, Audit);
        _failures = new FailureDetector(options.Failures);
        _members = new MemberTable(_failures);
        ulong life = environment.NextRandom() | 1;
        _issuer = new ConfigurationIssuer(_sessionContext, options, store, _members, life);
        _map = _issuer.Map;
        _numbers = _issuer.Numbers;
        _settlement = _issuer.Settlement;
        _topics = new MemberTopics(_map, _sessionContext, _members, options.Access);
        _admission = new Admission(options.Cluster, _numbers, _issuer.Ended, _members, life, () => _listener?.LocalEndPoint.Address);
        _audience = new Audience(_members, options.Failures.HeartbeatInterval * HeartbeatsFresh);
        _inquiries = new Inquiries(environment, options.Cluster, counters, _issuer.Keys);
        _observers = new Observers(
            _sessionContext,
            options.Cluster,
            _members,
            () => Standing,
            () => _inquiries.Echo.Open(_inquiries.ServicePort),
            () => _topics.ContractCount);
        var removed = new RemovedAddresses();
        var advice = new FirewallAdvice(options.GroupPorts);
        _arbitrations = new FaultArbitrations(_sessionContext, _inquiries, this, removed, advice, options.Failures.HeartbeatInterval);
        _joining = new Joining(_sessionContext, _issuer, _topics, _members, _admission, this)
        {
            Entrance = new Entrance(_sessionContext, _inquiries, this, removed, advice),
        };
        _pauses = new MemberPauses(_sessionContext, options.Failures, _failures, _arbitrations, _members, _sessions);
        _failureAlarm = new Alarm(CheckFailures);
    }

    public int MemberCount => _members.Count;

    /// <summary>Members that it hears now.</summary>
    public int HeardCount => _audience.Count(_environment.Now);

    public int RegionCount => _map.RegionCount;

    public int ContractCount => _topics.ContractCount;

    public int SessionCount => _sessions.Count;

    public long Configuration => _numbers.Current;

    public long Settled => _settlement.Settled;

    /// <summary>How it stands among the services that nodes host.</summary>
    public HostStanding Standing => new(_options.HostId, HeardCount, Configuration);

    IReadOnlyList<Member> IMemberRoll.Members => _members.All;

    private ILogger Log => _sessionContext.Logger;

    private ILogger Audit => _sessionContext.Audit;

    private ServiceCounters Counters => _sessionContext.Counters;

    /// <summary>Listens on <paramref name="local"/> and says where. Throws <see cref="TransportException"/> when it cannot.</summary>
    /// <param name="local">Where to listen.</param>
    /// <param name="known">The last configuration of the node that hosts it; 0 when there is none.</param>
    public IPEndPoint Start(IPEndPoint local, long known = 0)
    {
        _listener = _environment.Listen(local, this);
        _inquiries.ServicePort = _listener.LocalEndPoint.Port;
        _issuer.Start(known);
        CheckFailures();
        _environment.Pauses.Add(_pauses);
        StartWarnings.Log(_options, _environment.Descriptors, Log);
        Log.ServiceListens(_options.Cluster, _listener.LocalEndPoint);
        return _listener.LocalEndPoint;
    }

    /// <summary>Ends the service. All sessions are notified, with the address of the successor if that is known.</summary>
    public void Retire(IPEndPoint? successor)
    {
        if (_isRetired)
        {
            return;
        }

        _issuer.IssueWhatIsDue();
        Log.ServiceEnds();
        StopWorking();
        _successor = successor;
        foreach (var session in _sessions.ToArray())
        {
            session.SayLast(new GoodbyeMessage(successor));
        }
    }

    public void Dispose()
    {
        _sessions.Close();
        StopWorking();
        foreach (var session in _sessions.ToArray())
        {
            session.Close(null);
        }
    }

    IControlStreamHandler? IControlAcceptor.OnAccept(IControlStream stream)
    {
        if (!_sessions.HasRoomFor(stream))
        {
            _refusals.OnNoSession(stream, _isRetired);
            return null;
        }

        Counters.SessionsAccepted++;
        var session = new ControlSession(_sessionContext, stream, this);
        _sessions.Add(session);
        if (_isRetired)
        {
            // Its handshake was under way when the service ended.
            session.SayLast(new GoodbyeMessage(_successor));
        }

        return session;
    }

    void IControlAcceptor.OnFewDescriptors(IPEndPoint newcomer) => _sessions.GiveWayTo(newcomer.Address, _sessionContext);

    void IControlAcceptor.OnRefused(IPEndPoint remote, string reason, StreamRefusal kind) => _refusals.OnRefused(remote, reason, kind);

    void IControlRequests.OnSessionClosed(ControlSession session)
    {
        _sessions.Remove(session);
        _observers.Remove(session);
        if (session.Member is { } member && member.Session == session)
        {
            _members.Disconnect(member, _environment.Now);
        }
    }

    void IControlRequests.OnMuchKept() => _sessions.MakeRoom(_sessionContext.Kept, _members);

    void IControlRequests.OnJoin(ControlSession session, JoinMessage join) => _joining.Begin(session, join);

    void IControlRequests.OnJoinComplete(ControlSession session, JoinMessage join, List<SetTopicMessage> topics) =>
        _joining.Complete(session, join, topics);

    void IControlRequests.OnSetTopic(Member member, SetTopicMessage request)
    {
        Hear(member);
        if (_topics.Set(member, request, isRegistration: false))
        {
            _issuer.MarkChanged();
        }
    }

    void IControlRequests.OnCloseTopic(Member member, CloseTopicMessage request)
    {
        Hear(member);
        member.LastRequest = Math.Max(member.LastRequest, request.RequestId);
        _topics.Close(member, request.TopicId);
        _issuer.MarkChanged();
    }

    void IControlRequests.OnConfirm(Member member, OpenViewsMessage request)
    {
        Hear(member);
        Confirm(member, request);
    }

    void IControlRequests.OnHeartbeat(Member member, long known)
    {
        Hear(member);
        member.Backlog.Trim(known);
        member.Session?.Send(KnownMessage.HeartbeatReply(_numbers.Current));
    }

    void IControlRequests.OnSuspect(Member member, NodeKey node, string reason)
    {
        Hear(member);
        Counters.Suspicions++;
        var tie = _map.TieOf(member.Key, node, _settlement.HasOpenViews(_numbers.Current));
        if (tie == RegionTie.None)
        {
            // Without a shared view, any node could have any other one removed. A report about an old view, or about one that is not made
            // here yet, is not needed: the suspect's silence counts without it, and the nodes that share a view with the suspect now report
            // it too.
            Counters.SuspicionsIgnored++;
            return;
        }

        // If a node is alone in its regions, only those that send to it can miss it.
        if (tie == RegionTie.Neighbour || _map.RegionSizeOf(node) == 1)
        {
            _failures.Suspect(node, member.Key, _environment.Now);
        }

        if (node != member.Key && Find(node) is { IsNew: false } suspect && _arbitrations.OnSuspect(member, suspect, tie))
        {
            Log.NodeSuspected(suspect.Named, member.Named, reason);
        }
    }

    void IControlRequests.OnFindings(ControlSession session, FindingsMessage findings)
    {
        if (session.Member is { } member && member.Session == session)
        {
            Hear(member);
        }

        _inquiries.OnFindings(session, findings);
    }

    void IControlRequests.OnWatch(ControlSession session, WatchMessage watch)
    {
        bool watches = watch.Rows != WatchMessage.OfServiceAlone;
        if (!TryAdmitObserver(session, watch.Cluster, watch.ProtocolVersion, watches))
        {
            return;
        }

        if (!watches)
        {
            _observers.AnswerForService(session);
        }
        else if (!_observers.TryWatch(session, watch.Rows))
        {
            session.Close("the observer asked again before it was answered");
        }
        else if (watch.SendsEchoes)
        {
            _inquiries.SendKey(session);
        }
    }

    void IControlRequests.OnListTopics(ControlSession session, ListTopicsMessage request)
    {
        if (TryAdmitObserver(session, request.Cluster, request.ProtocolVersion, watches: false))
        {
            _topics.List(session, request);
        }
    }

    void IControlRequests.OnSigns(Member member, ulong question, byte[] signs)
    {
        Hear(member);
        _observers.OnSigns(member, question, signs);
    }

    void IControlRequests.OnPaused(Member member, PausedMessage pause)
    {
        _pauses.OnPaused(member, pause);
        Hear(member);
    }

    void IControlRequests.OnFollowTopics(Member member, FollowTopicsMessage request)
    {
        Hear(member);
        _topics.Followers.OnFollow(member, request);
    }

    void IControlRequests.OnLeave(Member member)
    {
        Counters.NodesLeft++;
        Log.NodeLeft(member.Named);
        if (member.Session is { } session)
        {
            _issuer.OnLeaving(session, member.IsNew);
        }

        Forget(member, "it left", hasLeft: true);
    }

    void IControlRequests.OnResync(Member member)
    {
        Hear(member);
        if (!member.IsNew)
        {
            _issuer.SendSnapshot(member);
        }
    }

    void IMemberRoll.RemoveUnreachable(Member member, string reason)
    {
        if (_store.IsHeld)
        {
            Remove(member, reason, isOver: true);
        }
    }

    void Joining.IOwner.Remove(Member member, string reason, bool isOver) => Remove(member, reason, isOver);

    void Joining.IOwner.OnConfirm(Member member, OpenViewsMessage confirmed) => Confirm(member, confirmed);

    public Member? Find(NodeKey node) => _members.Find(node);

    private bool TryAdmitObserver(ControlSession session, string cluster, int version, bool watches)
    {
        bool isFirst = !session.IsObserver;
        bool isAdmitted = _observers.TryAdmit(session, cluster, version, watches);
        if (isAdmitted && isFirst && session.Peer is { } peer)
        {
            Audit.ObserverAdmitted(session.RemoteEndPoint, peer.Name);
        }

        return isAdmitted;
    }

    private void Confirm(Member member, OpenViewsMessage confirmed)
    {
        if (confirmed.Configuration >= member.Confirmed && confirmed.Configuration <= _numbers.Current)
        {
            member.Confirmed = confirmed.Configuration;
            member.OpenViews = confirmed.Open;
            member.Backlog.Trim(confirmed.Configuration);
            _settlement.Consider();
        }
    }

    private void Hear(Member member) => _members.Hear(member, _environment.Now);

    private void CheckFailures()
    {
        _environment.Schedule(_failureAlarm, _failures.CheckInterval);
        if (!_store.IsHeld)
        {
            return;
        }

        var now = _environment.Now;
        var dead = new List<(NodeKey Node, string Reason)>();
        bool isCutOff = _audience.IsCutOff(now);
        _failures.Collect(now, _map.RegionSizeOf, dead);
        foreach (var (node, reason) in dead)
        {
            var member = _members.Find(node)!;
            bool isSilent = member.Session is null || now - member.LastHeard >= _options.Failures.Silence;
            bool mayReturn = isSilent && (isCutOff || _options.TakesBackTheSilent);
            Remove(member, reason, isOver: !mayReturn);
            if (mayReturn)
            {
                _issuer.OnLost(node);
            }
        }
    }

    private void Remove(Member member, string reason, bool isOver)
    {
        Counters.NodesRemoved++;
        Log.NodeRemoved(member.Named, reason);
        if (member.Identity is { } identity)
        {
            Audit.NodeRemovedOf(member.Named, identity, reason);
        }

        if (isOver)
        {
            member.Session?.Send(ReasonMessage.Expelled(reason));
        }

        member.Session?.CloseAfterLastWord();
        Forget(member, isOver ? reason : null);
    }

    // With the reason, if its life is over.
    private void Forget(Member member, string? over, bool hasLeft = false)
    {
        member.Session = null;
        member.Backlog.Clear();
        _members.Remove(member);
        _arbitrations.OnRemoved(member.Key, hasLeft);
        _topics.Release(member);
        _map.RemoveNode(member.Key);
        if (over is not null)
        {
            _admission.OnEnded(member, over, hasLeft);
        }

        if (!member.IsNew)
        {
            _issuer.OnRemoved(member);
        }

        _issuer.MarkChanged();
    }

    private void StopWorking()
    {
        _isRetired = true;
        _listener?.Dispose();
        _listener = null;
        _issuer.Stop();
        _environment.Cancel(_failureAlarm);
        _environment.Pauses.Remove(_pauses);
        _arbitrations.Dispose();
        _inquiries.Dispose();
        _observers.Dispose();
        _topics.Followers.Dispose();
    }
}
