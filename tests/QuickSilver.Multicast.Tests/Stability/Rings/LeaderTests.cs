using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// When the leader of a ring begins a round, and what comes of one that has come home.
public sealed class LeaderTests
{
    private readonly LoneMember _leader = new(members: 3, rank: 0);

    [Fact]
    public void A_resting_leader_starts_a_round_soon_after_a_packet_arrives()
    {
        _leader.Receive(1);
        Assert.Empty(_leader.TakeTokens());

        _leader.Advance(_leader.Options.TokenIntervalActive);

        var token = _leader.TakeToken();
        Assert.Equal(_leader.Keys[1], token.To);
        Assert.Equal(1, token.Find(LoneMember.Publisher)!.HeldByAll);
    }

    [Fact]
    public void A_member_that_does_not_lead_starts_no_round()
    {
        var member = new LoneMember(members: 3, rank: 1);
        member.Receive(1);
        member.Rings.OnAckWanted();

        member.Advance(100);

        Assert.Empty(member.TakeTokens());
    }

    [Fact]
    public void A_resting_leader_starts_a_round_after_each_idle_interval()
    {
        for (int round = 1; round <= 3; round++)
        {
            _leader.Advance(_leader.Options.TokenIntervalIdle - TimeSpan.FromMilliseconds(1));
            Assert.Empty(_leader.TakeTokens());
            _leader.Advance(1);
            _leader.EndRound();
        }
    }

    [Fact]
    public void A_ring_of_one_sleeps_until_there_is_data_and_then_settles_by_itself()
    {
        var alone = new LoneMember(members: 1, rank: 0);
        alone.Advance(10_000);
        Assert.Empty(alone.TakeAcks());

        alone.Receive(1);
        alone.Advance(1);

        Assert.Equal(1, alone.TakeAcks()[0].Stable);
        Assert.Empty(alone.TakeTokens());
    }

    // A member that does not know yet would send the token to a member that is not there any more.
    [Fact]
    public void A_removed_member_is_passed_over_until_all_have_applied_its_removal()
    {
        _leader.Remove(_leader.Keys[1]);
        _leader.Advance(0);
        _leader.EndRound(token =>
        {
            Assert.Equal([1], token.Skipped);
            token.IsDisputed = true;
        });
        _leader.AdvanceToToken();
        _leader.EndRound(static token => Assert.Equal([1], token.Skipped));
        Assert.False(_leader.Rings.IsAnyUnheardUnder(1));

        _leader.AdvanceToToken();
        _leader.EndRound(static token => Assert.Empty(token.Skipped));
    }

    // Others learn it from the answer of that member.
    [Fact]
    public void A_member_that_has_closed_the_view_is_not_passed_over()
    {
        _leader.Region.OnMemberClosed(_leader.Keys[1]);
        _leader.Advance(0);
        _leader.EndRound(static token => Assert.Empty(token.Skipped));
    }

    [Fact]
    public void Only_one_token_is_under_way()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        _leader.TakeToken();

        _leader.Receive(2);
        _leader.Rings.OnAckWanted();
        _leader.Advance(20);

        Assert.Empty(_leader.TakeTokens());
    }

    [Fact]
    public void A_whole_round_settles_what_all_hold_and_acknowledges_it()
    {
        _leader.Receive(1, 2, 3);
        _leader.Advance(1);

        _leader.EndRound(token =>
        {
            var record = token.Find(LoneMember.Publisher)!;
            (record.HeldByAll, record.ConsumedByAll, record.ReadByAll) = (2, 1, 3);
        });

        Assert.Equal(2, _leader.Settlement.Stable);
        var ack = Assert.Single(_leader.TakeAcks());
        Assert.Equal((LoneMember.Publisher, 2, 1, 3), (ack.Origin, ack.Stable, ack.Consumed, ack.Read));
    }

    [Fact]
    public void An_acknowledgement_goes_to_the_sender()
    {
        _leader.Receive(1);
        _leader.RunRounds(1);

        Assert.Equal(LoneMember.EndPointOf(LoneMember.Publisher), Assert.Single(_leader.Port.Take(PacketKind.Ack)).To);
    }

    [Fact]
    public void An_acknowledgement_is_not_repeated_without_news()
    {
        _leader.Receive(1);
        _leader.RunRounds(2);
        Assert.NotEmpty(_leader.TakeAcks());

        _leader.RunRounds(5);

        Assert.Empty(_leader.TakeAcks());
    }

    [Fact]
    public void A_sender_that_announces_is_acknowledged_again()
    {
        _leader.Receive(1);
        _leader.RunRounds(10);
        _leader.TakeAcks();

        _leader.Region.OnAnnounce(LoneMember.Publisher.Key(), 1);
        Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalActive);
        _leader.EndRound();

        Assert.Equal(1, Assert.Single(_leader.TakeAcks()).Stable);
    }

    [Fact]
    public void A_wanted_round_of_a_resting_leader_begins_at_once()
    {
        _leader.Receive(1);
        _leader.Rings.OnAckWanted();

        _leader.Advance(TimeSpan.Zero);

        _leader.TakeToken();
    }

    [Fact]
    public void A_round_that_is_wanted_while_one_is_under_way_begins_as_soon_as_that_one_is_over()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        _leader.Receive(2);
        _leader.Rings.OnAckWanted();

        _leader.EndRound();
        _leader.Advance(TimeSpan.Zero);

        Assert.Equal(2, _leader.TakeToken().Find(LoneMember.Publisher)!.HeldByAll);
    }

    [Fact]
    public void A_token_from_this_leader_counts_only_while_its_round_is_under_way()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        var token = _leader.TakeToken();
        token.To = _leader.Self;

        Assert.Equal(DropReason.None, _leader.Give(token, _leader.Keys[2]));
        Assert.Equal(DropReason.Duplicate, _leader.Give(token, _leader.Keys[2]));
    }

    [Fact]
    public void Reports_of_members_are_bounded_by_what_the_leader_itself_has()
    {
        _leader.Receive(1, 2, 4);
        _leader.Advance(1);

        _leader.EndRound(token =>
        {
            var record = token.Find(LoneMember.Publisher)!;
            record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = 1_000;
        });

        Assert.Equal(2, _leader.Settlement.Stable);
        Assert.Equal(2, _leader.Settlement.Replicated);
        var ack = Assert.Single(_leader.TakeAcks());
        Assert.Equal((2, 2, 4), (ack.Stable, ack.Consumed, ack.Read));
    }

    [Fact]
    public void The_acknowledgement_has_the_sum_of_drops_and_the_least_buffer()
    {
        _leader.Port.KernelDrops = 4;
        _leader.Receive(1);
        _leader.Advance(1);

        _leader.EndRound(token =>
        {
            Assert.Equal(4, token.KernelDrops);
            token.KernelDrops += 6;
            token.ReceiveBufferBytes = 5_000;
        });

        var ack = Assert.Single(_leader.TakeAcks());
        Assert.Equal((10, 5_000), (ack.KernelDrops, ack.ReceiveBufferBytes));
    }

    [Fact]
    public void A_disputed_round_settles_nothing()
    {
        _leader.Receive(1);
        _leader.Advance(1);

        _leader.EndRound(token => token.IsDisputed = true);

        Assert.Equal(0, _leader.Settlement.Stable);
        Assert.Empty(_leader.TakeAcks());
    }
}
