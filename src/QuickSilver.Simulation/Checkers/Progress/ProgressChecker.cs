using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers.Progress;

// I22: progress during faults, not only after they end. A healthy node receives what another healthy node sent in a view of both within a
// bound, in which faulty nodes can be detected and removed. No application of a healthy node waits longer for its node. A reader that does
// not read excuses its own topic only. Each look checks this; a violation is reported once.
internal class ProgressChecker(TimeSpan bound) : DeliveryChecker
{
    private readonly TimeSpan _bound = bound;
    private readonly Partings _partings = new();
    private readonly Dictionary<NodeKey, int> _nodes = [];
    private readonly HashSet<int> _troubledNodes = [];
    private readonly HashSet<ulong> _troubledTopics = [];
    private readonly HashSet<(long Subscription, NodeKey Sender)> _reported = [];
    private readonly HashSet<(int Node, ulong Topic)> _waiting = [];
    // When the set of faulty nodes last changed: the bound of what was delayed before starts again.
    private TimeSpan _since;

    public override string Invariant => "I22";

    /// <summary>How long an application may wait for its node: as long as a message may take, unless opening takes longer.</summary>
    public TimeSpan WaitBound { get; init; } = bound;

    public override void On(in Configured configured)
    {
        _partings.On(configured);
        _nodes[configured.Life] = configured.Node;
    }

    public override void On(in Troubled troubled)
    {
        _since = troubled.At;
        if (troubled.Topic != 0)
        {
            _ = troubled.IsTroubled ? _troubledTopics.Add(troubled.Topic) : _troubledTopics.Remove(troubled.Topic);
        }
        else
        {
            _ = troubled.IsTroubled ? _troubledNodes.Add(troubled.Node) : _troubledNodes.Remove(troubled.Node);
        }
    }

    public override void On(in Waits waits)
    {
        if (IsJudged(waits.Topic) && !_troubledNodes.Contains(waits.Node) && IsOver(waits.At, waits.Since, WaitBound)
            && _waiting.Add((waits.Node, waits.Topic)))
        {
            string what = $"The application of node {waits.Node} has waited since {waits.Since:c} {waits.What} topic {waits.Topic:x16}";
            Violate(waits.At, $"{what}; the bound is {Name(WaitBound)}.");
        }
    }

    public override void OnLook(TimeSpan at)
    {
        foreach (var listener in Open)
        {
            if (!IsJudged(listener.Subscription.Topic) || IsTroubled(listener.Life))
            {
                continue;
            }

            foreach (var log in LogsOf(listener.Subscription.Topic))
            {
                if (!log.HasStopped && !IsTroubled(log.Sender) && FirstLate(log, listener, at) is var (number, sent) && number > 0
                    && _reported.Add((listener.Subscription.Number, log.Sender)))
                {
                    var message = new MessageId(log.Sender, log.Topic, number);
                    Violate(at, $"{listener.Subscription} has not received {message}, sent at {sent:c}; the bound is {Name(_bound)}.");
                }
            }
        }
    }

    /// <summary>Whether what went to these views can be judged.</summary>
    protected virtual bool Concerns(ImmutableArray<RegionView> views) => true;

    protected bool IsTroubled(NodeKey life) => _nodes.TryGetValue(life, out int node) && _troubledNodes.Contains(node);

    private static string Name(TimeSpan bound) => $"{bound.TotalSeconds:F1} s";

    private bool IsJudged(ulong topic) => !_troubledTopics.Contains(topic) && !IsBestEffort(topic);

    private bool IsOver(TimeSpan at, TimeSpan since) => IsOver(at, since, _bound);

    private bool IsOver(TimeSpan at, TimeSpan since, TimeSpan limit) => at - (since > _since ? since : _since) > limit;

    private (long Number, TimeSpan Sent) FirstLate(SenderLog log, Listener listener, TimeSpan at)
    {
        var given = listener.Of(log.Sender);
        foreach (var run in log.Runs)
        {
            if (!IsOver(at, run.Begun))
            {
                break;
            }

            if (listener.Among(run.Views) is { } view && Concerns(run.Views)
                && !_partings.HaveParted(log.Sender, run.Begun, listener.Life, view))
            {
                long missing = given.FirstMissing(run.FirstSince(listener.Since));
                if (missing <= run.Last && IsOver(at, run.SentAt(missing)))
                {
                    return (missing, run.SentAt(missing));
                }
            }
        }

        return default;
    }
}
