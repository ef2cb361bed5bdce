using System.Globalization;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One seed of campaign GroupStates: the lives of three to seven nodes join a group with a state, send messages in all orders, and are
// killed and come back. A life that joins gets the state of another one, and what follows it (I16). Then come rounds: in each, members send
// bursts, some fail or leave within them, and those that come back get the state while others fail. After each all have the same.
internal sealed class GroupStateRun(ulong seed)
{
    private const string Name = "books";
    private const FaultKinds Kinds = FaultKinds.Common | FaultKinds.Restart | FaultKinds.Slowness | FaultKinds.BlackHole;
    private const int Rounds = 6;
    private const int MostOfBurst = 12;

    private static readonly TimeSpan LongestStart = TimeSpan.FromMilliseconds(600);

    private readonly List<ListState> _states = [];
    private readonly Dictionary<int, StateMember> _members = [];
    private bool _isOver;

    /// <summary>What happened, the same each time. Throws if what a group with a state promises did not hold.</summary>
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
        }
        catch (Exception exception) when (exception is SimulationException or Xunit.Sdk.XunitException)
        {
            throw new SimulationException($"Seed {seed}: {exception.Message}\n{Differences(cluster)}\n{cluster.Faults}", exception);
        }

        return string.Create(
            CultureInfo.InvariantCulture,
            $"seed {seed}: {_states.Count} lives, {_states.Count(static one => one.IsOpened)} opened, "
            + $"{_states.Sum(static one => one.Reads)} states read, {_states.Sum(static one => one.Messages)} messages, "
            + $"{_states.Count(static one => one.HasGap)} with gaps, {cluster.TraceHash:x16}");
    }

    private void Play(SimulatedCluster cluster, Strikes strikes)
    {
        if (cluster.Random.Next(4) == 0)
        {
            int leaver = cluster.Random.Next(cluster.Nodes.Count);
            cluster.Nodes[leaver].Post(_members[leaver].Reopen);
        }

        strikes.Run();
        cluster.Heal();
        if (cluster.Random.Next(2) == 0)
        {
            // While those that have come back seek the state.
            cluster.Run(cluster.Random.NextDouble() * LongestStart);
            strikes.Run();
            cluster.Heal();
        }

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
        }
    }

    private void AwaitSame(SimulatedCluster cluster) =>
        cluster.Eventually("all members are in one view and have one state", () => AreSame(cluster), TimeSpan.FromMinutes(2));

    private bool AreSame(SimulatedCluster cluster)
    {
        ListState? first = null;
        foreach (var node in cluster.Nodes)
        {
            if (!node.IsJoined || !_members.TryGetValue(node.Number, out var member) || !member.IsIdle
                || member.State is not { End: null, View: { } view } state || view.Members.Count != cluster.Nodes.Count)
            {
                return false;
            }

            first ??= state;
            if (view.Number != first.View!.Number || state.Lines != first.Lines)
            {
                return false;
            }
        }

        return _members.Values.All(one => one.State!.Text == first!.Text && one.State.HasOwn);
    }

    // The oldest member of the newest view.
    private int? OrdererOf(SimulatedCluster cluster)
    {
        var newest = _members.Values.Select(static member => member.State?.View).MaxBy(static view => view?.Number ?? 0);
        return cluster.Nodes.FirstOrDefault(node => node.IsJoined && node.Node.Id == newest?.Members[0])?.Number;
    }

    private string Differences(SimulatedCluster cluster)
    {
        ListState[] live = [.. cluster.Nodes.Where(static node => node.IsUp)
            .Select(node => _members.GetValueOrDefault(node.Number)?.State).OfType<ListState>()];
        string text = string.Join(
            '\n', live.Select(static one => $"{one.View}, {one.Text.Length} characters, {one.Reads} reads, {one.End}"));
        foreach (var one in live.Skip(1))
        {
            string[] first = live[0].Text.Split('\n'), second = one.Text.Split('\n');
            int at = first.Zip(second).TakeWhile(static pair => pair.First == pair.Second).Count();
            text += $"\nline {at}: {Cut(first, at)} | {Cut(second, at)}";
        }

        return text + "\n" + string.Join('\n', cluster.Nodes.Where(static node => node.IsJoined).Select(
            static node => $"{node}: {string.Join(" ", node.Node.Status.Reasons)}"));

        static string Cut(string[] lines, int at) => at < lines.Length ? lines[at][..Math.Min(60, lines[at].Length)] : "none";
    }

    private Task LiveAsync(SimulatedNode node)
    {
        var member = new StateMember(node, Name, _states.Add);
        _members[node.Number] = member;
        return member.Live(() => _isOver);
    }
}
