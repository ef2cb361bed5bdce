using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Tests.Views;

// Which members of a view live, and the mark by which members compare which ones they consider gone (I17).
public sealed class LiveMembersTests
{
    private static readonly NodeKey[] Nodes = [.. Enumerable.Range(1, 5).Select(id => new NodeKey((ulong)id, 1))];

    [Fact]
    public void The_same_members_gone_give_the_same_mark_in_whatever_order_they_went()
    {
        var one = Live();
        var other = Live();
        Assert.Equal(0ul, one.Gone);
        Assert.True(one.Lose(Nodes[1]) && one.Lose(Nodes[3]));
        Assert.True(other.Lose(Nodes[3]));
        Assert.NotEqual(one.Gone, other.Gone);
        Assert.True(other.Lose(Nodes[1]));

        Assert.Equal(one.Gone, other.Gone);
        Assert.NotEqual(0ul, one.Gone);
        Assert.Equal(3, one.Count);
    }

    [Fact]
    public void One_that_closed_the_view_is_gone_only_when_it_was_removed_too()
    {
        var closed = Live();
        Assert.True(closed.Close(Nodes[2]));
        Assert.False(closed.IsLive(2));
        Assert.Equal(0ul, closed.Gone);

        var removed = Live();
        Assert.True(removed.Lose(Nodes[2]));
        Assert.False(closed.Lose(Nodes[2]));
        Assert.False(removed.Close(Nodes[2]));
        Assert.Equal(removed.Gone, closed.Gone);
        Assert.Equal((4, 4), (removed.Count, closed.Count));
    }

    [Fact]
    public void A_node_that_is_lost_twice_or_was_no_member_changes_nothing()
    {
        var live = Live();
        live.Lose(Nodes[0]);
        ulong mark = live.Gone;

        Assert.False(live.Lose(Nodes[0]));
        Assert.False(live.Lose(new NodeKey(9, 1)));
        Assert.False(live.Close(new NodeKey(9, 1)));
        Assert.Equal((mark, 4), (live.Gone, live.Count));
        Assert.Equal(1, live.FirstIn(0, 5));
    }

    private static LiveMembers Live() => new([.. Nodes]);
}
