using QuickSilver.Endpoints.Changes;

namespace QuickSilver.States.Joining;

// The nodes that said hello, as a node sees them that may be asked to give what it has. It gives when it has the marks of all that were
// there when it got the hello: what they sent before their marks it has, and what they send afterwards goes to the other node as well. A
// node that left sends nothing more, and what it sent is forwarded when it comes late (StateSync). So is what a node sends that does not
// answer in time.
//
// Only a node itself says that it joins, and with which number, so a member cannot make up nodes that join, or a number of another one.
// Messages of different nodes come in any order: a mark may come before its hello. Then it is kept with those of its sender, of which each
// has a few. A joiner whose mark was dropped is given to without it, a little later. Core thread only.
internal sealed class StateJoins(NodeId self)
{
    /// <summary>Of one sender, the number of marks that are kept until their hellos come. The oldest give way.</summary>
    public const int MostEarly = 64;
    /// <summary>A node begins to give to the same one no more often than this: each time costs a copy of all references.</summary>
    public static readonly TimeSpan GivingPause = TimeSpan.FromSeconds(1);
    /// <summary>A hello is forgotten after this time: its sender has sent another one or is complete.</summary>
    public static readonly TimeSpan KeptFor = TimeSpan.FromMinutes(1);
    /// <summary>
    /// A node that does not answer a hello keeps others no longer than this from joining. Half of the time for which a joiner waits in
    /// silence.
    /// </summary>
    public static readonly TimeSpan MarkLimit = TimeSpan.FromSeconds(1.5);

    // Those that joined within KeptFor, so at most as many as the cluster admitted meanwhile.
    private readonly Dictionary<NodeId, Join> _joins = [];
    private readonly List<Join> _waiting = [];
    private readonly Dictionary<NodeId, Queue<(NodeId Joiner, long Number)>> _early = [];
    // How many of the joins lack the mark of a node.
    private readonly Dictionary<NodeId, int> _lacking = [];

    private sealed class Join(NodeId node, long number, TimeSpan since)
    {
        public NodeId Node { get; } = node;

        public long Number { get; } = number;

        public TimeSpan Since { get; } = since;

        /// <summary>Those that were there when the hello came, and have sent no mark.</summary>
        public HashSet<NodeId> Unmarked { get; } = [];

        public int Box { get; init; }

        public bool WantsAll { get; set; }

        public TimeSpan AskedAt { get; set; }

        public TimeSpan? GivenAt { get; set; }
    }

    public bool IsAnyWaiting => _waiting.Count > 0;

    /// <summary>The number of nodes whose hellos are remembered, and of marks that came before their hellos.</summary>
    public (int Joins, int Early) Remembered => (_joins.Count, _early.Sum(static one => one.Value.Count));

    public void OnHello(NodeId from, long number, int box, SubscriberSet members, TimeSpan now)
    {
        var before = _joins.GetValueOrDefault(from);
        if (before is not null && before.Number >= number)
        {
            return;
        }

        ForgetOld(now);
        Remove(before);
        var join = new Join(from, number, now) { Box = box, GivenAt = before?.GivenAt };
        _joins.Add(from, join);
        foreach (var node in members.Nodes)
        {
            if (node != from && node != self && !IsEarly(node, from, number) && join.Unmarked.Add(node))
            {
                _lacking[node] = _lacking.GetValueOrDefault(node) + 1;
            }
        }
    }

    public void OnMark(NodeId from, NodeId joiner, long number)
    {
        if (_joins.TryGetValue(joiner, out var join))
        {
            // One that answers a later hello had the earlier one as well.
            if (number >= join.Number && join.Unmarked.Remove(from))
            {
                NoLongerLacks(from);
            }

            if (number <= join.Number)
            {
                return;
            }
        }

        if (!_early.TryGetValue(from, out var early))
        {
            _early.Add(from, early = new Queue<(NodeId Joiner, long Number)>());
        }

        if (early.Count >= MostEarly)
        {
            early.Dequeue();
        }

        early.Enqueue((joiner, number));
    }

    /// <summary>The node asks this one to give, as soon as it can.</summary>
    public void OnAsk(NodeId from, long number, TimeSpan now)
    {
        if (_joins.TryGetValue(from, out var join) && join.Number == number && !join.WantsAll)
        {
            join.WantsAll = true;
            join.AskedAt = now;
            _waiting.Add(join);
        }
    }

    /// <summary>Those to whom this node can give now, each once, in the order of their ids.</summary>
    public IReadOnlyList<(NodeId Node, int Box, long Number)> TakeReady(TimeSpan now)
    {
        List<(NodeId Node, int Box, long Number)>? ready = null;
        for (int i = _waiting.Count - 1; i >= 0; i--)
        {
            var join = _waiting[i];
            if ((join.Unmarked.Count == 0 || now - join.AskedAt >= MarkLimit)
                && (join.GivenAt is not { } given || now - given >= GivingPause))
            {
                join.WantsAll = false;
                join.GivenAt = now;
                _waiting.RemoveAt(i);
                (ready ??= []).Add((join.Node, join.Box, join.Number));
            }
        }

        ready?.Sort(static (a, b) => SubscriberSet.Order.Compare(a.Node, b.Node));
        return ready ?? [];
    }

    /// <summary>
    /// Whether another node has said hello and has no mark of this node: what the node sent before that may not get there.
    /// </summary>
    public bool IsUnmarked(NodeId node) => _lacking.ContainsKey(node);

    /// <summary>Forgets those that are not there any more.</summary>
    public void Keep(SubscriberSet members)
    {
        foreach (var join in _joins.Values.Where(join => !members.Contains(join.Node)).ToArray())
        {
            Remove(join);
        }

        foreach (var node in _lacking.Keys.Where(node => !members.Contains(node)).ToArray())
        {
            _lacking.Remove(node);
            foreach (var (_, join) in _joins)
            {
                join.Unmarked.Remove(node);
            }
        }

        foreach (var node in _early.Keys.Where(node => !members.Contains(node)).ToArray())
        {
            _early.Remove(node);
        }
    }

    private bool IsEarly(NodeId node, NodeId joiner, long number)
    {
        if (!_early.TryGetValue(node, out var early))
        {
            return false;
        }

        foreach (var mark in early)
        {
            if (mark.Joiner == joiner && mark.Number >= number)
            {
                return true;
            }
        }

        return false;
    }

    private void ForgetOld(TimeSpan now)
    {
        foreach (var join in _joins.Values.Where(join => now - join.Since >= KeptFor && !join.WantsAll).ToArray())
        {
            Remove(join);
        }
    }

    private void Remove(Join? join)
    {
        if (join is null)
        {
            return;
        }

        _joins.Remove(join.Node);
        _waiting.Remove(join);
        foreach (var node in join.Unmarked)
        {
            NoLongerLacks(node);
        }
    }

    private void NoLongerLacks(NodeId node)
    {
        if (--_lacking[node] == 0)
        {
            _lacking.Remove(node);
        }
    }
}
