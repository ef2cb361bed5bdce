using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Membership.Service.Sessions;

// One client's stream: bytes to frames to requests. Invalid input (a frame over the limit, a message that does not decode, or that is
// out of order) closes the session and is counted. No other session notices. A client that never joins, or does not read what it is sent,
// is closed too.
internal sealed class ControlSession : IControlStreamHandler, SessionOutput.IOwner
{
    private enum Stage
    {
        Connected,
        // Join came; the topics that the node has open are being named.
        Registering,
        // The service tests whether datagrams pass. The client sends only its findings.
        Proving,
        Member,
        // It has left, and is notified of that when the others are.
        Leaving,
        // It watches, and is no node.
        Observer,
        // The last message was sent. Bytes that still come are not read.
        Lingering,
        Closed,
    }

    private readonly SessionContext _context;
    private readonly IControlStream _stream;
    private readonly IControlRequests _requests;
    // Null for a member, which has no deadline.
    private Alarm? _deadline;
    // Null but while it registers.
    private SessionRegistration? _registration;
    // Null where the peer has shown no certificate.
    private readonly Alarm? _certificateEnds;
    // Null until its first request that costs much.
    private RateLimit? _costs;
    private readonly SessionOutput _output;
    private Stage _stage = Stage.Connected;

    public ControlSession(SessionContext context, IControlStream stream, IControlRequests requests)
    {
        _context = context;
        _stream = stream;
        _requests = requests;
        _output = new SessionOutput(context, stream, this);
        _deadline = new Alarm(OnDeadline);
        context.Environment.Schedule(_deadline, context.Limits.JoinTimeout);
        if (stream.PeerCertificate is { } certificate)
        {
            _certificateEnds = new Alarm(OnCertificateEnds);
            context.Environment.Schedule(_certificateEnds, LeftOf(certificate));
        }
    }

    public Member? Member { get; private set; }

    public bool IsProving => _stage == Stage.Proving;

    /// <summary>It has sent no message yet.</summary>
    public bool IsUnheard => _stage == Stage.Connected;

    public bool IsObserver => _stage == Stage.Observer;

    public System.Net.IPEndPoint? RemoteEndPoint => _stream.RemoteEndPoint;

    /// <summary>The identity that the client has proved; null on a stream without security.</summary>
    public PeerIdentity? Peer => _stream.Peer;

    /// <summary>The node is a member from here on, and requests come with its name.</summary>
    public void Attach(Member member)
    {
        Member = member;
        _stage = Stage.Member;
        CancelDeadline();
    }

    /// <summary>Before it is a member, it proves that datagrams reach it. It has as long for that as it has to join.</summary>
    public void BeginProof()
    {
        _stage = Stage.Proving;
        _context.Environment.Schedule(_deadline!, _context.Limits.JoinTimeout);
    }

    /// <summary>
    /// Messages from here on do not count. The node is notified by <see cref="OnLeft"/> that it has left, within the time that a node has
    /// to join.
    /// </summary>
    public void BeginLeaving()
    {
        _stage = Stage.Leaving;
        _context.Environment.Schedule(_deadline ??= new Alarm(OnDeadline), _context.Limits.JoinTimeout);
    }

    /// <summary>It has left, and the others know.</summary>
    public void OnLeft() => SayLast(SignalMessage.Left);

    /// <summary>It may watch from here on.</summary>
    public void BeginWatching()
    {
        _stage = Stage.Observer;
        _context.Environment.Cancel(_deadline!);
    }

    /// <summary>An observer was answered. If it does not ask again, it is gone or does not read.</summary>
    public void AwaitNextWatch()
    {
        if (_stage == Stage.Observer)
        {
            _context.Environment.Schedule(_deadline!, _context.Limits.ObserverTimeout);
        }
    }

    public void Send<T>(in T message)
        where T : IControlMessage => _output.Send(message);

    /// <summary>Frames that never change, and may be sent to others too.</summary>
    public void SendShared(SharedFrames frames) => _output.SendShared(frames);

    /// <summary>Its part of what the service keeps, with what its member may ask for again.</summary>
    public long ShareOfKept => _output.Share + (Member?.Session == this ? Member.Backlog.Share : 0);

    /// <summary>Bytes that were sent are not kept any more.</summary>
    public void ForgetSent() => _output.ForgetSent();

    /// <summary>All sessions together keep too much, and this one keeps most.</summary>
    public void CloseForRoom()
    {
        _context.Counters.SessionsClosedForRoom++;
        var member = Member?.Session == this ? Member : null;
        long most = _context.Limits.MaxKeptBytesInAll;
        Close($"the service keeps more than {most} bytes for all sessions, and most for this one, which does not read it");
        // The node gets everything when it comes back.
        member?.Backlog.Clear();
    }

    void SessionOutput.IOwner.OnUnread()
    {
        _context.Counters.SlowSessionsClosed++;
        Close(IsObserver ? "the observer does not read its messages" : "the node does not read its messages");
    }

    void SessionOutput.IOwner.OnMuchKept() => _requests.OnMuchKept();

    /// <summary>Sends the last message, and closes as <see cref="CloseAfterLastWord"/> does.</summary>
    public void SayLast<T>(in T message)
        where T : IControlMessage
    {
        Send(message);
        CloseAfterLastWord();
    }

    /// <summary>Reads no more, and closes when the client had time to read the last message.</summary>
    public void CloseAfterLastWord()
    {
        if (_stage is not (Stage.Lingering or Stage.Closed))
        {
            _stage = Stage.Lingering;
            _context.Environment.Schedule(_deadline ??= new Alarm(OnDeadline), _context.Limits.Linger);
        }
    }

    /// <summary>
    /// The service stood still for this time, and has not read what came meanwhile. A node that joins has this much longer.
    /// </summary>
    public void OnPause(TimeSpan length)
    {
        if (_stage is Stage.Connected or Stage.Registering or Stage.Proving)
        {
            _context.Environment.PutOff(_deadline, length);
        }
    }

    /// <summary>Closes at once; a reason is logged.</summary>
    public void Close(string? reason)
    {
        if (_stage == Stage.Closed)
        {
            return;
        }

        if (reason is not null)
        {
            _context.Logger.SessionClosed(RemoteEndPoint, reason);
        }

        _stream.Close();
        End();
    }

    void IControlStreamHandler.OnConnected(IControlStream stream)
    {
    }

    int IControlStreamHandler.OnBytes(IControlStream stream, ReadOnlySpan<byte> bytes)
    {
        int consumed = 0;
        while (_stage is not (Stage.Lingering or Stage.Closed))
        {
            var rest = bytes[consumed..];
            var outcome = ControlFrame.TryCut(rest, ControlFrame.MaxFromClientBytes, out int kind, out var body, out int length);
            if (outcome == FrameOutcome.Incomplete)
            {
                return consumed;
            }

            if (outcome == FrameOutcome.Garbage && _stage == Stage.Connected && ControlFrame.BeginsTls(rest))
            {
                OnTls();
                break;
            }

            string? fault = outcome == FrameOutcome.Garbage ? "invalid frame" : Handle(kind, body);
            if (fault is not null)
            {
                _context.Counters.GarbageFrames++;
                Close(fault);
                break;
            }

            consumed += length;
        }

        return bytes.Length;
    }

    void IControlStreamHandler.OnClosed(IControlStream stream, string reason)
    {
        if (reason == TlsAdmission.NotAcceptedAnyMore)
        {
            // The audit explains why healthy members disappear.
            _context.Audit.SessionRefused(Peer?.Name ?? "", RemoteEndPoint, reason, ++_context.Counters.SessionsDropped);
        }

        End();
    }

    // The client has a key and this service has none. The answer is shorter than what the client sent, and is no TLS to it, so the client
    // can report this to its user.
    private void OnTls()
    {
        if (RepeatedEvent.IsLogged(++_context.Counters.TlsRefused))
        {
            _context.Audit.TlsRefused(RemoteEndPoint, _context.Counters.TlsRefused);
        }

        SayLast(ReasonMessage.Refused("This membership service runs without security."));
    }

    // Null, or why the session is closed.
    private string? Handle(int kind, ReadOnlySpan<byte> body) => _stage switch
    {
        Stage.Connected when kind == ControlMessageKind.Join => HandleJoin(body),
        Stage.Connected or Stage.Observer when kind == ControlMessageKind.Watch => HandleWatch(body),
        Stage.Connected or Stage.Observer when kind == ControlMessageKind.ListTopics => HandleListTopics(body),
        Stage.Registering => HandleRegistration(kind, body),
        Stage.Proving when kind == ControlMessageKind.Findings => HandleFindings(body),
        Stage.Connected or Stage.Proving or Stage.Observer => OutOfOrder(kind),
        Stage.Leaving => null,
        _ => HandleRequest(Member!, kind, body),
    };

    private bool MayCost(double cost)
    {
        var now = _context.Environment.Now;
        if ((_costs ??= new RateLimit(now, _context.Limits.CostPerSecond, _context.Limits.MostCost)).TryTake(now, cost))
        {
            return true;
        }

        _context.Counters.GreedySessionsClosed++;
        Close(IsObserver ? "the observer asks for too much" : "the node asks for too many snapshots");
        return false;
    }

    private static string Invalid(int kind, string fault) => $"invalid message of kind {kind}: {fault}";

    private static string OutOfOrder(int kind) => $"message of kind {kind} out of order";

    private string? HandleJoin(ReadOnlySpan<byte> body)
    {
        if (!ControlFrame.TryRead<JoinMessage>(body, out var join, out string? fault))
        {
            return Invalid(ControlMessageKind.Join, fault);
        }

        _registration = new SessionRegistration(_context, join, PeerSource.Of(RemoteEndPoint, Peer));
        _stage = Stage.Registering;
        _requests.OnJoin(this, join);
        return null;
    }

    private string? HandleWatch(ReadOnlySpan<byte> body)
    {
        if (!ControlFrame.TryRead<WatchMessage>(body, out var watch, out string? fault))
        {
            return Invalid(ControlMessageKind.Watch, fault);
        }

        if (IsObserver)
        {
            _context.Environment.Cancel(_deadline!);
        }

        _requests.OnWatch(this, watch);
        return null;
    }

    private string? HandleListTopics(ReadOnlySpan<byte> body)
    {
        if (!ControlFrame.TryRead<ListTopicsMessage>(body, out var request, out string? fault))
        {
            return Invalid(ControlMessageKind.ListTopics, fault);
        }

        if (!MayCost(_context.Limits.CostOfList))
        {
            return null;
        }

        _requests.OnListTopics(this, request);
        return null;
    }

    private string? HandleRegistration(int kind, ReadOnlySpan<byte> body)
    {
        var registration = _registration!;
        if (kind == ControlMessageKind.JoinComplete)
        {
            EndRegistration();
            _requests.OnJoinComplete(this, registration.Join, registration.Topics);
            return null;
        }

        if (kind != ControlMessageKind.SetTopic)
        {
            return OutOfOrder(kind);
        }

        string? fault = registration.TryAdd(body, out bool isFull);
        if (isFull)
        {
            _context.Counters.RegistrationsPutOff++;
            Close("too many nodes are registering at the same time, of this machine or certificate or in all");
        }

        return fault;
    }

    private void EndRegistration()
    {
        _registration?.End();
        _registration = null;
    }

    private string? HandleRequest(Member member, int kind, ReadOnlySpan<byte> body)
    {
        string? fault = null;
        switch (kind)
        {
            case ControlMessageKind.SetTopic when ControlFrame.TryRead<SetTopicMessage>(body, out var topic, out fault):
                _requests.OnSetTopic(member, topic);
                return null;
            case ControlMessageKind.CloseTopic when ControlFrame.TryRead<CloseTopicMessage>(body, out var close, out fault):
                _requests.OnCloseTopic(member, close);
                return null;
            case ControlMessageKind.Confirm when ControlFrame.TryRead(body, kind, OpenViewsMessage.Read, out var confirm, out fault):
                _requests.OnConfirm(member, confirm);
                return null;
            case ControlMessageKind.Heartbeat when ControlFrame.TryRead(body, kind, KnownMessage.Read, out var heartbeat, out fault):
                _requests.OnHeartbeat(member, heartbeat.Configuration);
                return null;
            case ControlMessageKind.Suspect when ControlFrame.TryRead<SuspectMessage>(body, out var suspect, out fault):
                _requests.OnSuspect(member, suspect.Node, suspect.Reason);
                return null;
            case ControlMessageKind.Findings:
                return HandleFindings(body);
            case ControlMessageKind.Snapshot when ControlFrame.TryRead(
                body, 0, static (bytes, _) => SnapshotMessage.ReadUnopened(bytes), out var snapshot, out fault):
                _requests.OnSigns(member, snapshot.Question, snapshot.Signs);
                return null;
            case ControlMessageKind.Paused when ControlFrame.TryRead<PausedMessage>(body, out var paused, out fault):
                _requests.OnPaused(member, paused);
                return null;
            case ControlMessageKind.FollowTopics when ControlFrame.TryRead<FollowTopicsMessage>(body, out var follow, out fault):
                _requests.OnFollowTopics(member, follow);
                return null;
            case ControlMessageKind.Leave:
                _requests.OnLeave(member);
                return null;
            case ControlMessageKind.Resync:
                if (MayCost(_context.Limits.CostOfSnapshot))
                {
                    _requests.OnResync(member);
                }

                return null;
            case >= ControlMessageKind.Join and <= ControlMessageKind.FollowTopics:
                return fault is null ? OutOfOrder(kind) : Invalid(kind, fault);
            default:
                // A newer client's message: this service does not know it and does not need it.
                _context.Counters.UnknownMessages++;
                return null;
        }
    }

    private string? HandleFindings(ReadOnlySpan<byte> body)
    {
        if (!ControlFrame.TryRead<FindingsMessage>(body, out var findings, out string? fault))
        {
            return Invalid(ControlMessageKind.Findings, fault);
        }

        _requests.OnFindings(this, findings);
        return null;
    }

    private void OnDeadline()
    {
        if (_stage is Stage.Lingering or Stage.Leaving)
        {
            Close(null);
            return;
        }

        if (_stage == Stage.Observer)
        {
            Close("the observer has not asked for long");
            return;
        }

        _context.Counters.SessionsNeverJoined++;
        Close("timed out waiting for the node to join");
    }

    // A node that has another certificate by now shows it when it connects again, and stays the same member.
    private void OnCertificateEnds()
    {
        var certificate = _stream.PeerCertificate!;
        var left = LeftOf(certificate);
        if (left > TimeSpan.Zero)
        {
            // The wall clock was set back.
            _context.Environment.Schedule(_certificateEnds!, left);
            return;
        }

        string reason = $"its certificate has expired on {certificate.Until.ToUniversalTime():u}";
        _context.Audit.SessionRefused(certificate.Name, RemoteEndPoint, reason, ++_context.Counters.SessionsExpired);
        Close(reason);
    }

    private TimeSpan LeftOf(PeerCertificate certificate) => certificate.Until - _context.Environment.UtcNow;

    private void CancelDeadline()
    {
        _context.Environment.CancelIfMade(_deadline);
        _deadline = null;
    }

    private void End()
    {
        if (_stage != Stage.Closed)
        {
            _stage = Stage.Closed;
            EndRegistration();
            _output.End();
            CancelDeadline();
            _context.Environment.CancelIfMade(_certificateEnds);
            _requests.OnSessionClosed(this);
        }
    }
}
