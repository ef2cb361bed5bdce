using System.Globalization;
using QuickSilver.Groups;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Groups;

// One seed of campaign GroupStates: the lives of three to seven nodes join a group with a state, send messages in all orders, and are
// killed and come back. A life that joins gets the state of another one, and what follows it (I16). In the end all have the same.
internal sealed class GroupStateRun(ulong seed)
{
    private const string Name = "books";
    private const FaultKinds Kinds = FaultKinds.Common | FaultKinds.Restart | FaultKinds.Slowness | FaultKinds.BlackHole;
    private const int MostPadding = 3_000;

    private static readonly GroupOrder[] Orders = Enum.GetValues<GroupOrder>();

    private readonly List<ListState> _states = [];
    private readonly Dictionary<int, ListState> _live = [];
    private bool _isOver;
    private int _opened;

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
            Faults = new FaultPlan { Kinds = Kinds },
        });
        try
        {
            cluster.Start(LiveAsync);
            cluster.RunFaults();
            _isOver = true;
            cluster.Eventually("all members are in one view and have one state", () => AreSame(cluster), TimeSpan.FromMinutes(2));
        }
        catch (Exception exception) when (exception is SimulationException or Xunit.Sdk.XunitException)
        {
            throw new SimulationException($"Seed {seed}: {exception.Message}\n{Differences(cluster)}\n{cluster.Faults}", exception);
        }

        return string.Create(
            CultureInfo.InvariantCulture,
            $"seed {seed}: {_states.Count} lives, {_opened} opened, {_states.Sum(static one => one.Reads)} states read, "
            + $"{_states.Sum(static one => one.Messages)} messages, {_states.Count(static one => one.HasGap)} with gaps, "
            + $"{cluster.TraceHash:x16}");
    }

    private bool AreSame(SimulatedCluster cluster)
    {
        var live = Live(cluster);
        if (live.Count < cluster.Nodes.Count(static node => node.IsUp)
            || live.Exists(one => one.View?.Number != live[0].View?.Number || one.View?.Members.Count != live.Count))
        {
            return false;
        }

        // With more failures at once than replicas, members may differ, and know it.
        return live.Exists(static one => one.HasGap) || live.TrueForAll(one => one.Text == live[0].Text);
    }

    private List<ListState> Live(SimulatedCluster cluster) =>
    [
        .. cluster.Nodes.Where(node => node.IsUp && _live.TryGetValue(node.Number, out var one) && one.End is null)
            .Select(node => _live[node.Number]),
    ];

    private string Differences(SimulatedCluster cluster)
    {
        var live = Live(cluster);
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

    private async Task LiveAsync(SimulatedNode node)
    {
        var pause = node.Random.Next(3) == 0 ? TimeSpan.FromMilliseconds(2) : TimeSpan.Zero;
        var state = new ListState(node, pause);
        _states.Add(state);
        _live[node.Number] = state;
        IGroup<string> group;
        try
        {
            group = await node.Node.OpenGroupAsync(Name, state);
        }
        catch (Exception exception) when (exception is NodeExpelledException or ObjectDisposedException)
        {
            return;
        }

        _opened++;
        var interval = TimeSpan.FromMilliseconds(node.Random.Next(2, 20));
        for (int number = 0; !_isOver; number++)
        {
            var order = Orders[node.Random.Next(Orders.Length)];
            try
            {
                int padding = node.Random.Next(20) == 0 ? node.Random.Next(MostPadding) : 0;
                await group.SendAsync(SentMessage.TextOf(number, order, state.Messages, padding), order);
            }
            catch (Exception exception) when (exception is NodeExpelledException or ObjectDisposedException)
            {
                return;
            }

            await Task.Delay(2 * node.Random.NextDouble() * interval, node.Time);
        }
    }
}
