using System.Collections.Immutable;
using System.Net;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Tests;

// I7, I10: who is taken for gone when the membership service changed; and that each two nodes judge each other alike.
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
    public void Who_had_another_configuration_is_gone_to_the_others_and_they_to_it()
    {
        // The host fell while it told configuration 9, which C never saw.
        var change = Snapshot(20, Node(A, 20, First), Node(B, 20, First), Node(C, 20, new Origin(1, 8)));
        var ofA = Known(A, B, C);
        Assert.Equal([C], ofA.Apply(change, A));
        Assert.Equal(20, ofA.TogetherSince(C));
        Assert.Equal([A, B], Known(A, B, C).Apply(change, C));
    }

    [Fact]
    public void Who_comes_late_is_gone_to_the_others_and_they_to_it()
    {
        var ofA = Known(A, B, C);
        Assert.Equal([C], ofA.Apply(Snapshot(20, Node(A, 20, First), Node(B, 20, First)), A));
        Assert.Empty(ofA.Apply(new ConfigurationChange { Number = 21, IsSnapshot = false, Joined = [Node(C, 21, First)] }, A));
        Assert.Equal(21, ofA.TogetherSince(C));

        var ofC = Known(A, B, C);
        Assert.Equal([A, B], ofC.Apply(Snapshot(21, Node(A, 20, First), Node(B, 20, First), Node(C, 21, First)), C));
        Assert.Equal(21, ofC.TogetherSince(A));
    }

    [Fact]
    public void Two_that_return_together_to_a_service_that_others_never_left_have_lost_those_but_not_each_other()
    {
        var change = Snapshot(20, Node(A, 20, First), Node(B, 20, First), Node(C, 5, default));
        Assert.Equal([C], Known(A, B, C).Apply(change, A));

        var delta = new ConfigurationChange { Number = 20, IsSnapshot = false, Joined = change.Joined[..2], Removed = [A, B] };
        Assert.Equal([A, B], Known(A, B, C).Apply(delta, C));
    }

    [Fact]
    public void A_snapshot_of_the_same_service_takes_nobody_for_gone_who_is_in_it()
    {
        var directory = Known(A, B, C);
        Assert.Equal([C], directory.Apply(Snapshot(7, Node(A, 5, default), Node(B, 5, default)), A));
    }

    private static NodeDirectory Known(params NodeKey[] nodes)
    {
        var directory = new NodeDirectory();
        directory.Apply(Snapshot(5, [.. nodes.Select(key => Node(key, 5, default))]), nodes[0]);
        return directory;
    }

    private static NodeInfo Node(NodeKey key, long admittedAt, Origin origin) =>
        new(key, new IPEndPoint(IPAddress.Loopback, 1), 1, admittedAt, origin);

    private static ConfigurationChange Snapshot(long number, params ImmutableArray<NodeInfo> nodes) =>
        new() { Number = number, IsSnapshot = true, Joined = nodes };
}
