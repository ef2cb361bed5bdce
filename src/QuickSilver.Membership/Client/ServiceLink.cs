using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Client.Servers;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;

namespace QuickSilver.Membership.Client;

// What the link's owner does with it.
internal interface IServiceLinkOwner
{
    /// <summary>The number of nodes that joined earlier. It decides which node hosts first.</summary>
    int Rank { get; }

    /// <summary>The last configuration that the node has; 0 before the first.</summary>
    long Configuration { get; }

    /// <summary>A stream to a service is open: the owner sends its registration.</summary>
    void OnLinkUp();

    /// <summary>A message. Answers null, or what is wrong with it, for which the stream is closed.</summary>
    string? OnMessage(int kind, ReadOnlySpan<byte> body);

    void OnLinkDown(string reason);

    /// <summary>A heartbeat is due.</summary>
    void OnHeartbeatDue();

    /// <summary>A service is looked for, or connected to, again. The link may be stopped then.</summary>
    void OnAttempt();
}

// The connection to the membership service. It finds the service, connects, and checks that the service speaks. When the connection is
// lost, it starts again after a pause. The pause grows and is random, so that a service that starts is not met by all nodes in the same
// instant.
internal sealed class ServiceLink : IControlStreamHandler, ServiceDiscovery.IOwner, IDisposable
{
    // How often it is logged that no service is reached. The first time is logged at once, for users who start a node before its service. A
    // service that stays away does not fill the log.
    private static readonly TimeSpan FailureInterval = TimeSpan.FromMinutes(1);

    private readonly INodeEnvironment _environment;
    private readonly MembershipClientOptions _options;
    private readonly IServiceLinkOwner _owner;
    private readonly DiscoveryContext _context;
    private readonly ServiceDiscovery? _discovery;
    private readonly ControlBuffer _buffer = new();
    // Made when a service is first lost.
    private Alarm? _retryAlarm;
    private readonly Alarm _watchAlarm;
    // Null while there has been no other server to ask.
    private LeaderSearch? _search;

    private IControlStream? _stream;
    private IPEndPoint? _successor;
    // Whether the server that is tried, or that has taken the node in, was named by another one.
    private bool _isNamedByOther;
    // How many servers were tried since the last pause.
    private int _tried;
    private TimeSpan _retryDelay;
    private TimeSpan _lastHeard;
    private TimeSpan _watchDue;
    private TimeSpan _failureSaid = TimeSpan.MinValue / 2;
    private LogLevel _levelSaid;
    // From the welcome of the service.
    private TimeSpan _heartbeatInterval;
    private TimeSpan _serviceSilence;
    private bool _isConnected;
    // Consecutive ones.
    private int _keyFailures;
    private bool _isStopped;

    public ServiceLink(INodeEnvironment environment, MembershipClientOptions options, IServiceLinkOwner owner, DiscoveryContext context)
    {
        _environment = environment;
        _options = options;
        Servers = new NamedServers(options.Services, options.Resolution);
        _owner = owner;
        _context = context;
        _retryDelay = options.FirstRetry;
        _watchAlarm = new Alarm(Watch);
        _heartbeatInterval = options.Hosted.Failures.HeartbeatInterval;
        _discovery = Servers.All.IsEmpty ? new ServiceDiscovery(context, options.Hosted, this) : null;
    }

    public bool IsWelcome { get; private set; }

    /// <summary>The interval between heartbeats that the service requires, from its welcome.</summary>
    public TimeSpan HeartbeatInterval => _heartbeatInterval;

    /// <summary>The service that admitted this node removes it after this time of silence.</summary>
    public TimeSpan RemovalLimit { get; private set; }

    /// <summary>When the service was last heard.</summary>
    public TimeSpan LastHeard => _lastHeard;

    /// <summary>The servers that were named; their addresses are read from any thread.</summary>
    public NamedServers Servers { get; }

    public ServiceDiscovery? Discovery => _discovery;

    /// <summary>The address of the service to which this node has a stream, or opens one.</summary>
    public IPEndPoint? RemoteEndPoint => _stream?.RemoteEndPoint;

    /// <summary>Why the last attempt failed, while no service has admitted the node. From any thread.</summary>
    public string? LastFailure { get; private set; }

    /// <summary>The last failure, if servers were named, and at none of them the keys of both sides fit.</summary>
    public string? KeyFailure { get; private set; }

    public void Start() => Locate();

    public void Send<T>(in T message)
        where T : IControlMessage
    {
        _buffer.Clear();
        ControlFrame.Append(_buffer, message);
        _stream?.Send(_buffer.Written);
    }

    /// <summary>Sends the registration: the identity of this node and all that it has open, at once.</summary>
    public void SendJoin(JoinMessage join, List<SetTopicMessage> topics)
    {
        _buffer.Clear();
        ControlFrame.Append(_buffer, join);
        topics.ForEach(topic => ControlFrame.Append(_buffer, topic));
        ControlFrame.Append(_buffer, SignalMessage.JoinComplete);
        _stream?.Send(_buffer.Written);
        _buffer.Rest();
    }

    /// <summary>The service admitted the node. Heartbeats begin, at the interval that it requires.</summary>
    public void OnWelcome(TimeSpan heartbeatInterval, int heartbeatsMissed)
    {
        IsWelcome = true;
        LastFailure = KeyFailure = null;
        _failureSaid = TimeSpan.MinValue / 2;
        _heartbeatInterval = heartbeatInterval;
        RemovalLimit = heartbeatInterval * heartbeatsMissed;
        // A service that is silent for half of its removal limit is given up, and the search starts again. So there is time left to be
        // heard by it, or by another.
        _serviceSilence = heartbeatInterval * Math.Max(2, heartbeatsMissed / 2);
        _retryDelay = _options.FirstRetry;
        _tried = 0;
        _discovery?.OnWelcome();
        if (RemoteEndPoint is { } server)
        {
            Servers.OnWelcome(server);
        }

        _context.Logger.ServiceFound(RemoteEndPoint);
        _context.Counters.ServiceConnections++;
        ScheduleWatch(_heartbeatInterval);
    }

    /// <summary>The service tests whether datagrams pass before it admits the node, so its answer may take as long again.</summary>
    public void OnTried()
    {
        if (!IsWelcome)
        {
            ScheduleWatch(_options.WelcomeTimeout);
        }
    }

    /// <summary>The service does not admit this node, for this reason.</summary>
    public void OnRefused(string reason)
    {
        LastFailure = $"it refused this node: {reason.TrimEnd('.')}";
        GoTo(successor: null, isOrderly: false);
    }

    /// <summary>The server does not lead, or ends. It names the one that leads, if it knows it.</summary>
    public void OnGoodbye(IPEndPoint? successor)
    {
        if (successor is null && !IsWelcome)
        {
            Drop(_discovery is null ? "the server does not lead, or ends, and names no other server that leads" : "the service there ends");
        }
        else
        {
            GoTo(successor, isOrderly: true);
        }
    }

    /// <summary>
    /// This node stood still for this time. Messages that the service sent meanwhile are not read yet, so it does not count as silent.
    /// </summary>
    public void OnPause(TimeSpan length)
    {
        var now = _environment.Now;
        _lastHeard = Pause.LeaveOut(length, _lastHeard, now);
        _search?.OnPause();
        _discovery?.OnPause(length);
        if (!IsWelcome && _watchAlarm.IsPending)
        {
            // A deadline of the service's.
            ScheduleWatch(_watchDue - now + length);
        }
    }

    /// <summary>Closes permanently.</summary>
    public void Stop()
    {
        _isStopped = true;
        IsWelcome = false;
        _environment.CancelIfMade(_retryAlarm);
        _environment.Cancel(_watchAlarm);
        _search?.Stop();
        _discovery?.StopFinding();
        _stream?.Close();
        _stream = null;
    }

    public void Dispose()
    {
        Stop();
        _discovery?.Dispose();
    }

    void IControlStreamHandler.OnConnected(IControlStream stream)
    {
        if (stream == _stream)
        {
            _isConnected = true;
            _lastHeard = _environment.Now;
            OnHeard();
            _discovery?.OnConnected();
            ScheduleWatch(_options.WelcomeTimeout);
            _owner.OnLinkUp();
        }
    }

    private string? OnWaiting(ReadOnlySpan<byte> body)
    {
        if (!ControlFrame.TryRead(body, ControlMessageKind.Waiting, ReasonMessage.Read, out var waiting, out string? fault))
        {
            return $"invalid message of kind {ControlMessageKind.Waiting}: {fault}";
        }

        Servers.OnWaiting(waiting.Reason, _environment.UtcNow, _context.Logger);
        return null;
    }

    int IControlStreamHandler.OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
    {
        int consumed = 0;
        while (stream == _stream)
        {
            _lastHeard = _environment.Now;
            OnHeard();
            if (!IsWelcome && ControlFrame.IsTlsAlert(bytes))
            {
                Drop("the service requires security: it uses TLS, and this node has no key. "
                + "Set Security:SecretFile to the secret of the cluster", isOfKeys: true);
                break;
            }

            var rest = bytes[consumed..];
            var outcome = ControlFrame.TryCut(rest, ControlFrame.MaxFromServiceBytes, out int kind, out var body, out int length);
            if (outcome == FrameOutcome.Incomplete)
            {
                return consumed;
            }

            string? fault = outcome == FrameOutcome.Garbage ? "invalid frame"
                : kind == ControlMessageKind.Waiting ? OnWaiting(body) : _owner.OnMessage(kind, body);
            if (fault is not null)
            {
                Drop(fault);
                break;
            }

            consumed += length;
        }

        return bytes.Length;
    }

    void IControlStreamHandler.OnClosed(IControlStream stream, string reason)
    {
        if (stream == _stream)
        {
            Drop(reason);
        }
    }

    private void Locate()
    {
        _owner.OnAttempt();
        if (_isStopped)
        {
            return;
        }

        _isNamedByOther = _successor is not null;
        if (_successor is { } successor)
        {
            _successor = null;
            Connect(successor);
        }
        else if (_discovery is not null)
        {
            _discovery.Find(_owner.Rank, _owner.Configuration);
        }
        else
        {
            Connect(Servers.TakeNext());
        }
    }

    void ServiceDiscovery.IOwner.OnFound(IPEndPoint service)
    {
        if (_stream is { } silent)
        {
            _stream = null;
            silent.Close();
            OnFailed(silent.RemoteEndPoint, "no connection was made, and another service is there", isOfKeys: false);
        }

        Connect(service);
    }

    void ServiceDiscovery.IOwner.OnAsk() => _owner.OnAttempt();

    private void Connect(IPEndPoint service)
    {
        if (_isStopped)
        {
            return;
        }

        _isConnected = false;
        ScheduleWatch(_options.ConnectTimeout);
        _stream = _environment.Connect(service, this);
        _search ??= Servers.All.Length > 1 ? new LeaderSearch(_environment, Servers, MoveTo) : null;
        _search?.Watch(service, _environment.Now, _heartbeatInterval);
    }

    private void MoveTo(IPEndPoint leader)
    {
        _successor = leader;
        Drop("it is silent, and another server leads", isReported: true);
    }

    private void OnHeard()
    {
        if (_stream?.RemoteEndPoint is { } server)
        {
            _search?.Watch(server, _lastHeard, _heartbeatInterval);
        }
    }

    private void Drop(string reason, bool isReported = false, bool isOfKeys = false, bool isOrderly = false)
    {
        _environment.Cancel(_watchAlarm);
        _search?.Stop();
        var service = _stream?.RemoteEndPoint;
        isOfKeys |= _stream is { KeyFault: not KeyFault.None };
        _stream?.Close();
        _stream = null;
        bool wasWelcome = IsWelcome;
        IsWelcome = false;
        if (wasWelcome)
        {
            _context.Counters.ServiceLosses++;
            _discovery?.OnLost(_lastHeard);
            if (isOrderly)
            {
                // If no other service comes, the silence is reported when the removal limit is over.
                _context.Logger.ServiceEnded(service);
            }
            else
            {
                _context.Logger.ServiceLost(reason);
            }
        }
        else if (!_isStopped && !isReported)
        {
            OnFailed(service, reason, isOfKeys);
            _keyFailures = isOfKeys ? _keyFailures + 1 : 0;
            // Answers to discovery are not trusted. So keys that do not fit are reported as a problem of this node only where the servers
            // were named.
            KeyFailure = _discovery is null && _keyFailures >= Servers.All.Length ? reason : null;
            if (service is not null)
            {
                _discovery?.OnFailed(service, reason);
            }
        }

        if (!_isStopped)
        {
            // All servers are tried before the pause grows: a service that takes over waits for its nodes no longer than GatherGrace. Those
            // that stand by name the leader that is lost until its lease is over, which is no other server tried.
            bool isRound = (wasWelcome || !_isNamedByOther) && ++_tried >= Servers.All.Length;
            var pause = isRound ? _retryDelay : _options.FirstRetry;
            // Half of the pause is chance, so that many nodes spread out.
            _environment.Schedule(_retryAlarm ??= new Alarm(Locate), pause / 2 + _context.Jitter(pause / 2));
            if (isRound)
            {
                _tried = 0;
                _retryDelay = _retryDelay * 2 < _options.LastRetry ? _retryDelay * 2 : _options.LastRetry;
                if (!wasWelcome)
                {
                    Servers.OnAllFailed(_environment.Now);
                }
            }
        }

        _owner.OnLinkDown(reason);
    }

    // A service that refuses or ends has given the reason itself.
    private void GoTo(IPEndPoint? successor, bool isOrderly)
    {
        _successor = successor;
        Drop("the service closed the session", isReported: true, isOrderly: isOrderly);
    }

    // A service that is not there yet may come. Keys that do not fit need a correction by a person.
    private void OnFailed(IPEndPoint? service, string reason, bool isOfKeys)
    {
        LastFailure = reason;
        var level = isOfKeys ? LogLevel.Warning : LogLevel.Information;
        var now = _environment.Now;
        if (now - _failureSaid >= FailureInterval || level > _levelSaid)
        {
            (_failureSaid, _levelSaid) = (now, level);
            _context.Logger.ServiceDoesNotComeThrough(level, service, reason);
        }
    }

    private void ScheduleWatch(TimeSpan delay)
    {
        _watchDue = _environment.Now + delay;
        _environment.Schedule(_watchAlarm, delay);
    }

    // While connecting and joining: a deadline. As a member: the heartbeat, and the eye on the service's silence.
    private void Watch()
    {
        if (!IsWelcome)
        {
            Drop(_isConnected ? "timed out waiting to be admitted" : "connection attempt timed out");
            return;
        }

        var now = _environment.Now;
        if (now - _watchDue > _heartbeatInterval)
        {
            // This node stood still. Messages of the service may lie unread, so it does not count as silent.
            _lastHeard = now;
            _search?.OnPause();
        }

        if (now - _lastHeard > _serviceSilence)
        {
            Drop("heartbeat timeout");
            return;
        }

        _owner.OnHeartbeatDue();
        if (!_isStopped)
        {
            ScheduleWatch(_heartbeatInterval);
        }
    }
}
