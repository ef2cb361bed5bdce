using QuickSilver.Endpoints.Changes;

namespace QuickSilver.States.Joining;

internal enum StateChoiceStep
{
    /// <summary>More marks come.</summary>
    Wait,

    /// <summary>No node can be asked now.</summary>
    Pause,

    /// <summary>The sources are asked, one after the other. There may be none.</summary>
    Take,
}

// Whom a node that joins a state asks: one of those that are complete, or each, if none is. It decides by the marks that answered the
// node's hello. Core thread only.
internal sealed class StateChoice
{
    // Marks of all are waited for as long as this, if one of those that are complete has answered.
    private static readonly TimeSpan MarkLimit = TimeSpan.FromMilliseconds(500);
    // Marks of all are waited for as long as this, if no node is complete.
    private static readonly TimeSpan LongMarkLimit = TimeSpan.FromSeconds(1.5);
    private const int AttemptsOfOne = 10;
    // When no node is complete, a source that failed so often in a row is not asked any more, so that it does not keep the others from what
    // they have. One that gives to others succeeds later, so it has more attempts. One that is complete is asked forever: without it, the
    // node would lack what it alone may have.
    private const int MostFailures = 3;
    private const int MostBusy = 20;
    // One source may give for as long as this, if another one can be asked instead; the next one twice as long, and so on.
    private static readonly TimeSpan FirstTakeLimit = TimeSpan.FromSeconds(30);

    private readonly Dictionary<NodeId, (bool IsComplete, int AgeSeconds)> _marks = [];
    private readonly Dictionary<NodeId, (int Failures, int Busy)> _failed = [];
    private int _endless;

    /// <summary>
    /// The age that the most of the others agree on, in seconds: of one that lies, neither a high one nor a low one counts.
    /// </summary>
    public int AgeSeconds
    {
        get
        {
            var ages = _marks.Values.Select(static mark => mark.AgeSeconds).Order().ToArray();
            return ages.Length == 0 ? 0 : ages[(ages.Length - 1) / 2];
        }
    }

    /// <summary>How long the present source may give.</summary>
    public TimeSpan TakeLimit => _marks.Count > 1 ? FirstTakeLimit * (1L << Math.Min(_endless, 20)) : TimeSpan.MaxValue;

    /// <summary>A new hello: its marks are to come.</summary>
    public void Begin() => _marks.Clear();

    /// <summary>The node has all: what failed before does not count any more.</summary>
    public void End()
    {
        _endless = 0;
        _failed.Clear();
    }

    /// <summary>The source was asked, and this came of it.</summary>
    public void OnAsked(NodeId source, StateAskEnd end)
    {
        var (failures, busy) = _failed.GetValueOrDefault(source);
        switch (end)
        {
            case StateAskEnd.Gave or StateAskEnd.Left:
                _failed.Remove(source);
                return;
            case StateAskEnd.Undecodable or StateAskEnd.NoMemory:
                // The fault of this node: without the source, it would take itself for complete.
                return;
            case StateAskEnd.Busy:
                busy++;
                break;
            default:
                failures++;
                break;
        }

        _endless += end == StateAskEnd.Endless ? 1 : 0;
        _failed[source] = (failures, busy);
    }

    /// <summary>Forgets those that are not there any more.</summary>
    public void Keep(SubscriberSet members)
    {
        foreach (var node in _failed.Keys.Where(node => !members.Contains(node)).ToArray())
        {
            _failed.Remove(node);
        }
    }

    /// <summary>The first of those that answered: when no node is complete, it takes from each. Null if none has answered.</summary>
    public NodeId? First => _marks.Count == 0 ? null : _marks.Keys.Min(SubscriberSet.Order);

    public void OnMark(NodeId from, bool isComplete, int ageSeconds) => _marks[from] = (isComplete, ageSeconds);

    /// <param name="self">The node that joins.</param>
    /// <param name="members">The subscribers, this node included.</param>
    /// <param name="waited">The time since the hello.</param>
    /// <param name="attempts">The number of hellos in a row, this one included.</param>
    public (StateChoiceStep Step, NodeId[] Sources) Decide(NodeId self, SubscriberSet members, TimeSpan waited, int attempts)
    {
        var complete = new List<NodeId>();
        int missing = 0;
        foreach (var node in members.Nodes)
        {
            if (node == self)
            {
                continue;
            }

            if (!_marks.TryGetValue(node, out var mark))
            {
                missing++;
            }
            else if (mark.IsComplete)
            {
                complete.Add(node);
            }
        }

        if (complete.Count > 0 && (missing == 0 || waited >= MarkLimit))
        {
            // Not all ask the same one, and not the same one again.
            return (StateChoiceStep.Take, [complete[(int)((self.Id + (ulong)attempts) % (ulong)complete.Count)]]);
        }

        if (complete.Count > 0 || (missing > 0 && waited < LongMarkLimit))
        {
            return (StateChoiceStep.Wait, []);
        }

        return IsFirst(self, members, attempts)
            ? (StateChoiceStep.Take, [.. members.Nodes.ToArray().Where(node => node != self && MayGive(node))])
            : (StateChoiceStep.Pause, []);
    }

    // One that has not answered would not give either.
    private bool MayGive(NodeId node) => _marks.ContainsKey(node) && !IsGivenUp(node);

    private bool IsGivenUp(NodeId node) =>
        _failed.TryGetValue(node, out var failed) && (failed.Failures >= MostFailures || failed.Busy >= MostBusy);

    // Whether this node takes from each, when no node is complete: the first of those that answer, and after more and more attempts each
    // that follows, since the first ones may never be complete.
    private bool IsFirst(NodeId self, SubscriberSet members, int attempts)
    {
        int before = 0;
        foreach (var node in members.Nodes)
        {
            if (node == self)
            {
                return before <= attempts / AttemptsOfOne;
            }

            before += _marks.ContainsKey(node) ? 1 : 0;
        }

        return false;
    }
}
