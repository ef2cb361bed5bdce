using QuickSilver.Groups.Ordering;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Groups.Tests.Ordering;

// What waits at one member for the message by which another one orders.
public sealed class HandoverTests
{
    private static readonly NodeKey First = new(1, 1);
    private static readonly NodeKey Second = new(2, 1);
    private static readonly NodeKey Third = new(3, 1);

    private readonly OrderedMember _member = new(Third, roundsToMove: null);
    private readonly Dictionary<NodeKey, long> _numbers = [];

    public HandoverTests() => _member.End(new MemberView
    {
        TopicId = 1,
        Configuration = 1,
        Members = [First, Second, Third],
        Joined = [],
        Left = [],
    });

    [Fact]
    public void The_orders_of_the_next_orderer_wait_for_the_handover()
    {
        Receive(Third, [(byte)GroupFrame.Total]);
        Receive(Second, Body(GroupFrame.Orders, new OrderStep(Third, 1)));
        Assert.Equal(2, _member.Held);

        Receive(First, Body(GroupFrame.Handover, new OrderStep(Second, 0)));
        Assert.Equal(0, _member.Held);
        Assert.Equal(["3/1"], _member.Ordered);
    }

    [Fact]
    public void Behind_the_handover_the_first_orderer_waits_for_the_orders_of_the_next_one()
    {
        Receive(First, [(byte)GroupFrame.Total], Body(GroupFrame.Handover, new OrderStep(Second, 0)), [(byte)GroupFrame.Total]);
        Receive(Second, [(byte)GroupFrame.Total]);
        Assert.Equal(["1/1", "2/1"], _member.Ordered);

        Receive(Second, Body(GroupFrame.Orders, new OrderStep(First, 3)));
        Assert.Equal(["1/1", "2/1", "1/3"], _member.Ordered);
    }

    [Fact]
    public void A_safe_message_of_the_next_orderer_waits_until_all_members_hold_the_handover()
    {
        Receive(First, Body(GroupFrame.Handover, new OrderStep(Second, 0)));
        Receive(Second, [(byte)GroupFrame.Safe]);
        _member.OnStable(Second, 1);
        Assert.Equal(1, _member.Held);

        _member.OnStable(First, 1);
        Assert.Equal(["2/1"], _member.Ordered);
    }

    // Of a member that does not order, of one that is none, of another view, and one that names no member.
    [Fact]
    public void A_handover_that_says_nothing_moves_no_order()
    {
        Receive(Second, Body(GroupFrame.Handover, new OrderStep(Third, 0)));
        Assert.Equal((First, 1), (_member.Gate.Passing!.Orderer, _member.Held));

        Receive(new NodeKey(9, 1), Body(GroupFrame.Handover, new OrderStep(Third, 0)));
        Receive(First, Body(GroupFrame.Handover, new OrderStep(new NodeKey(9, 1), 0)), Body(GroupFrame.Handover));
        byte[] other = Body(GroupFrame.Handover, new OrderStep(Third, 0));
        other[1]++;
        Receive(First, other);
        Assert.Equal((First, 1), (_member.Gate.Passing!.Orderer, _member.Held));

        Receive(First, Body(GroupFrame.Handover, new OrderStep(Second, 0)));
        Assert.Equal((Third, 0), (_member.Gate.Passing!.Orderer, _member.Held));
        Assert.True(_member.Gate.Passing.IsOrdering);
    }

    private void Receive(NodeKey sender, params byte[][] payloads)
    {
        foreach (byte[] payload in payloads)
        {
            long number = _numbers[sender] = _numbers.GetValueOrDefault(sender) + 1;
            _member.Receive(sender, new StreamItem(number, payload));
        }
    }

    private byte[] Body(GroupFrame frame, params OrderStep[] steps)
    {
        byte[] body = new byte[StepsBody.HeaderBytes + (steps.Length * StepsBody.KeyBytes)];
        StepsBody.WriteHeader(body, frame, configuration: 1, steps.Length);
        int length = StepsBody.HeaderBytes;
        foreach (var step in steps)
        {
            length += StepsBody.Write(body.AsSpan(length), _member.Gate.Passing!.RankOf(step.Sender), step);
        }

        return body[..length];
    }
}
