using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.Infrastructure;

// A group on a simulated cluster: every life of every node joins it, sends messages in all orders while the run lasts, and keeps its log.
internal sealed class GroupRun
{
    private const string Name = "orders";

    private readonly SimulatedCluster _cluster;
    private readonly GroupOrder[] _orders;
    private readonly List<MemberLog> _logs = [];
    private readonly Dictionary<int, MemberLog> _live = [];
    private bool _isOver;

    public GroupRun(SimulatedCluster cluster, params GroupOrder[] orders)
    {
        _cluster = cluster;
        _orders = orders;
    }

    public IReadOnlyList<MemberLog> Logs => _logs;

    /// <summary>The mean time between two messages of a node.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromMilliseconds(10);

    public void Start() => _cluster.Start(LiveAsync);

    /// <summary>Nothing more is sent. All members that are up come to one view and have the same in it.</summary>
    public void End()
    {
        _isOver = true;
        _cluster.Eventually("all members are in one view and have the same of it", AreSame, TimeSpan.FromMinutes(1));
        GroupChecks.All(_logs);
    }

    private bool AreSame()
    {
        var lasts = new List<ViewLog>();
        foreach (var node in _cluster.Nodes)
        {
            if (node.IsUp && (!_live.TryGetValue(node.Number, out var log) || log.Last is not { } last || log.End is not null
                || (lasts.Count > 0 && (last.View.Number != lasts[0].View.Number || last.Messages.Count != lasts[0].Messages.Count))))
            {
                return false;
            }

            if (node.IsUp)
            {
                lasts.Add(_live[node.Number].Last!);
            }
        }

        return lasts.Count == 0
            || (lasts[0].View.Members.Count == lasts.Count && lasts.TrueForAll(view => view.Ordered.SequenceEqual(lasts[0].Ordered)));
    }

    private async Task LiveAsync(SimulatedNode node)
    {
        var log = new MemberLog(node.Node.Id, node.Number, node.Lives);
        var group = await node.Node.OpenGroupAsync<string>(Name, new GroupOptions { ReaderCapacity = 1 << 20 });
        group.SubscribeInline((in GroupEvent<string> one) => log.Add(one), _ => log.AddGap(), end => log.End = end);
        _logs.Add(log);
        _live[node.Number] = log;
        for (int number = 0; !_isOver; number++)
        {
            var order = _orders[node.Random.Next(_orders.Length)];
            try
            {
                await group.SendAsync(SentMessage.TextOf(number, order), order);
            }
            catch (Exception exception) when (exception is NodeExpelledException or ObjectDisposedException)
            {
                return;
            }

            await Task.Delay(2 * node.Random.NextDouble() * Interval, node.Time);
        }
    }
}
