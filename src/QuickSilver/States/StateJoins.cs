using QuickSilver.Endpoints.Changes;

namespace QuickSilver.States;

// The nodes that said hello, as a node sees them that may be asked to give what it has. It gives when it has the marks of all that were
// there when it got the hello: what they sent before their marks it has, and what they send afterwards goes to the other node as well. A
// node that left sends nothing more, and what it sent is forwarded when it comes late (StateSync). So is what a node sends that does not
// answer in time.
//
// Messages of different nodes come in any order, so a mark may come before the hello. Core thread only.
internal sealed class StateJoins
{
    private const int MaxJoins = 1024;
    // A node that does not answer a hello does not keep others from joining. Half of the time for which a joiner waits in silence.
    private static readonly TimeSpan MarkLimit = TimeSpan.FromSeconds(1.5);

    private readonly Dictionary<NodeId, Join> _joins = [];

    private sealed class Join(long number)
    {
        public long Number { get; } = number;

        public HashSet<NodeId> Marked { get; } = [];

        /// <summary>Those that were there when the hello came; null before.</summary>
        public SubscriberSet? Asked { get; set; }

        public int Box { get; set; }

        public bool WantsAll { get; set; }

        public TimeSpan AskedAt { get; set; }
    }

    public bool IsAnyWaiting
    {
        get
        {
            foreach (var (_, join) in _joins)
            {
                if (join.WantsAll)
                {
                    return true;
                }
            }

            return false;
        }
    }

    public void OnHello(NodeId from, long number, int box, SubscriberSet members)
    {
        if (Of(from, number) is { } join)
        {
            join.Asked ??= members;
            join.Box = box;
        }
    }

    public void OnMark(NodeId from, NodeId joiner, long number) => Of(joiner, number)?.Marked.Add(from);

    /// <summary>The node asks this one to give, as soon as it can.</summary>
    public void OnAsk(NodeId from, long number, TimeSpan now)
    {
        if (Of(from, number) is { } join)
        {
            join.WantsAll = true;
            join.AskedAt = now;
        }
    }

    /// <summary>Those to whom this node can give now, each once, in the order of their ids.</summary>
    public IReadOnlyList<(NodeId Node, int Box, long Number)> TakeReady(NodeId self, SubscriberSet members, TimeSpan now)
    {
        List<(NodeId Node, int Box, long Number)>? ready = null;
        foreach (var (node, join) in _joins)
        {
            if (join.WantsAll && join.Asked is not null
                && (now - join.AskedAt >= MarkLimit || HasAll(node, join, self, members)))
            {
                join.WantsAll = false;
                (ready ??= []).Add((node, join.Box, join.Number));
            }
        }

        ready?.Sort(static (a, b) => SubscriberSet.Order.Compare(a.Node, b.Node));
        return ready ?? [];
    }

    /// <summary>
    /// Whether somebody has said hello and has no mark of this node: what the node sent before that may not get there.
    /// </summary>
    public bool IsUnmarked(NodeId node)
    {
        foreach (var (joiner, join) in _joins)
        {
            if (joiner != node && join.Asked is not null && join.Asked.Contains(node) && !join.Marked.Contains(node))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Forgets those that are not there any more.</summary>
    public void Keep(SubscriberSet members)
    {
        foreach (var node in _joins.Keys.ToArray())
        {
            if (!members.Contains(node))
            {
                _joins.Remove(node);
            }
        }
    }

    private static bool HasAll(NodeId joiner, Join join, NodeId self, SubscriberSet members)
    {
        foreach (var node in join.Asked!.Nodes)
        {
            if (node != joiner && node != self && !join.Marked.Contains(node) && members.Contains(node))
            {
                return false;
            }
        }

        return true;
    }

    // The newest number of a node counts. Null if the number is older, or there are too many nodes.
    private Join? Of(NodeId node, long number)
    {
        if (_joins.TryGetValue(node, out var join) && join.Number >= number)
        {
            return join.Number == number ? join : null;
        }

        if (join is null && _joins.Count >= MaxJoins)
        {
            return null;
        }

        return _joins[node] = new Join(number);
    }
}
