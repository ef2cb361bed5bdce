namespace QuickSilver.Simulation.Machines;

// Calls of a node to its system.
[Flags]
internal enum SystemCalls
{
    None = 0,

    // A datagram port of the node's own: control, or one that only sends.
    OpenPort = 1,

    // A datagram port that is to receive what is sent to a group: its bind, or its membership.
    OpenGroup = 2,

    Listen = 4,

    // A control stream to another node.
    Connect = 8,

    // A control stream that another node has begun: it waits until the system has room for it.
    Accept = 16,

    // A send of datagrams, which then are lost: EPERM, ENETDOWN. For want of room (ENOBUFS): NodeModel.SendBusyProbability.
    Send = 32,

    All = OpenPort | OpenGroup | Listen | Connect | Accept | Send,
}

// What a node's system refuses, as for want of descriptors or memory, for a port that another process has, or for an interface
// that is gone. Stays over the lives of its node, until it is ended.
internal sealed class SystemRefusals
{
    private sealed record Rule(SystemCalls Calls, double Share, string Reason)
    {
        public int Left { get; set; }
    }

    private readonly List<Rule> _rules = [];

    /// <summary>How many calls were refused so far.</summary>
    public long Count { get; private set; }

    /// <summary>Refuses some calls from now on, beside those that are refused already.</summary>
    /// <param name="calls">Which.</param>
    /// <param name="share">How many of them, 0 to 1.</param>
    /// <param name="atMost">After so many, this rule is over.</param>
    /// <param name="reason">What the system says.</param>
    public void Begin(SystemCalls calls, double share = 1, int atMost = int.MaxValue, string reason = "Too many open files") =>
        _rules.Add(new Rule(calls, LinkModel.Probability(share), reason) { Left = atMost });

    /// <summary>Refuses no more of these calls.</summary>
    public void End(SystemCalls calls = SystemCalls.All)
    {
        for (int i = 0; i < _rules.Count; i++)
        {
            var rule = _rules[i];
            _rules[i] = rule with { Calls = rule.Calls & ~calls };
        }

        _rules.RemoveAll(static rule => rule.Calls == SystemCalls.None);
    }

    /// <summary>Why this call is refused; null: it is not. Draws only for a rule that speaks of the call.</summary>
    public string? Of(SystemCalls call, SeededRandom random)
    {
        foreach (var rule in _rules)
        {
            if ((rule.Calls & call) != 0 && rule.Left > 0 && random.Chance(rule.Share))
            {
                rule.Left--;
                Count++;
                return rule.Reason;
            }
        }

        return null;
    }
}
