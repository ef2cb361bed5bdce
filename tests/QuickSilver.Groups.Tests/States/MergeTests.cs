using System.IO.Pipelines;
using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests.States;

// A network that is divided where nodes host the service: each part continues with the group, and afterwards the members of one part join
// that of the other with what they have.
public sealed class MergeTests
{
    private const string Name = "cart";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void What_both_parts_of_a_divided_network_have_added_is_in_the_state_afterwards(ulong seed)
    {
        using var cluster = new SimulatedCluster(
            new SimulationOptions { Nodes = 4, Seed = seed, Membership = MembershipPlacement.Embedded });
        cluster.Start();
        Cart[] carts = [.. cluster.Nodes.Select(_ => new Cart())];
        foreach (var node in cluster.Nodes)
        {
            var cart = carts[node.Number];
            node.Post(async () => cart.Group = await node.Node.OpenGroupAsync(Name, cart));
        }

        cluster.Eventually("one group", () => carts.All(static cart => cart.Members == 4), 120 * Second);
        Add(cluster, carts, "before");
        cluster.Eventually("all have it", () => carts.All(static cart => cart.Items.Count == 4));

        cluster.Network.Partition([0, 1], [2, 3]);
        cluster.Eventually("both parts continue", () => carts.All(static cart => cart.Members == 2), 120 * Second);
        Add(cluster, carts, "divided");
        cluster.Eventually("each part has its own", () => carts.All(static cart => cart.Items.Count == 6));

        cluster.Heal();
        cluster.Eventually("one group", () => carts.All(static cart => cart.Members == 4), 120 * Second);
        cluster.Eventually("all have what both have added", () => carts.All(static cart => cart.Items.Count == 8));
        Add(cluster, carts, "after");
        cluster.Eventually("all have all", () => carts.All(static cart => cart.Items.Count == 12));
        Assert.All(carts, cart => Assert.Equal(carts[0].Items, cart.Items));
        Assert.Contains(carts, static cart => cart.Merged > 0);
    }

    private static void Add(SimulatedCluster cluster, Cart[] carts, string item)
    {
        foreach (var node in cluster.Nodes)
        {
            node.Post(() => carts[node.Number].Group!.SendAsync($"{item} {node.Number}").AsTask());
        }
    }

    private sealed class Cart : IGroupHandler<string>
    {
        public IGroup<string>? Group { get; set; }

        public SortedSet<string> Items { get; private set; } = new(StringComparer.Ordinal);

        public int Members { get; private set; }

        public int Merged { get; private set; }

        public ValueTask OnEventAsync(GroupEvent<string> one, CancellationToken cancellationToken)
        {
            Members = one.View.Members.Count;
            if (one.TryGetMessage(out string? item))
            {
                Items.Add(item);
            }

            return ValueTask.CompletedTask;
        }

        public async ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken)
        {
            await using var writer = new StreamWriter(to.AsStream());
            await writer.WriteAsync(string.Join('\n', Items));
        }

        public async ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken)
        {
            using var reader = new StreamReader(from.AsStream());
            string text = await reader.ReadToEndAsync(cancellationToken);
            var theirs = new SortedSet<string>(text.Split('\n', StringSplitOptions.RemoveEmptyEntries), StringComparer.Ordinal);
            string[] lacking = [.. Items.Where(item => !theirs.Contains(item))];
            (Items, Members) = (theirs, view.Members.Count);
            foreach (string item in lacking)
            {
                Merged++;
                await Group!.SendAsync(item, cancellationToken);
            }
        }
    }
}
