using QuickSilver.Endpoints.Changes;
using QuickSilver.States.Joining;

namespace QuickSilver.Tests.States.Joining;

public sealed class StateJoinsTests
{
    private static readonly NodeId Self = Node(1);
    private static readonly NodeId Other = Node(2);
    private static readonly NodeId Joiner = Node(3);
    private static readonly NodeId Liar = Node(4);
    private static readonly SubscriberSet Members = new([Self, Other, Joiner, Liar]);

    private readonly StateJoins _joins = new(Self);
    private TimeSpan _now = TimeSpan.FromHours(1);

    [Fact]
    public void A_node_is_given_to_when_all_others_have_marked_its_hello_whatever_the_order()
    {
        _joins.OnMark(Liar, Joiner, 7);
        Hello(Joiner, 7);
        _joins.OnAsk(Joiner, 7, _now);
        Assert.Empty(_joins.TakeReady(_now));
        _joins.OnMark(Other, Joiner, 6);
        Assert.Empty(_joins.TakeReady(_now));
        _joins.OnMark(Other, Joiner, 7);
        Assert.Equal([(Joiner, 70, 7L)], _joins.TakeReady(_now));
        Assert.Empty(_joins.TakeReady(_now));
        Assert.False(_joins.IsAnyWaiting);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_number_of_a_hello_that_another_node_makes_up_does_not_keep_its_node_out(bool isFirst)
    {
        if (isFirst)
        {
            _joins.OnMark(Liar, Joiner, long.MaxValue);
        }

        Hello(Joiner, 7);
        if (!isFirst)
        {
            _joins.OnMark(Liar, Joiner, long.MaxValue);
        }

        _joins.OnMark(Other, Joiner, 7);
        _joins.OnAsk(Joiner, 7, _now);
        Assert.Single(_joins.TakeReady(_now));
    }

    [Fact]
    public void Nodes_that_a_member_makes_up_take_no_places_and_their_number_is_bounded()
    {
        _joins.OnMark(Other, Joiner, 7);
        for (uint i = 0; i < 5000; i++)
        {
            _joins.OnMark(Liar, Node(100 + i), 1);
            _joins.OnAsk(Node(100 + i), 1, _now);
        }

        Assert.Equal((0, StateJoins.MostEarly + 1), _joins.Remembered);
        Hello(Joiner, 7);
        _joins.OnMark(Liar, Joiner, 7);
        _joins.OnAsk(Joiner, 7, _now);
        Assert.Single(_joins.TakeReady(_now));
        _joins.Keep(new SubscriberSet([Self, Joiner]));
        Assert.Equal((1, 0), _joins.Remembered);
    }

    [Fact]
    public void More_nodes_than_a_thousand_can_join()
    {
        const uint Many = 1500;
        var members = new SubscriberSet([Self, .. Enumerable.Range(100, (int)Many).Select(static i => Node((uint)i))]);
        for (uint i = 0; i < Many; i++)
        {
            _joins.OnHello(Node(100 + i), 1, 0, members, _now);
            _joins.OnAsk(Node(100 + i), 1, _now);
        }

        Assert.Equal((int)Many, _joins.TakeReady(_now + StateJoins.MarkLimit).Count);
    }

    [Fact]
    public void One_that_asks_again_and_again_is_given_to_once_in_the_pause()
    {
        int given = 0;
        for (int i = 0; i < 100; i++)
        {
            // The same number again, and a new one.
            Hello(Joiner, 1 + (i / 2));
            _joins.OnMark(Other, Joiner, 1 + (i / 2));
            _joins.OnMark(Liar, Joiner, 1 + (i / 2));
            _joins.OnAsk(Joiner, 1 + (i / 2), _now);
            given += _joins.TakeReady(_now).Count;
            _now += StateJoins.GivingPause / 20;
        }

        Assert.Equal(5, given);
        _now += StateJoins.GivingPause;
        Assert.Single(_joins.TakeReady(_now));
    }

    [Fact]
    public void One_that_does_not_mark_keeps_no_node_out_and_is_known_as_such()
    {
        Hello(Joiner, 7);
        _joins.OnMark(Other, Joiner, 7);
        _joins.OnAsk(Joiner, 7, _now);
        Assert.Equal((true, false), (_joins.IsUnmarked(Liar), _joins.IsUnmarked(Other)));
        Assert.Empty(_joins.TakeReady(_now + StateJoins.MarkLimit - TimeSpan.FromTicks(1)));
        Assert.Single(_joins.TakeReady(_now + StateJoins.MarkLimit));

        // Two lack its mark, and then one, and then none.
        Hello(Other, 1);
        _joins.OnMark(Joiner, Other, 1);
        _joins.OnMark(Liar, Other, 1);
        Assert.True(_joins.IsUnmarked(Liar));
        _joins.OnMark(Liar, Joiner, 7);
        Assert.False(_joins.IsUnmarked(Liar));

        Hello(Joiner, 8);
        Assert.True(_joins.IsUnmarked(Liar));
        _joins.Keep(new SubscriberSet([Self, Other, Liar]));
        Assert.False(_joins.IsUnmarked(Liar));
    }

    [Fact]
    public void One_that_leaves_without_a_mark_is_not_waited_for()
    {
        Hello(Joiner, 7);
        _joins.OnMark(Other, Joiner, 7);
        _joins.OnAsk(Joiner, 7, _now);
        _joins.Keep(new SubscriberSet([Self, Other, Joiner]));
        Assert.Single(_joins.TakeReady(_now));
        Assert.False(_joins.IsUnmarked(Liar));
    }

    [Fact]
    public void A_hello_is_forgotten_after_its_time()
    {
        Hello(Joiner, 7);
        _now += StateJoins.KeptFor;
        Hello(Other, 1);
        Assert.Equal(1, _joins.Remembered.Joins);
        _joins.OnMark(Liar, Other, 1);
        Assert.False(_joins.IsUnmarked(Liar));
    }

    private void Hello(NodeId node, long number) => _joins.OnHello(node, number, (int)number * 10, Members, _now);

    private static NodeId Node(uint id) => new(id, 1);
}
