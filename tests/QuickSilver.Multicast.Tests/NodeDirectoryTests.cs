using System.Collections.Immutable;
using System.Net;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Tests;

// I7, I10: which nodes are considered gone when the membership service changed; and that each two nodes judge each other alike.
public sealed class NodeDirectoryTests
{
    private static readonly NodeKey A = new(0xA, 1);
    private static readonly NodeKey B = new(0xB, 1);
    private static readonly NodeKey C = new(0xC, 1);
    private static readonly Origin First = new(1, 9);

    [Fact]
    public void Nodes_that_come_over_together_from_one_configuration_have_not_lost_each_other()
    {
        var directory = Known(A, B, C);
        Assert.Empty(directory.Apply(Snapshot(20, Node(A, 20, First), Node(B, 20, First), Node(C, 20, First)), A));
        Assert.Equal(5, directory.TogetherSince(B));
    }

    [Fact]
    public void A_node_that_had_another_configuration_is_gone_to_the_others_and_they_to_it()
    {
        // The host fell while it announced configuration 9, which C never saw.
        var change = Snapshot(20, Node(A, 20, First), Node(B, 20, First), Node(C, 20, new Origin(1, 8)));
        var ofA = Known(A, B, C);
        Assert.Equal([C], Lost(ofA.Apply(change, A)));
        Assert.Equal(20, ofA.TogetherSince(C));
        Assert.Equal([A, B], Lost(Known(A, B, C).Apply(change, C)));
    }

    [Fact]
    public void A_node_that_comes_late_is_gone_to_the_others_and_they_to_it()
    {
        var ofA = Known(A, B, C);
        Assert.Equal([C], Lost(ofA.Apply(Snapshot(20, Node(A, 20, First), Node(B, 20, First)), A)));
        Assert.Empty(ofA.Apply(new ConfigurationChange { Number = 21, IsSnapshot = false, Joined = [Node(C, 21, First)] }, A));
        Assert.Equal(21, ofA.TogetherSince(C));

        var ofC = Known(A, B, C);
        Assert.Equal([A, B], Lost(ofC.Apply(Snapshot(21, Node(A, 20, First), Node(B, 20, First), Node(C, 21, First)), C)));
        Assert.Equal(21, ofC.TogetherSince(A));
    }

    [Fact]
    public void Two_that_return_together_to_a_service_that_others_never_left_have_lost_those_but_not_each_other()
    {
        var change = Snapshot(20, Node(A, 20, First), Node(B, 20, First), Node(C, 5, default));
        Assert.Equal([C], Lost(Known(A, B, C).Apply(change, A)));

        var delta = new ConfigurationChange { Number = 20, IsSnapshot = false, Joined = change.Joined[..2], Removed = [A, B] };
        Assert.Equal([A, B], Lost(Known(A, B, C).Apply(delta, C)));
    }

    [Fact]
    public void Of_views_from_before_the_service_changed_only_the_nodes_that_came_along_are_still_members()
    {
        var stranger = new NodeKey(0xD, 1);
        var directory = Known(A, B, C);
        Assert.True(directory.Shares(B, 7));
        Assert.False(directory.Shares(stranger, 7));

        directory.Apply(Snapshot(20, Node(A, 20, First), Node(B, 20, First), Node(stranger, 20, new Origin(1, 12))), A);
        Assert.True(directory.Shares(A, 7));
        Assert.True(directory.Shares(B, 7));
        // It was in the old cluster as well, admitted by a configuration that this node never saw.
        Assert.False(directory.Shares(stranger, 7));
        Assert.True(directory.Shares(stranger, 20));

        var late = new NodeKey(0xE, 1);
        directory.Apply(new ConfigurationChange { Number = 22, IsSnapshot = false, Joined = [Node(late, 22, new Origin(1, 9))] }, A);
        Assert.False(directory.Shares(late, 7));
        Assert.True(directory.Shares(late, 20));
    }

    [Fact]
    public void After_a_snapshot_of_the_same_service_no_node_in_it_is_gone()
    {
        var directory = Known(A, B, C);
        Assert.Equal([C], Lost(directory.Apply(Snapshot(7, Node(A, 5, default), Node(B, 5, default)), A)));
    }

    [Fact]
    public void The_identity_of_a_node_is_known_for_a_while_after_its_removal_and_not_before_it_is_announced()
    {
        var directory = Known(A, B);
        Assert.Null(directory.IdentityOf(C));
        directory.Apply(
            new ConfigurationChange { Number = 6, IsSnapshot = false, Joined = [Node(C, 6, default) with { Identity = 42 }] }, A);
        Assert.Equal(42UL, directory.IdentityOf(C));
        directory.Apply(new ConfigurationChange { Number = 7, IsSnapshot = false, Removed = [C] }, A);
        Assert.False(directory.Contains(C));
        Assert.Equal(42UL, directory.IdentityOf(C));

        for (int i = 0; i <= DepartedIdentities.Most; i++)
        {
            var passing = Node(new NodeKey(100 + (ulong)i, 1), 8, default) with { Identity = 7 };
            directory.Apply(new ConfigurationChange { Number = 8 + (i * 2), IsSnapshot = false, Joined = [passing] }, A);
            directory.Apply(new ConfigurationChange { Number = 9 + (i * 2), IsSnapshot = false, Removed = [passing.Key] }, A);
        }

        Assert.Null(directory.IdentityOf(C));
    }

    // What is kept is only what differs from what the roster says; the model keeps everything of each node.
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void It_says_of_each_node_what_a_table_of_all_would(int seed)
    {
        var random = new Random(seed);
        var directory = new NodeDirectory(new SharedViews().NoNodes);
        var model = new Model();
        for (int step = 1; step <= 400; step++)
        {
            var change = RandomChange(random, step);
            var before = Enumerable.Range(0xA, 12).Select(id => new NodeKey((ulong)id, 1))
                .ToDictionary(static node => node, directory.TogetherSince);
            var lost = directory.Apply(change, A);
            Assert.Equal(model.Apply(change, A), Lost(lost));
            Assert.All(lost, one => Assert.Equal(before[one.Key], one.Since));
            for (ulong id = 0xA; id < 0x16; id++)
            {
                var node = new NodeKey(id, 1);
                Assert.Equal(model.Contains(node), directory.Contains(node));
                Assert.Equal(model.TogetherSince(node), directory.TogetherSince(node));
                Assert.Equal(model.Find(node), directory.Find(node)?.EndPoint);
            }
        }
    }

    private static NodeKey[] Lost(List<LostNode> lost) => [.. lost.Select(static one => one.Key)];

    private static ConfigurationChange RandomChange(Random random, int step)
    {
        // Another service from time to time: all of them are admitted again, of one origin or of several.
        bool isElsewhere = random.Next(12) == 0;
        bool isSnapshot = step == 1 || isElsewhere || random.Next(8) == 0;
        var joined = new List<NodeInfo>();
        for (ulong id = 0xA; id < 0x16; id++)
        {
            bool isSelf = id == A.Id;
            if (isSelf ? isSnapshot && random.Next(20) > 0 : random.Next(isSnapshot ? 5 : 40) > 0 == isSnapshot)
            {
                long admitted = isElsewhere ? step : Math.Max(1, step - (random.Next(3) * 50) - (step % 50));
                var endPoint = new IPEndPoint(IPAddress.Loopback, 1 + random.Next(3));
                joined.Add(new NodeInfo(new NodeKey(id, 1), endPoint, 1, admitted, new Origin(1, random.Next(2))));
            }
        }

        var removed = Enumerable.Range(0xA, 12).Where(_ => !isSnapshot && random.Next(10) == 0).Select(id => new NodeKey((ulong)id, 1));
        return new() { Number = step, IsSnapshot = isSnapshot, Joined = [.. joined], Removed = [.. removed] };
    }

    private static NodeDirectory Known(params NodeKey[] nodes)
    {
        var directory = new NodeDirectory(new SharedViews().NoNodes);
        directory.Apply(Snapshot(5, [.. nodes.Select(key => Node(key, 5, default))]), nodes[0]);
        return directory;
    }

    private static NodeInfo Node(NodeKey key, long admittedAt, Origin origin) =>
        new(key, new IPEndPoint(IPAddress.Loopback, 1), 1, admittedAt, origin);

    private static ConfigurationChange Snapshot(long number, params ImmutableArray<NodeInfo> nodes) =>
        new() { Number = number, IsSnapshot = true, Joined = nodes };

    private sealed class Model
    {
        private readonly Dictionary<NodeKey, Entry> _live = [];

        private readonly record struct Entry(IPEndPoint Address, long AdmittedAt, long Since);

        public bool Contains(NodeKey node) => _live.ContainsKey(node);

        public IPEndPoint? Find(NodeKey node) => _live.TryGetValue(node, out var known) ? known.Address : null;

        public long TogetherSince(NodeKey node) => _live.TryGetValue(node, out var known) ? known.Since : 0;

        public List<NodeKey> Apply(ConfigurationChange change, NodeKey self)
        {
            var gone = new List<NodeKey>();
            var joined = new Dictionary<NodeKey, NodeInfo>();
            foreach (var node in change.Joined)
            {
                joined[node.Key] = node;
            }

            long before = _live.TryGetValue(self, out var old) ? old.AdmittedAt : 0;
            var own = joined.GetValueOrDefault(self);
            long admitted = own?.AdmittedAt ?? before;
            var company = before != 0 && admitted != before ? own : null;
            foreach (var (node, known) in _live)
            {
                bool isGone = joined.TryGetValue(node, out var info)
                    ? change.Removed.Contains(node) || !IsSame(info, known, company)
                    : change.IsSnapshot || change.Removed.Contains(node);
                if (node != self && isGone)
                {
                    gone.Add(node);
                }
            }

            foreach (var node in gone)
            {
                _live.Remove(node);
            }

            foreach (var (key, node) in joined)
            {
                long since = _live.TryGetValue(key, out var known) ? known.Since : Math.Max(node.AdmittedAt, admitted);
                _live[key] = new Entry(node.EndPoint, node.AdmittedAt, since);
            }

            gone.Sort();
            return gone;
        }

        private static bool IsSame(NodeInfo info, Entry known, NodeInfo? company) => company is null
            ? info.AdmittedAt == known.AdmittedAt
            : info.AdmittedAt == company.AdmittedAt && info.Origin == company.Origin;
    }
}
