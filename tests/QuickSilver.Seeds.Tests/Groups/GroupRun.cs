using System.Globalization;
using QuickSilver.Groups;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One seed of campaign Groups: a group of three to seven nodes, of which each life joins, sends messages of several sizes in all orders
// while the faults last, and keeps its log. Some read at once, others slowly.
internal sealed class GroupRun(ulong seed)
{
    private const string Name = "orders";
    private const FaultKinds Kinds = FaultKinds.Common | FaultKinds.Restart | FaultKinds.Slowness | FaultKinds.MulticastLoss
        | FaultKinds.RepairDeafness | FaultKinds.Replay | FaultKinds.BlackHole;
    private const int MostPadding = 3_000;

    private static readonly GroupOrder[] Orders = Enum.GetValues<GroupOrder>();

    private readonly List<MemberLog> _logs = [];
    private readonly Dictionary<int, MemberLog> _live = [];
    private bool _isOver;

    /// <summary>What happened, the same each time. Throws if what a group promises did not hold.</summary>
    public string Check()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 3 + (int)(seed % 5),
            Seed = seed,
            Link = (seed % 3) switch
            {
                0 => new LinkModel { Loss = 0.05 },
                1 => new LinkModel { Jitter = TimeSpan.FromMilliseconds(5), Reorder = 0.05 },
                _ => new LinkModel(),
            },
            Faults = new FaultPlan { Kinds = Kinds },
        });
        try
        {
            cluster.Start(LiveAsync);
            cluster.RunFaults();
            _isOver = true;
            cluster.Eventually("all members are in one view and have got the same of it", () => AreSame(cluster), TimeSpan.FromMinutes(2));
            GroupChecks.All(_logs);
        }
        catch (Exception exception) when (exception is SimulationException or Xunit.Sdk.XunitException)
        {
            throw new SimulationException($"Seed {seed}: {exception.Message}\n{cluster.Faults}", exception);
        }

        return string.Create(
            CultureInfo.InvariantCulture,
            $"seed {seed}: {_logs.Count} lives, {_logs.Sum(static log => log.Views.Count)} views, "
            + $"{_logs.Sum(static log => log.Messages)} messages, "
            + $"{_logs.Count(static log => log.Views.Any(static view => view.HasGap))} with gaps, {cluster.TraceHash:x16}");
    }

    private bool AreSame(SimulatedCluster cluster)
    {
        ViewLog? first = null;
        int members = 0;
        foreach (var node in cluster.Nodes)
        {
            if (!node.IsUp)
            {
                continue;
            }

            if (!_live.TryGetValue(node.Number, out var log) || log.Last is not { } last || log.End is not null)
            {
                return false;
            }

            members++;
            first ??= last;
            if (last.View.Number != first.View.Number || last.Messages.Count != first.Messages.Count)
            {
                return false;
            }
        }

        return first is null || first.View.Members.Count == members;
    }

    private async Task LiveAsync(SimulatedNode node)
    {
        bool isSlow = node.Random.Next(4) == 0;
        var options = new GroupOptions { ReaderCapacity = isSlow ? 16 : 1 << 20 };
        var group = await node.Node.OpenGroupAsync<string>(Name, options);
        var log = new MemberLog(node.Node.Id, node.Number, node.Lives);
        _logs.Add(log);
        _live[node.Number] = log;
        if (isSlow)
        {
            node.Post(() => ReadAsync(node, group, log));
        }
        else
        {
            group.SubscribeInline((in GroupEvent<string> one) => log.Add(one), _ => log.AddGap(), end => log.End = end);
        }

        var interval = TimeSpan.FromMilliseconds(node.Random.Next(1, 20));
        for (int number = 0; !_isOver; number++)
        {
            var order = Orders[node.Random.Next(Orders.Length)];
            try
            {
                int padding = node.Random.Next(20) == 0 ? node.Random.Next(MostPadding) : 0;
                await group.SendAsync(SentMessage.TextOf(number, order, log.Messages, padding), order);
            }
            catch (Exception exception) when (exception is NodeExpelledException or ObjectDisposedException)
            {
                return;
            }

            await Task.Delay(2 * node.Random.NextDouble() * interval, node.Time);
        }
    }

    private async Task ReadAsync(SimulatedNode node, IGroup<string> group, MemberLog log)
    {
        try
        {
            await foreach (var one in group.ReadAllAsync(_ => log.AddGap()))
            {
                log.Add(one);
                if (!_isOver)
                {
                    await Task.Delay(node.Random.NextDouble() * TimeSpan.FromMilliseconds(5), node.Time);
                }
            }
        }
        catch (NodeExpelledException exception)
        {
            log.End = new SubscriptionEnd(SubscriptionEndReason.NodeExpelled, exception);
        }
    }
}
