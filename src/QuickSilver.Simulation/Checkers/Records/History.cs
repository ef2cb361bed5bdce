using System.Collections.Immutable;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Deliveries;
using QuickSilver.Simulation.Checkers.Progress;

namespace QuickSilver.Simulation.Checkers.Records;

// Passes each event of a run to all checkers. It keeps no events, so a run may be long. It collects the first violations, because the
// others usually follow from them, and throws them at the end, or immediately if requested.
internal sealed class History
{
    private const int MostViolationsKept = 20;

    private readonly HistoryChecker[] _checkers;
    private readonly List<Violation> _violations = [];
    private bool _ended;

    public History(params HistoryChecker[] checkers)
    {
        _checkers = checkers;
        foreach (var checker in checkers)
        {
            checker.History = this;
        }
    }

    public static History WithAllCheckers() => new(
        new NoGapChecker(), new NoDuplicateChecker(), new NoPhantomChecker(), new OrderChecker(),
        new ViewsChecker(), new DeliveryViewChecker(), new PrimaryChecker(), new IncarnationChecker(), new MemoryChecker(),
        new RepairChecker(), new LivenessChecker(), new AgreementChecker(), new StableChecker(), new TablesChecker(),
        new BestEffortChecker { IsBestEffort = static _ => false });

    public IReadOnlyList<Violation> Violations => _violations;

    public long ViolationCount { get; private set; }

    public long PublishedCount { get; private set; }

    public long DeliveredCount { get; private set; }

    public long GapCount { get; private set; }

    /// <summary>Throws within the run, at the event that violates an invariant.</summary>
    public bool ThrowAtOnce { get; init; }

    /// <summary>True when no subscription still waits for a message: a condition for the end of a run.</summary>
    public bool IsComplete => Array.TrueForAll(_checkers, checker => checker.IsComplete);

    public void Published(TimeSpan at, MessageId message, ulong payloadHash)
    {
        PublishedCount++;
        var published = new Published(at, message, payloadHash);
        foreach (var checker in _checkers)
        {
            checker.On(published);
        }
    }

    /// <summary>Called before the message can be delivered anywhere.</summary>
    public void Sent(TimeSpan at, MessageId message, ImmutableArray<RegionView> views)
    {
        var sent = new Sent(at, message, views);
        foreach (var checker in _checkers)
        {
            checker.On(sent);
        }
    }

    public void Delivered(TimeSpan at, Subscription subscription, MessageId message, ulong payloadHash)
    {
        DeliveredCount++;
        var delivered = new Delivered(at, subscription, message, payloadHash);
        foreach (var checker in _checkers)
        {
            checker.On(delivered);
        }
    }

    public void Gap(TimeSpan at, Subscription subscription, NodeKey sender, long first, long last)
    {
        GapCount++;
        var gap = new GapReported(at, subscription, sender, first, last);
        foreach (var checker in _checkers)
        {
            checker.On(gap);
        }
    }

    public void Subscribed(TimeSpan at, Subscription subscription)
    {
        foreach (var checker in _checkers)
        {
            checker.OnSubscribed(at, subscription);
        }
    }

    public void Activated(TimeSpan at, Subscription subscription, NodeKey life, long configuration)
    {
        var activated = new Activated(at, subscription, life, configuration);
        foreach (var checker in _checkers)
        {
            checker.On(activated);
        }
    }

    public void Unsubscribed(TimeSpan at, Subscription subscription)
    {
        foreach (var checker in _checkers)
        {
            checker.OnUnsubscribed(at, subscription);
        }
    }

    public void Stopped(TimeSpan at, int node, NodeKey life)
    {
        foreach (var checker in _checkers)
        {
            checker.OnStopped(at, node, life);
        }
    }

    public void Configured(TimeSpan at, int node, NodeKey life, ConfigurationChange change)
    {
        var configured = new Configured(at, node, life, change);
        foreach (var checker in _checkers)
        {
            checker.On(configured);
            foreach (var region in change.Regions)
            {
                checker.On(new RegionSeen(at, node, life, region, HashOf(region)));
            }

            foreach (var topic in change.Topics)
            {
                checker.On(new TopicSeen(at, node, life, topic));
            }
        }
    }

    public void Read(in MemoryReading reading)
    {
        foreach (var checker in _checkers)
        {
            checker.On(reading);
        }
    }

    public void Count(in RepairTotals totals)
    {
        foreach (var checker in _checkers)
        {
            checker.On(totals);
        }
    }

    public void Stable(TimeSpan at, MessageId message)
    {
        var stable = new StableReported(at, message);
        foreach (var checker in _checkers)
        {
            checker.On(stable);
        }
    }

    public void Troubled(TimeSpan at, int node, ulong topic = 0, bool isTroubled = true)
    {
        var troubled = new Troubled(at, node, topic, isTroubled);
        foreach (var checker in _checkers)
        {
            checker.On(troubled);
        }
    }

    public void Waits(in Waits waits)
    {
        foreach (var checker in _checkers)
        {
            checker.On(waits);
        }
    }

    public void Expelled(TimeSpan at, int node, NodeKey life)
    {
        var expelled = new Expelled(at, node, life);
        foreach (var checker in _checkers)
        {
            checker.On(expelled);
        }
    }

    public void Ended(in PublisherEnded ended)
    {
        foreach (var checker in _checkers)
        {
            checker.On(ended);
        }
    }

    public void Ended(in SubscriberEnded ended)
    {
        foreach (var checker in _checkers)
        {
            checker.On(ended);
        }
    }

    public void Counted(in UnhandledCounted counted)
    {
        foreach (var checker in _checkers)
        {
            checker.On(counted);
        }
    }

    public void Read(in TableReading reading)
    {
        foreach (var checker in _checkers)
        {
            checker.On(reading);
        }
    }

    /// <summary>Lets the checkers look for operations that take too long. May be called at any time.</summary>
    public void Look(TimeSpan at)
    {
        foreach (var checker in _checkers)
        {
            checker.OnLook(at);
        }
    }

    /// <summary>Ends the history: everything that must have happened by now is a violation otherwise. May be called repeatedly.</summary>
    public void End()
    {
        if (!_ended)
        {
            _ended = true;
            foreach (var checker in _checkers)
            {
                checker.OnEnd();
            }
        }
    }

    /// <summary>Ends the history, and throws if an invariant was violated.</summary>
    public void AssertHolds()
    {
        End();
        if (ViolationCount > 0)
        {
            throw new InvariantException($"{ViolationCount} violations:\n{string.Join('\n', _violations)}");
        }
    }

    internal void Report(Violation violation)
    {
        ViolationCount++;
        if (_violations.Count < MostViolationsKept)
        {
            _violations.Add(violation);
        }

        if (ThrowAtOnce)
        {
            throw new InvariantException(violation.ToString());
        }
    }

    private static ulong HashOf(RegionView region)
    {
        ulong hash = (ulong)region.Members.Length;
        foreach (var member in region.Members)
        {
            hash = unchecked((((hash ^ member.Id) * 1099511628211) ^ member.Incarnation) * 1099511628211);
        }

        return hash;
    }
}

internal sealed class InvariantException(string message) : Exception(message);
