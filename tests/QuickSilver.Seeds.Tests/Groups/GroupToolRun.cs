using System.Globalization;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One seed of campaign GroupTools: nodes fail and come back, one at a time, while all of them use the tools.
internal sealed class GroupToolRun(ulong seed)
{
    private const int Rounds = 6;

    private readonly ToolLedger _ledger = new();
    private readonly Dictionary<int, ToolMember> _members = [];
    private bool _isOver;

    /// <summary>What happened, the same each time. Throws if what the tools promise did not hold.</summary>
    public string Check()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions
        {
            Nodes = 3 + (int)(seed % 3),
            Seed = seed,
            Membership = MembershipPlacement.Dedicated,
            Link = (seed % 3) switch
            {
                0 => new LinkModel { Loss = 0.02 },
                1 => new LinkModel { Jitter = TimeSpan.FromMilliseconds(5), Reorder = 0.05 },
                _ => new LinkModel(),
            },
        });
        try
        {
            Play(cluster);
        }
        catch (Exception exception) when (exception is SimulationException or Xunit.Sdk.XunitException)
        {
            throw new SimulationException($"Seed {seed}: {exception.Message}\n{cluster.Faults}", exception);
        }

        return string.Create(
            CultureInfo.InvariantCulture,
            $"seed {seed}: {_ledger.Added} counted and {_ledger.Unknown} unknown, {_ledger.Holds} holds, {_ledger.Done.Count} jobs done, "
            + $"{cluster.TraceHash:x16}");
    }

    private void Play(SimulatedCluster cluster)
    {
        cluster.Start(LiveAsync);
        AwaitOpen(cluster);
        for (int round = 0; round < Rounds; round++)
        {
            Run(cluster, 300);
            // At least two stay: the state is theirs.
            var victim = cluster.Nodes[cluster.Random.Next(cluster.Nodes.Count)];
            victim.Crash(silently: cluster.Random.Next(2) == 0);
            Run(cluster, cluster.Random.Next(2) == 0 ? 100 : 6_000);
            cluster.Heal();
            AwaitOpen(cluster);
            var (holds, added, done) = (_ledger.Holds, _ledger.Added, _ledger.Done.Count);
            cluster.Eventually(
                "the tools continue", () => _ledger.Holds > holds && _ledger.Added > added && _ledger.Done.Count > done);
        }

        _isOver = true;
        var members = _members.Values.ToArray();
        cluster.Eventually("all have the same count", () => members.Select(static one => one.Count).Distinct().Count() == 1);
        cluster.Eventually("all jobs are done", () => _ledger.Jobs.IsSubsetOf(_ledger.Done), TimeSpan.FromMinutes(2));
        cluster.Run(TimeSpan.FromSeconds(1));
        Assert.InRange(members[0].Count, _ledger.Added, _ledger.Added + _ledger.Unknown);
        Assert.Single(members, static one => one.IsLeader);
    }

    private void Run(SimulatedCluster cluster, int milliseconds)
    {
        for (int i = 0; i < 10; i++)
        {
            cluster.Run(cluster.Random.NextDouble() * TimeSpan.FromMilliseconds(milliseconds / 5));
            Assert.InRange(_members.Values.Count(static one => one.IsLeader), 0, 1);
        }
    }

    private void AwaitOpen(SimulatedCluster cluster) => cluster.Eventually(
        "all members have the tools open",
        () => cluster.Nodes.All(node => _members.GetValueOrDefault(node.Number) is { IsLive: true, IsOpen: true }),
        TimeSpan.FromMinutes(1));

    private Task LiveAsync(SimulatedNode node)
    {
        var member = new ToolMember(node, _ledger);
        _members[node.Number] = member;
        return member.Live(() => _isOver);
    }
}
