using QuickSilver.Core.Alarms;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service.Quotas;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Membership.Service.Watching;

// The observers that watch the cluster, and the questions to nodes on their behalf.
//
// Intuition: an observer asks, the service asks all nodes, and when all have answered or their time is over, it sends the observer what
// came. So nothing is asked or kept without an observer, and a slow observer gets less. Application: observers that ask at the same time
// share one question, and there are at most ten questions a second, however many observers ask. What goes wrong: a node does not answer
// (the observer gets the time since when). A node is of an older version (its join did not say that it answers, so it is not asked). An
// observer does not read (it asks again while the last answer waits to be sent, or does not ask again, and its session closes it).
//
// Invariant: _waiting is empty unless a question is under way or one is due.
internal sealed class Observers : IDisposable
{
    private static readonly TimeSpan QuestionInterval = TimeSpan.FromMilliseconds(100);

    private readonly SessionContext _context;
    private readonly string _cluster;
    private readonly MemberTable _members;
    private readonly Func<HostStanding> _standing;
    private readonly Func<int> _echoPort;
    private readonly Func<int> _topics;
    private readonly TimeSpan _begun;
    private readonly Alarm _alarm;
    private readonly ObserverSlots _places;
    private readonly List<ControlSession> _waiting = [];
    private ulong _question;
    private TimeSpan _askedAt = TimeSpan.MinValue / 2;
    private bool _isUnderWay;
    // The number of members whose answers are awaited.
    private int _left;
    private int _rows;

    /// <param name="context">What sessions share.</param>
    /// <param name="cluster">The name of the cluster.</param>
    /// <param name="members">The nodes, in the order of joining.</param>
    /// <param name="standing">How the service stands, with the number of its last configuration.</param>
    /// <param name="echoPort">
    /// Opens the port at which the service answers echoes, if it is not open, and returns its number; 0: none.
    /// </param>
    /// <param name="topics">The number of open topics.</param>
    public Observers(
        SessionContext context,
        string cluster,
        MemberTable members,
        Func<HostStanding> standing,
        Func<int> echoPort,
        Func<int> topics)
    {
        _context = context;
        _cluster = cluster;
        _members = members;
        _standing = standing;
        _echoPort = echoPort;
        _topics = topics;
        _places = new ObserverSlots(context);
        _begun = context.Environment.Now;
        _alarm = new Alarm(OnAlarm);
    }

    public int Count => _places.Count;

    /// <summary>Whether the session is an observer, or becomes one. One that is refused gets the reason, and is closed.</summary>
    /// <param name="session">The session.</param>
    /// <param name="cluster">The cluster that it wants to observe.</param>
    /// <param name="protocolVersion">What it speaks.</param>
    /// <param name="watches">Whether nodes are asked for it. What the service itself knows has no limit of its own.</param>
    public bool TryAdmit(ControlSession session, string cluster, int protocolVersion, bool watches)
    {
        if (session.IsObserver && (!watches || _places.Has(session)))
        {
            _places.OnAsked(session);
            return true;
        }

        if (Refusal(session, cluster, protocolVersion, watches) is { } refusal)
        {
            _context.Counters.ObserversRefused++;
            session.SayLast(ReasonMessage.Refused(refusal));
            return false;
        }

        session.BeginWatching();
        if (watches)
        {
            _places.Take(session);
        }

        return true;
    }

    private string? Refusal(ControlSession session, string cluster, int protocolVersion, bool watches)
    {
        if (protocolVersion != ControlFrame.ProtocolVersion)
        {
            return $"This membership service speaks protocol version {ControlFrame.ProtocolVersion};"
                + $" the program that asks speaks {protocolVersion}.";
        }

        if (cluster != _cluster)
        {
            return $"This membership service serves the cluster '{_cluster}', but '{cluster}' was asked for."
                + " Check the name of the cluster.";
        }

        if (!watches)
        {
            return null;
        }

        _places.MakeRoomFor(session, other => !_waiting.Contains(other));
        return _places.FullFor(session);
    }

    /// <summary>The observer waits for an answer. False: it waits for one already.</summary>
    public bool TryWatch(ControlSession session, int rows)
    {
        if (_waiting.Contains(session))
        {
            return false;
        }

        _waiting.Add(session);
        _rows = Math.Max(_rows, rows);
        if (!_isUnderWay && _waiting.Count == 1)
        {
            var wait = _askedAt + QuestionInterval - _context.Environment.Now;
            _context.Environment.Schedule(_alarm, wait > TimeSpan.Zero ? wait : TimeSpan.Zero);
        }

        return true;
    }

    /// <summary>
    /// Sends the standing of the service, as the last message on this session. Another host asks for it before it yields, so this takes no
    /// observer slot: full slots do not keep two hosts apart. Sessions are limited for each address and certificate.
    /// </summary>
    public void AnswerForService(ControlSession session) => session.SayLast(ServiceSigns(reported: 0));

    public void Remove(ControlSession session)
    {
        _places.Remove(session);
        if (_waiting.Remove(session) && _waiting.Count == 0)
        {
            EndQuestion();
        }
    }

    /// <summary>A member has answered. An answer that is not awaited is dropped.</summary>
    public void OnSigns(Member member, ulong question, byte[] signs)
    {
        if (!_isUnderWay || question != _question || member.Signs is not { IsAwaited: true } record || record.Question != question)
        {
            return;
        }

        record.IsAwaited = false;
        record.SilentSince = null;
        record.Reported = signs;
        if (--_left == 0)
        {
            Answer();
        }
    }

    public void Dispose()
    {
        _waiting.Clear();
        EndQuestion();
    }

    private void OnAlarm()
    {
        if (_isUnderWay)
        {
            Answer();
        }
        else
        {
            Ask();
        }
    }

    private void Ask()
    {
        _isUnderWay = true;
        _askedAt = _context.Environment.Now;
        _question++;
        _left = 0;
        // The number of rows for which all answers together fit into what may wait to be sent.
        int mostRows = Math.Clamp(_rows, 1, NodeSnapshot.MostRows);
        int rows = Math.Clamp(_context.Limits.MaxSignsRowsInAll / Math.Max(1, _members.Count), 1, mostRows);
        _rows = 0;
        var frame = new SharedFrames(Frame(new SnapshotQuestionMessage(_question, rows)));
        for (int i = 0; i < Math.Min(_members.Count, _context.Limits.MaxSignsNodes); i++)
        {
            var member = _members[i];
            var record = member.Signs ??= new MemberSnapshot();
            record.Question = _question;
            record.IsAwaited = member.ReportsSigns && member.Session is not null;
            if (record.IsAwaited)
            {
                _left++;
                member.Session!.SendShared(frame);
            }
        }

        if (_left == 0)
        {
            Answer();
        }
        else
        {
            _context.Environment.Schedule(_alarm, _context.Limits.SignsTimeout);
        }
    }

    private void Answer()
    {
        var now = _context.Environment.Now;
        var reported = new List<MemberSnapshotMessage>();
        // An answer leaves out what does not fit. An observer that reads must not be closed because nodes report much.
        long room = _context.Limits.MaxPendingBytes / 2;
        foreach (var member in _members)
        {
            if (member.Signs is { } record && record.Question == _question && (room -= record.Reported?.Length ?? 0) >= 0)
            {
                reported.Add(ReportOf(member, record, now));
            }
        }

        var cluster = ServiceSigns(reported.Count);
        var waiting = _waiting.ToArray();
        _waiting.Clear();
        EndQuestion();
        foreach (var session in waiting)
        {
            session.Send(cluster);
            reported.ForEach(member => session.Send(member));
            session.AwaitNextWatch();
        }
    }

    private ClusterSnapshotMessage ServiceSigns(int reported)
    {
        var standing = _standing();
        return new ClusterSnapshotMessage
        {
            Configuration = standing.Configuration,
            Nodes = _members.Count,
            Reported = reported,
            Observers = _places.Count,
            AgeMillis = (long)(_context.Environment.Now - _begun).TotalMilliseconds,
            EchoPort = _echoPort(),
            Host = standing,
            Topics = _topics(),
        };
    }

    private MemberSnapshotMessage ReportOf(Member member, MemberSnapshot record, TimeSpan now)
    {
        var outcome = record.Reported is not null ? SnapshotOutcome.Reported
            : member.ReportsSigns ? SnapshotOutcome.Silent
            : SnapshotOutcome.Unable;
        if (outcome == SnapshotOutcome.Silent)
        {
            record.SilentSince ??= _askedAt;
        }

        return new MemberSnapshotMessage
        {
            Node = member.Key,
            EndPoint = member.Info.EndPoint,
            Outcome = outcome,
            SilentMillis = record.SilentSince is { } since ? (long)(now - since).TotalMilliseconds : 0,
            HeardMillis = (long)(now - member.LastHeard).TotalMilliseconds,
            Signs = record.Reported ?? [],
            Name = member.Info.Name,
            Process = member.Process,
        };
    }

    private void EndQuestion()
    {
        _isUnderWay = false;
        _context.Environment.Cancel(_alarm);
        foreach (var member in _members)
        {
            if (member.Signs is { } record)
            {
                (record.Reported, record.IsAwaited) = (null, false);
            }
        }
    }

    private static byte[] Frame(SnapshotQuestionMessage question)
    {
        var buffer = new ControlBuffer();
        ControlFrame.Append(buffer, question);
        return buffer.Written.ToArray();
    }
}
