using QuickSilver.Core.Environment;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Service.Failures;

// Decides which members are dead.
//
// Intuition: a node that is silent for many heartbeats is gone. One that its ring neighbours miss too is gone sooner, since two independent
// paths agree. Not so a node that is known to stand still from time to time (a collector, a machine without time): its neighbours would
// miss it each time. A node that its neighbours miss while it speaks here is left to arbitration, which determines which of the two does
// not hear (Reachability). A stream that closed without a farewell means that the process ended, or that the connection broke and the node
// is about to come back: it has a short grace.
//
// Application: Heard for every message of a node, Suspect for a neighbour's report, Disconnected when its stream closes;
// Collect from a steady check gives those to remove, each with a reason.
//
// What goes wrong: when the service itself stands still (a pause of the collector, a stopped machine), all members seem silent. OnPause
// takes that time off their silence. If the service was slow without a pause, Collect knows when it should have been called, and takes its
// own lateness off. Two reports from the same node are one, and reports expire. A node that hears no other suspects all of them, and a
// machine that is short of time makes many nodes deaf for a while: that is why reports need the target's silence as a witness.
internal sealed class FailureDetector(FailureDetectorOptions options)
{
    private const int ReportersToRemove = 2;
    private const int MissedWithReporters = 2;
    private const int MissedWithOneReporter = 3;
    // In a region of two there is no second neighbour that could report.
    private const int MissedWithOnlyNeighbour = 2;
    // For how long a node that reported a pause is considered one that stands still from time to time.
    private static readonly TimeSpan StandsStillFor = TimeSpan.FromMinutes(10);

    private readonly Dictionary<NodeKey, Watch> _watches = [];
    private readonly List<NodeKey> _order = [];
    private TimeSpan? _expectedCheck;

    private sealed class Watch
    {
        public TimeSpan LastHeard;
        public TimeSpan? DisconnectedAt;
        public TimeSpan StandsStillUntil;
        // Null before the first.
        public List<(NodeKey Reporter, TimeSpan At)>? Reports;
    }

    public TimeSpan CheckInterval { get; } = options.HeartbeatInterval / 4;

    public void Track(NodeKey node, TimeSpan now)
    {
        _watches[node] = new Watch { LastHeard = now };
        _order.Add(node);
    }

    public void Forget(NodeKey node)
    {
        if (_watches.Remove(node))
        {
            _order.Remove(node);
        }

        foreach (var watch in _watches.Values)
        {
            watch.Reports?.RemoveAll(report => report.Reporter == node);
        }
    }

    public void Heard(NodeKey node, TimeSpan now)
    {
        if (_watches.TryGetValue(node, out var watch))
        {
            watch.LastHeard = now;
            watch.DisconnectedAt = null;
        }
    }

    public void Disconnected(NodeKey node, TimeSpan now)
    {
        if (_watches.TryGetValue(node, out var watch))
        {
            watch.DisconnectedAt = now;
        }
    }

    /// <summary>The service stood still for this time, and has not read what came meanwhile.</summary>
    public void OnPause(TimeSpan length, TimeSpan now)
    {
        // The next check is late by as much, and is not to take it off again.
        _expectedCheck += length;
        Forgive(length, now);
    }

    /// <summary>
    /// The node has stood still, which explains that its neighbours did not hear it: their reports count no more. As it may do so again,
    /// and for longer, it has the time of all heartbeats for a while, whatever its neighbours report.
    /// </summary>
    public void Excuse(NodeKey node, TimeSpan now)
    {
        if (_watches.TryGetValue(node, out var watch))
        {
            watch.Reports?.Clear();
            watch.StandsStillUntil = now + StandsStillFor;
        }
    }

    public void Suspect(NodeKey node, NodeKey reporter, TimeSpan now)
    {
        if (node != reporter && _watches.TryGetValue(node, out var watch) && _watches.ContainsKey(reporter))
        {
            var reports = watch.Reports ??= [];
            int known = reports.FindIndex(report => report.Reporter == reporter);
            if (known < 0)
            {
                reports.Add((reporter, now));
            }
            else
            {
                reports[known] = (reporter, now);
            }
        }
    }

    /// <summary>Adds the nodes to remove now; <paramref name="regionSizeOf"/> says how many members a node's region has.</summary>
    public void Collect(TimeSpan now, Func<NodeKey, int> regionSizeOf, List<(NodeKey Node, string Reason)> dead)
    {
        if (_expectedCheck is { } expected && now > expected + options.HeartbeatInterval)
        {
            Forgive(now - expected, now);
            foreach (var watch in _watches.Values)
            {
                watch.Reports?.Clear();
            }
        }

        _expectedCheck = now + CheckInterval;
        foreach (var node in _order)
        {
            if (Verdict(node, _watches[node], now, regionSizeOf) is { } reason)
            {
                dead.Add((node, reason));
            }
        }
    }

    private string? Verdict(NodeKey node, Watch watch, TimeSpan now, Func<NodeKey, int> regionSizeOf)
    {
        var silence = now - watch.LastHeard;
        int missed = (int)(silence / options.HeartbeatInterval);
        if (missed >= options.HeartbeatsMissed)
        {
            return $"heartbeat timeout ({missed} heartbeats of {options.HeartbeatInterval.TotalMilliseconds:0} ms missed)";
        }

        if (watch.DisconnectedAt is { } since && now - since >= options.ReconnectGrace)
        {
            return "its connection closed and it did not reconnect in time";
        }

        return watch.Reports is { Count: > 0 } reports && now >= watch.StandsStillUntil
            ? VerdictOfReports(node, reports, now, missed, regionSizeOf)
            : null;
    }

    // Apart, since hardly any node is reported, and all are looked at four times a heartbeat.
    private string? VerdictOfReports(
        NodeKey node,
        List<(NodeKey Reporter, TimeSpan At)> reports,
        TimeSpan now,
        int missed,
        Func<NodeKey, int> regionSizeOf)
    {
        reports.RemoveAll(report => now - report.At > options.Silence);
        if (reports.Count >= ReportersToRemove && missed >= MissedWithReporters)
        {
            return $"{reports.Count} ring neighbours do not hear it and it missed {missed} heartbeats";
        }

        int enough = regionSizeOf(node) == 2 ? MissedWithOnlyNeighbour : MissedWithOneReporter;
        return reports.Count == 1 && missed >= enough
            ? $"a ring neighbour does not hear it and it missed {missed} heartbeats"
            : null;
    }

    private void Forgive(TimeSpan time, TimeSpan now)
    {
        foreach (var watch in _watches.Values)
        {
            watch.LastHeard = Pause.LeaveOut(time, watch.LastHeard, now);
            watch.DisconnectedAt = watch.DisconnectedAt is { } at ? Pause.LeaveOut(time, at, now) : null;
        }
    }
}

internal sealed record FailureDetectorOptions
{
    private const int HeartbeatsLeft = 2;

    public TimeSpan HeartbeatInterval { get; init; } = TimeSpan.FromSeconds(1);
    public int HeartbeatsMissed { get; init; } = 10;
    public TimeSpan ReconnectGrace { get; init; } = TimeSpan.FromSeconds(2);

    public TimeSpan Silence => HeartbeatInterval * HeartbeatsMissed;

    /// <summary>
    /// A little less: a node that gives up another node, or itself, after this time has done so before the silence is over.
    /// </summary>
    public TimeSpan AlmostSilence => HeartbeatInterval * Math.Max(1, HeartbeatsMissed - HeartbeatsLeft);

    /// <summary>The welcome to a node that this life of a service admits.</summary>
    public WelcomeMessage WelcomeTo(ulong life, bool isResumed, bool leadsAlone) =>
        new(life, isResumed, HeartbeatInterval, HeartbeatsMissed, leadsAlone);
}
