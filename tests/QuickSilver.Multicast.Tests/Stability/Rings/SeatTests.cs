using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// What a seat of a ring that does not lead does with a token, and which tokens it refuses.
public sealed class SeatTests
{
    private readonly LoneMember _member = new(members: 4, rank: 1);

    private NodeKey Leader => _member.Keys[0];

    [Fact]
    public void A_seat_passes_the_token_to_the_next_and_the_last_to_the_leader()
    {
        Assert.Equal(_member.Keys[2], Passed(_member).To);

        var last = new LoneMember(members: 4, rank: 3);
        Assert.Equal(last.Keys[0], Passed(last).To);
    }

    [Fact]
    public void A_seat_passes_the_round_and_its_leader_on_as_they_came()
    {
        var token = _member.TokenOf(Leader, 17);
        token.KernelDrops = 3;
        _member.Give(token, Leader);

        var passed = _member.TakeToken();
        Assert.Equal((17, Leader, 3, 0), (passed.Round, passed.Leader, passed.KernelDrops, passed.Level));
    }

    [Fact]
    public void A_member_that_is_gone_is_left_out_of_the_order()
    {
        _member.Remove(_member.Keys[2]);

        Assert.Equal(_member.Keys[3], Passed(_member).To);
    }

    [Fact]
    public void A_member_that_is_passed_over_gets_no_token()
    {
        var token = _member.TokenOf(Leader, 1);
        token.Skipped.Add(2);
        _member.Give(token, Leader);

        var passed = _member.TakeToken();
        Assert.Equal(_member.Keys[3], passed.To);
        Assert.Equal([2], passed.Skipped);
    }

    [Fact]
    public void A_token_of_an_older_round_or_of_the_same_is_refused()
    {
        Assert.Equal(DropReason.None, Give(5));
        _member.TakeTokens();

        Assert.Equal(DropReason.Duplicate, Give(5));
        Assert.Equal(DropReason.Duplicate, Give(4));
        Assert.Empty(_member.TakeTokens());
        Assert.Equal(DropReason.None, Give(6));
    }

    [Fact]
    public void A_token_of_a_leader_that_does_not_lead_here_is_refused_until_it_continues_for_a_while()
    {
        var second = _member.Keys[2];
        Assert.Equal(DropReason.Duplicate, _member.Give(_member.TokenOf(second, 1), second));
        Assert.Equal(DropReason.Duplicate, _member.Give(_member.TokenOf(second, 2), second));
        Assert.Empty(_member.TakeTokens());

        _member.Advance(_member.Options.TokenTimeout);

        Assert.Equal(DropReason.None, _member.Give(_member.TokenOf(second, 3), second));
        _member.TakeToken();
    }

    [Fact]
    public void A_round_far_ahead_that_another_member_reports_does_not_make_the_true_ones_late()
    {
        Assert.Equal(DropReason.None, Give(5));

        Assert.Equal(DropReason.Duplicate, _member.Give(_member.TokenOf(Leader, 1_000_000), _member.Keys[3]));

        Assert.Equal(DropReason.None, Give(6));
    }

    [Fact]
    public void A_round_far_ahead_counts_when_the_leader_itself_brings_it()
    {
        Assert.Equal(DropReason.None, Give(5));

        Assert.Equal(DropReason.None, Give(1_000_000));
    }

    [Fact]
    public void A_token_from_a_node_that_is_gone_or_was_never_a_member_is_refused()
    {
        Assert.Equal(DropReason.NotMember, _member.Give(_member.TokenOf(Leader, 1), LoneMember.Publisher));
        _member.Remove(_member.Keys[3]);

        Assert.Equal(DropReason.NotMember, _member.Give(_member.TokenOf(Leader, 1), _member.Keys[3]));
        Assert.Empty(_member.TakeTokens());
    }

    [Fact]
    public void A_token_whose_leader_is_gone_is_refused()
    {
        _member.Remove(_member.Keys[3]);

        Assert.Equal(DropReason.NotMember, _member.Give(_member.TokenOf(_member.Keys[3], 1), Leader));
    }

    [Fact]
    public void A_token_for_an_earlier_life_of_this_node_is_refused()
    {
        var token = _member.TokenOf(Leader, 1);
        token.To = new NodeKey(_member.Self.Id, _member.Self.Incarnation + 1);

        Assert.Equal(DropReason.NotMember, _member.Give(token, Leader));
    }

    [Fact]
    public void A_token_of_another_ring_or_of_a_level_without_a_seat_here_is_refused()
    {
        // Two rings of two, and the root above them.
        var member = new LoneMember(members: 4, rank: 1, repair: new RepairRules(Replicas: 2, RingSize: 2));

        Assert.Equal(DropReason.NotMember, member.Give(member.TokenOf(member.Keys[2], 1), member.Keys[2]));
        Assert.Equal(DropReason.NotMember, member.Give(member.TokenOf(member.Keys[2], 1), member.Keys[0]));
        Assert.Equal(DropReason.NotMember, member.Give(member.TokenOf(member.Keys[0], 1, level: 1), member.Keys[0]));
        Assert.Empty(member.TakeTokens());
    }

    [Fact]
    public void Bytes_that_are_no_token_are_refused()
    {
        Assert.Equal(DropReason.Malformed, _member.Rings.OnToken(Leader, new byte[20]));
    }

    [Fact]
    public void A_seat_lowers_what_all_hold_to_what_it_holds()
    {
        _member.Consumer.IsHolding = true;
        _member.Receive(1, 2, 4);
        var token = _member.TokenOf(Leader, 1);
        var record = token.Add(LoneMember.Publisher);
        record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = record.HeldByAny = 3;

        _member.Give(token, Leader);

        record = _member.TakeToken().Find(LoneMember.Publisher)!;
        Assert.Equal((2, 0, 3, 2), (record.HeldByAll, record.ConsumedByAll, record.ReadByAll, record.ReplicatedByAll));
        Assert.Equal(4, record.HeldByAny);
    }

    [Fact]
    public void A_seat_does_not_raise_what_others_have_said()
    {
        _member.Receive(1, 2, 3);
        var token = _member.TokenOf(Leader, 1);
        var record = token.Add(LoneMember.Publisher);
        record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = 1;
        record.HeldByAny = 3;

        _member.Give(token, Leader);

        record = _member.TakeToken().Find(LoneMember.Publisher)!;
        Assert.Equal((1, 1, 1, 1), (record.HeldByAll, record.ConsumedByAll, record.ReadByAll, record.ReplicatedByAll));
    }

    [Fact]
    public void A_seat_reports_a_stream_that_the_leader_does_not_know_and_marks_it_as_partial()
    {
        _member.Receive(1, 2);
        _member.Give(_member.TokenOf(Leader, 1), Leader);

        var record = _member.TakeToken().Find(LoneMember.Publisher)!;
        Assert.Equal(2, record.HeldByAny);
        Assert.Equal(0, record.HeldByAll);
        Assert.True(record.IsPartial);
    }

    [Fact]
    public void Kernel_drops_are_summed_and_the_least_buffer_is_kept()
    {
        long own = _member.Region.RoomBytes;
        Assert.True(own > 1);
        _member.Port.KernelDrops = 4;
        foreach (var (told, passed) in new[] { (0L, own), (own + 1, own), (own - 1, own - 1) })
        {
            var token = _member.TokenOf(Leader, _member.Environment.Now.Ticks);
            (token.KernelDrops, token.ReceiveBufferBytes) = (3, told);
            _member.Give(token, Leader);

            var result = _member.TakeToken();
            Assert.Equal((7, passed), (result.KernelDrops, result.ReceiveBufferBytes));
            _member.Advance(1);
        }
    }

    [Fact]
    public void A_seat_that_takes_others_for_gone_than_the_leader_disputes_the_round()
    {
        Give(1);
        Assert.False(_member.TakeToken().IsDisputed);
        _member.Remove(_member.Keys[3]);

        var token = _member.TokenOf(Leader, 2);
        token.Gone = 0;
        _member.Give(token, Leader);

        Assert.True(_member.TakeToken().IsDisputed);
    }

    private DropReason Give(long round) => _member.Give(_member.TokenOf(Leader, round), Leader);

    private static Token Passed(LoneMember member)
    {
        var before = member.Keys[member.View.Members.IndexOf(member.Self) - 1];
        Assert.Equal(DropReason.None, member.Give(member.TokenOf(member.Keys[0], 1), before));
        return member.TakeToken();
    }
}
