using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Litmus;

// A few nodes in a few groups on a network that loses and delays packets, as a seed draws it. Each node has one log of what all its groups
// deliver, in the order in which its program gets it.
internal sealed class LitmusRun : IDisposable
{
    private readonly SimulatedCluster _cluster;
    private readonly Dictionary<(int Node, string Group), IGroup<string>> _groups = [];
    private readonly Dictionary<(int Node, string Event), Action> _reactions = [];
    private readonly Dictionary<NodeId, int> _numbers;
    private readonly List<string>[] _logs;

    public LitmusRun(ulong seed, int nodes)
    {
        _cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = nodes,
            Seed = seed,
            Link = new LinkModel { Loss = 0.25, Jitter = TimeSpan.FromMilliseconds(2) },
            TopicDelay = TimeSpan.Zero,
        });
        _logs = [.. Enumerable.Range(0, nodes).Select(static _ => new List<string>())];
        _cluster.Start();
        _numbers = _cluster.Nodes.ToDictionary(static node => node.Node.Id, static node => node.Number);
    }

    /// <summary>The nodes join in this order, the first one as the oldest member.</summary>
    public void Join(string group, params int[] nodes)
    {
        foreach (int node in nodes)
        {
            Enter(group, node, _cluster.RunUntilCompleted(_cluster.Nodes[node].Node.OpenGroupAsync<string>(group)));
        }

        _cluster.Eventually("all are in a view", () => nodes.All(node => _logs[node].Contains(ViewOf(group, nodes))));
    }

    /// <summary>The node joins while everything else continues.</summary>
    public void BeginToJoin(string group, int node) =>
        _cluster.Nodes[node].Post(async () => Enter(group, node, await _cluster.Nodes[node].Node.OpenGroupAsync<string>(group)));

    /// <summary>Does this when the node gets the message or the view, in place of what was to be done before.</summary>
    public void When(int node, string what, Action then) => _reactions[(node, what)] = then;

    public void Send(int node, string group, string message, GroupOrder order)
    {
        var sent = _groups[(node, group)].SendAsync(message, order);
        Assert.True(sent.IsCompletedSuccessfully, "The node has no room for one message.");
    }

    public void Crash(int node) => _cluster.Nodes[node].Crash();

    /// <summary>Runs until these nodes have got all of this.</summary>
    public void RunUntil(int[] nodes, params string[] what) =>
        _cluster.Eventually($"{string.Join(" and ", what)} came", () => nodes.All(node => what.All(_logs[node].Contains)));

    /// <summary>Whether the node got both, in this order.</summary>
    public bool IsInOrder(int node, string first, string second)
    {
        int before = _logs[node].IndexOf(first);
        return before >= 0 && before < _logs[node].IndexOf(second);
    }

    public bool Has(int node, string what) => _logs[node].Contains(what);

    public static string ViewOf(string group, params IEnumerable<int> nodes) => $"view of {string.Join(", ", nodes)} in {group}";

    public void Dispose() => _cluster.Dispose();

    private IEnumerable<int> NumbersOf(GroupView view) => view.Members.Select(member => _numbers[member]);

    private void Enter(string group, int node, IGroup<string> membership)
    {
        _groups.Add((node, group), membership);
        membership.SubscribeInline((in GroupEvent<string> one) =>
        {
            string text = one.TryGetMessage(out string? message) ? message : ViewOf(group, NumbersOf(one.View));
            _logs[node].Add(text);
            if (_reactions.Remove((node, text), out var then))
            {
                then();
            }
        });
    }
}
