using System.Net;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Views;

public sealed class NodeRosterTests
{
    private readonly SharedViews _shared = new();

    [Fact]
    public void Followers_of_one_history_have_one_roster_and_it_says_what_a_table_would()
    {
        var random = new Random(17);
        var model = new SortedDictionary<NodeKey, NodeInfo>();
        var followers = Enumerable.Repeat(_shared.NoNodes, 5).ToArray();
        for (int step = 1; step <= 300; step++)
        {
            var (snapshot, joined, removed) = Change(random, model, step);
            for (int i = 0; i < followers.Length; i++)
            {
                // Each has read the change for itself.
                followers[i] = followers[i].After(snapshot, [.. joined.Select(Copy)], [.. removed]);
                Assert.Same(followers[0], followers[i]);
            }

            Assert.Equal(model.Values, followers[0].All.ToArray());
            Assert.All(model.Values, node => Assert.Equal(node, followers[0].Find(node.Key)));
            Assert.All(removed.Where(key => !model.ContainsKey(key)), key => Assert.False(followers[0].Contains(key)));
        }
    }

    [Fact]
    public void Followers_of_histories_that_differ_in_little_get_nothing_of_each_other()
    {
        var both = _shared.NoNodes.After(isSnapshot: true, [Node(1, 1), Node(2, 1), Node(3, 1)], []);
        var one = both.After(isSnapshot: false, [Node(4, 2)], [Key(1)]);
        var other = both.After(isSnapshot: false, [Node(4, 3)], [Key(1)]);
        var third = both.After(isSnapshot: false, [Node(4, 2)], [Key(2)]);
        Assert.Equal([Node(2, 1), Node(3, 1), Node(4, 2)], one.All.ToArray());
        Assert.Equal([Node(2, 1), Node(3, 1), Node(4, 3)], other.All.ToArray());
        Assert.Equal([Node(1, 1), Node(3, 1), Node(4, 2)], third.All.ToArray());
        Assert.Equal([Node(1, 1), Node(2, 1), Node(3, 1)], both.All.ToArray());
    }

    [Fact]
    public void A_snapshot_gives_the_same_roster_as_the_changes()
    {
        var old = _shared.NoNodes.After(isSnapshot: true, [Node(11, 1), Node(12, 1)], []);
        var told = old.After(isSnapshot: false, [Node(13, 2)], []);
        Assert.Same(told, _shared.NoNodes.After(isSnapshot: true, [Node(13, 2), Node(11, 1), Node(12, 1)], []));
    }

    [Fact]
    public void Clusters_share_nothing()
    {
        var one = _shared.NoNodes.After(isSnapshot: true, [Node(1, 1), Node(2, 1)], []);
        var other = new SharedViews().NoNodes.After(isSnapshot: true, [Node(1, 1), Node(2, 1)], []);
        Assert.Equal(one.All.ToArray(), other.All.ToArray());
        Assert.NotSame(one, other);
    }

    [Fact]
    public void A_roster_that_no_node_has_is_not_kept()
    {
        var old = _shared.NoNodes.After(isSnapshot: true, [Node(21, 1), Node(22, 1)], []);
        var gone = Follow(old);
        GC.Collect();
        Assert.False(gone.TryGetTarget(out _));
        GC.KeepAlive(old);

        static WeakReference<NodeRoster> Follow(NodeRoster from) => new(from.After(isSnapshot: false, [Node(23, 2)], []));
    }

    private static (bool IsSnapshot, List<NodeInfo> Joined, List<NodeKey> Removed) Change(
        Random random, SortedDictionary<NodeKey, NodeInfo> model, int step)
    {
        bool snapshot = step == 1 || random.Next(10) == 0;
        var joined = new List<NodeInfo>();
        var removed = new List<NodeKey>();
        if (snapshot)
        {
            joined.AddRange(model.Values.Where(_ => random.Next(8) > 0).Reverse());
            model.Clear();
        }

        for (int i = random.Next(5); i > 0; i--)
        {
            removed.Add(Key((ulong)random.Next(40)));
        }

        for (int i = random.Next(6); i > 0; i--)
        {
            var node = Node((ulong)random.Next(40), step);
            joined.RemoveAll(other => other.Key == node.Key);
            joined.Add(node);
        }

        removed.ForEach(key => model.Remove(key));
        joined.ForEach(node => model[node.Key] = node);
        return (snapshot, joined, removed);
    }

    private static NodeKey Key(ulong id) => new(id, 7);

    private static NodeInfo Node(ulong id, long admittedAt) =>
        new(Key(id), new IPEndPoint(IPAddress.Loopback, 4000 + (int)id), (long)id, admittedAt, new Origin(1, 2));

    private static NodeInfo Copy(NodeInfo node) =>
        node with { EndPoint = new IPEndPoint(new IPAddress(node.EndPoint.Address.GetAddressBytes()), node.EndPoint.Port) };
}
