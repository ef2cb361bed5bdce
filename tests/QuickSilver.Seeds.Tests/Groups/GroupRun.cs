using System.Globalization;
using QuickSilver.Groups;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One seed of campaign Groups: a group of three to seven nodes, of which each life joins, sends messages while the faults last, and keeps
// its log. In every other seed, the last node sends and is no member. Then come rounds: in each, members send a burst, some fail or leave
// within it, and all that are left must get all of it before the next one begins.
internal sealed class GroupRun(ulong seed)
{
    private const string Name = "orders";
    private const FaultKinds Kinds = FaultKinds.Common | FaultKinds.Restart | FaultKinds.Slowness | FaultKinds.MulticastLoss
        | FaultKinds.RepairDeafness | FaultKinds.Replay | FaultKinds.BlackHole;
    private const int Rounds = 8;
    private const int MostOfBurst = 20;

    private const int MessagesOfSolo = 50;
    private const int RoundsOfQuestions = 2;
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    private static readonly GroupOrder[] Orders = Enum.GetValues<GroupOrder>();

    private readonly List<MemberLog> _logs = [];
    private readonly List<AskedLog> _asked = [];
    private readonly Dictionary<int, GroupMember> _members = [];
    // Null: all nodes are members.
    private Outsider? _outsider;
    private readonly List<string> _wrong = [];
    private bool _isOver;

    // Where it does not, more is known of the orders that must be the same.
    private bool OrderMoves => seed % 4 != 0;

    private int Members => 3 + (int)(seed % 5);

    private bool HasOutsider => seed % 2 == 0;

    /// <summary>What happened, the same each time. Throws if what a group promises did not hold.</summary>
    public string Check()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = Members + (HasOutsider ? 1 : 0),
            Seed = seed,
            Link = (seed % 3) switch
            {
                0 => new LinkModel { Loss = 0.05 },
                1 => new LinkModel { Jitter = TimeSpan.FromMilliseconds(5), Reorder = 0.05 },
                _ => new LinkModel(),
            },
            Faults = new FaultPlan { Kinds = Kinds, Until = TimeSpan.FromSeconds(3) },
        });
        try
        {
            cluster.Start(LiveAsync);
            cluster.RunFaults();
            _isOver = true;
            AwaitSame(cluster);
            var strikes = new Strikes(cluster, () => OrdererOf(cluster), () => Send(cluster));
            for (int round = 0; round < Rounds; round++)
            {
                Play(cluster, strikes);
            }

            for (int round = 0; round < RoundsOfQuestions; round++)
            {
                Ask(cluster);
            }

            _asked.ForEach(static one => one.Check());
            Assert.Empty(_wrong);
            GroupChecks.All(_logs, [.. _members.Values.Select(static member => member.Log!)], OrderMoves);
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

    private void Play(SimulatedCluster cluster, Strikes strikes)
    {
        if (cluster.Random.Next(4) == 0)
        {
            int leaver = cluster.Random.Next(Members);
            cluster.Nodes[leaver].Post(_members[leaver].Reopen);
        }

        if (OrderMoves)
        {
            // The order moves to it before the others send, too, or soon after.
            int soloist = cluster.Random.Next(Members);
            cluster.Nodes[soloist].Post(() => _members[soloist].Solo(MessagesOfSolo));
            cluster.Run((0.5 + cluster.Random.NextDouble()) * MessagesOfSolo * Millisecond);
        }

        strikes.Run();
        cluster.Heal();
        AwaitSame(cluster);
    }

    // All members ask all, and some fail before they have answered, or before they have asked.
    private void Ask(SimulatedCluster cluster)
    {
        foreach (var node in cluster.Nodes.Take(Members))
        {
            var order = Orders[cluster.Random.Next(Orders.Length)];
            node.Post(() => _members[node.Number].Ask(order));
        }

        for (int strikes = cluster.Random.Next(3); strikes > 0 && cluster.Nodes.Count(static node => node.IsUp) > 2; strikes--)
        {
            cluster.Run(cluster.Random.NextDouble() * TimeSpan.FromMilliseconds(cluster.Random.Next(2) == 0 ? 5 : 100));
            var victim = cluster.Nodes[cluster.Random.Next(cluster.Nodes.Count)];
            if (victim.IsUp)
            {
                victim.Crash(silently: cluster.Random.Next(4) == 0);
            }
        }

        cluster.Heal();
        AwaitSame(cluster);
    }

    private void Send(SimulatedCluster cluster)
    {
        bool isLarge = cluster.Random.Next(4) == 0;
        foreach (var node in cluster.Nodes)
        {
            int messages = cluster.Random.Next(MostOfBurst);
            if (node.IsJoined && _members.GetValueOrDefault(node.Number) is { } member)
            {
                node.Post(() => member.Burst(messages, isLarge));
            }
            else if (node.IsJoined && node.Number == Members && _outsider is { } outsider)
            {
                node.Post(() => outsider.Burst(messages));
            }
        }
    }

    private void AwaitSame(SimulatedCluster cluster)
    {
        if (!cluster.RunUntil(() => AreSame(cluster), TimeSpan.FromMinutes(1)))
        {
            throw new SimulationException(
                "It never came to be that all members are in one view and have got the same of it.\n"
                + string.Join('\n', cluster.Nodes.Take(Members).Select(StandingOf)));
        }
    }

    private string StandingOf(SimulatedNode node)
    {
        string status = node.IsJoined ? string.Join("; ", node.Node.Status.Reasons) : "has not joined";
        return !_members.TryGetValue(node.Number, out var member) || member.Log is not { Last: { } last } log
            ? $"{node}: no view; {status}"
            : $"{node}: {log}, {last.View}, {last.Messages.Count} messages{(member.IsIdle ? "" : ", sends")}"
                + $"{(log.HasOwn ? "" : ", lacks own messages")}; {status}";
    }

    private bool AreSame(SimulatedCluster cluster)
    {
        ViewLog? first = null;
        foreach (var node in cluster.Nodes.Take(Members))
        {
            if (!node.IsJoined || !_members.TryGetValue(node.Number, out var member) || !member.IsIdle || member.Log is not { } log
                || log.Self != node.Node.Id || log.Last is not { } last || log.End is not null || !log.HasOwn)
            {
                return false;
            }

            first ??= last;
            if (last.View.Number != first.View.Number || last.Messages.Count != first.Messages.Count)
            {
                return false;
            }
        }

        return first?.View.Members.Count == Members && _outsider?.IsIdle != false;
    }

    // The oldest member of the newest view.
    private int? OrdererOf(SimulatedCluster cluster)
    {
        var newest = _members.Values.Select(static member => member.Log?.Last?.View).MaxBy(static view => view?.Number ?? 0);
        return cluster.Nodes.FirstOrDefault(node => node.IsJoined && node.Node.Id == newest?.Members[0])?.Number;
    }

    private Task LiveAsync(SimulatedNode node)
    {
        if (HasOutsider && node.Number == Members)
        {
            _outsider = new Outsider(node, Name, _wrong.Add);
            return _outsider.Live(() => _isOver);
        }

        var member = new GroupMember(node, Name, OrderMoves, _logs.Add, _asked.Add);
        _members[node.Number] = member;
        return member.Live(() => _isOver);
    }
}
