using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Nodes.Measures;

// Puts together the status of a node, with its reasons and their times. The core thread, or the thread that stops the node, says
// what happens; any thread reads.
internal sealed class StatusReading
{
    // A core thread that has not run its alarms for this long is considered blocked.
    private static readonly TimeSpan PulseLimit = TimeSpan.FromSeconds(3);

    private readonly INodeReports _reports;
    private readonly INodeEnvironment _environment;
    private readonly TimeProvider _outsideTime;
    private readonly QuickSilverOptions _options;
    private readonly Troubles _troubles;
    private readonly long _startedAt;
    private long _pulseAt;
    private long _pulse;
    private long _reachableChangedAt;
    private long _stoppedAt;
    private long _silentSince;
    private volatile bool _isReachable;
    private volatile StatusReason? _end;

    public StatusReading(
        INodeReports reports, INodeEnvironment environment, TimeProvider outsideTime, QuickSilverOptions options, Troubles troubles)
    {
        _reports = reports;
        _environment = environment;
        _outsideTime = outsideTime;
        _troubles = troubles;
        _options = options;
        _startedAt = _pulseAt = _reachableChangedAt = environment.UtcNow.UtcTicks;
        _pulse = outsideTime.GetTimestamp();
    }

    /// <summary>How long ago the core thread last ran its pulse.</summary>
    public TimeSpan SincePulse => _outsideTime.GetElapsedTime(Volatile.Read(ref _pulse));

    /// <summary>Whether that was within the limit.</summary>
    public bool IsPulsing => SincePulse <= PulseLimit;

    public bool IsReachable
    {
        set
        {
            if (_isReachable != value)
            {
                Volatile.Write(ref _reachableChangedAt, _environment.UtcNow.UtcTicks);
                Volatile.Write(ref _silentSince, 0);
                _isReachable = value;
            }
        }
    }

    /// <summary>The service was last heard then, and may have removed this node.</summary>
    public void OnSilent(DateTimeOffset lastHeard) => Volatile.Write(ref _silentSince, lastHeard.UtcTicks);

    /// <summary>Whether the service is silent for so long that it may have removed this node.</summary>
    public bool IsSilent => Volatile.Read(ref _silentSince) != 0;

    /// <summary>Whether the service has removed this node, or is silent for so long that it may have.</summary>
    public bool MayBeRemoved => IsSilent || _end is not null;

    /// <summary>Null before the first topic.</summary>
    public BlockingHandlers? Handlers { get; set; }

    /// <summary>Null before the first wait.</summary>
    public TopicWaits? Waits { get; set; }

    public void OnPulse()
    {
        Volatile.Write(ref _pulseAt, _environment.UtcNow.UtcTicks);
        Volatile.Write(ref _pulse, _outsideTime.GetTimestamp());
    }

    public void OnExpelled(string inWords)
    {
        _end = StatusReasons.Of(StatusReasonKind.Expelled, inWords, _environment.UtcNow);
        IsReachable = false;
    }

    public void OnStopped() => Volatile.Write(ref _stoppedAt, _outsideTime.GetUtcNow().UtcTicks);

    /// <summary>The sentences that say what is wrong, without the rest, for a reader with little room.</summary>
    public static string? Shortened(NodeStatus status) =>
        status.Reasons.Count == 0 ? null : string.Join(" ", status.Reasons.Take(2).Select(static reason => reason.Description));

    public NodeStatus Read(NodeState state, int openTopics)
    {
        bool isLive = state != NodeState.Stopped && IsPulsing;
        var unready = WhyNotReady(state, isLive);
        List<StatusReason> reasons = unready is null ? [] : [unready];
        Add(reasons, Handlers?.Trouble is { } handler ? [handler] : []);
        Add(reasons, Waits?.Troubles ?? []);
        Add(reasons, _troubles.Oldest);
        Add(reasons, _reports.Troubles);
        string? first = reasons.Count == 0 ? null : string.Join(" ", reasons.Take(unready is null ? 1 : 2));
        return new NodeStatus(state, isLive, unready is null, openTopics, first)
        {
            Name = _reports.Name,
            DatagramPath = _reports.IsSegmented ? "gso" : "single",
            Interface = _reports.Interface,
            Members = _reports.Members,
            HeldTopics = ReadHeldTopics(),
            Reasons = reasons.Count == 0 ? (IReadOnlyList<StatusReason>)[] : reasons,
        };
    }

    private IReadOnlyList<HeldTopic> ReadHeldTopics() => _reports.Paced is { Count: > 0 } paced
        ? [.. paced.Where(static one => one.Name is not null).Select(one => new HeldTopic(
            one.Name!, new NodeId(one.Member.Id, one.Member.Incarnation), _reports.Names.Find(one.Member) ?? "", one.Rate, one.SinceUtc))]
        : [];

    private static void Add(List<StatusReason> reasons, IReadOnlyList<Trouble> troubles) =>
        reasons.AddRange(troubles.Select(StatusReasons.Of));

    private static DateTimeOffset At(ref long ticks) => new(Volatile.Read(ref ticks), TimeSpan.Zero);

    private StatusReason? WhyNotReady(NodeState state, bool isLive) => state switch
    {
        NodeState.Stopped => StatusReasons.Of(StatusReasonKind.Stopped, "The node was disposed.", At(ref _stoppedAt)),
        NodeState.Expelled => _end,
        _ when !isLive => StatusReasons.Of(
            StatusReasonKind.CoreThreadBlocked,
            $"The core thread has not run for {SincePulse.TotalSeconds:0} s: a handler or a feed blocks it, or the process was stopped.",
            At(ref _pulseAt),
            "the handler or feed to return"),
        NodeState.Starting => WhyNotJoined(),
        _ when _reports.Isolation is { } isolation => StatusReasons.Of(isolation),
        _ when !_isReachable && Volatile.Read(ref _silentSince) != 0 => Degraded,
        _ when !_isReachable => StatusReasons.Of(
            StatusReasonKind.ServiceUnreachable,
            "The membership service is unreachable"
            + (_reports.LastFailure is { } failure ? $" ({failure})" : "")
            + ". Data still flows in the last views.",
            At(ref _reachableChangedAt),
            Service),
        _ => null,
    };

    private StatusReason Degraded => StatusReasons.Of(
        StatusReasonKind.Degraded,
        "The membership service is unreachable"
        + (_reports.LastFailure is { } failure ? $" ({failure})" : "")
        + ", and may have removed this node. Data still flows in the last views, except in topics that require the service.",
        At(ref _silentSince),
        Service);

    private StatusReason WhyNotJoined()
    {
        long startedAt = _startedAt;
        return _reports.LastRefusal is { } refusal
            ? StatusReasons.Of(
                StatusReasonKind.Refused,
                $"The node has not joined yet: the membership service refused it. {refusal.TrimEnd('.')}.",
                At(ref startedAt),
                Service)
            : StatusReasons.Of(
                StatusReasonKind.NotJoined,
                "The node has not joined yet: it is looking for a membership service."
                + (_reports.LastFailure is { } failure ? $" Last failure: {failure.TrimEnd('.')}." : ""),
                At(ref startedAt),
                Service);
    }

    private string Service => (_reports.ServiceEndPoint, _options.Membership.ServersInWords) switch
    {
        ({ } found, _) => $"the membership service at {found}",
        (null, { } named) => $"the membership service at {named}",
        _ => $"a membership service of the cluster \"{_options.Cluster}\" on the network of {_environment.LocalAddress}",
    };
}
