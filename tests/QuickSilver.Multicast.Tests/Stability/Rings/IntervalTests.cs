using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// How far apart the rounds of a ring are, and when it rests.
public sealed class IntervalTests
{
    private const int QuietRounds = 3;
    private const int IdleRounds = 10;

    private readonly LoneMember _leader = new(members: 3, rank: 0);

    [Fact]
    public void Rounds_follow_at_the_active_interval_while_something_moves()
    {
        _leader.Receive(1);
        _leader.RunRounds(1);
        for (int number = 2; number <= 6; number++)
        {
            _leader.Receive(number);
            Assert.Equal(_leader.Options.TokenIntervalActive, _leader.AdvanceToToken());
            _leader.EndRound();
        }
    }

    [Fact]
    public void Intervals_double_to_a_bound_while_nothing_moves()
    {
        ReceiveUnread(1);
        _leader.RunRounds(1);

        Assert.Equal([1, 2, 4, 8, 8, 8], Intervals(6));
    }

    [Fact]
    public void A_packet_that_arrives_ends_a_long_wait()
    {
        ReceiveUnread(1);
        _leader.RunRounds(10);

        _leader.Receive(2);

        Assert.Equal(_leader.Options.TokenIntervalActive, _leader.AdvanceToToken());
    }

    [Fact]
    public void A_round_that_found_something_resets_the_interval()
    {
        ReceiveUnread(1, 2);
        _leader.RunRounds(6, token => token.Find(LoneMember.Publisher)!.HeldByAll = 0);

        _leader.RunRounds(1, token => token.Find(LoneMember.Publisher)!.HeldByAll = 1);

        Assert.Equal(_leader.Options.TokenIntervalActive, _leader.AdvanceToToken());
    }

    [Fact]
    public void A_fixed_interval_is_kept_whatever_happens()
    {
        var options = new MulticastOptions
        {
            ClusterId = LoneMember.Cluster,
            Experiments = new() { TokenInterval = TimeSpan.FromMilliseconds(40) },
        };
        var leader = new LoneMember(members: 3, rank: 0, options);
        for (int number = 1; number <= 3; number++)
        {
            leader.Receive(number);
            leader.Rings.OnAckWanted();
            Assert.Equal(40, leader.AdvanceToToken().TotalMilliseconds);
            leader.EndRound();
        }
    }

    [Fact]
    public void A_stream_that_all_have_consumed_leaves_the_token_after_some_quiet_rounds_and_the_ring_rests()
    {
        _leader.Receive(1);
        // One round finds that all have it, and the quiet ones report that to all.
        for (int round = 0; round <= QuietRounds; round++)
        {
            Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalWaiting);
            _leader.EndRound(token => Assert.NotNull(token.Find(LoneMember.Publisher)));
        }

        Assert.Equal(_leader.Options.TokenIntervalIdle, _leader.AdvanceToToken());
        _leader.EndRound(token => Assert.Null(token.Find(LoneMember.Publisher)));
    }

    [Fact]
    public void A_ring_that_was_idle_for_long_announces_that_it_rests_and_turns_less_often()
    {
        for (int round = 0; round < IdleRounds; round++)
        {
            Assert.Equal(_leader.Options.TokenIntervalIdle, _leader.AdvanceToToken());
            _leader.EndRound(token => Assert.Equal(round == IdleRounds - 1, token.IsResting));
        }

        Assert.Equal(_leader.Options.TokenIntervalResting, _leader.AdvanceToToken());
    }

    [Fact]
    public void A_packet_ends_the_rest_at_once_and_the_ring_rests_again_only_after_as_many_idle_rounds()
    {
        _leader.RunRounds(IdleRounds + 1);
        _leader.Advance(100);

        _leader.Receive(1);

        Assert.Equal(_leader.Options.TokenIntervalActive, _leader.AdvanceToToken());
        for (int round = 0; round < QuietRounds + IdleRounds; round++)
        {
            _leader.EndRound(token => Assert.False(token.IsResting));
            Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalIdle);
        }
    }

    [Fact]
    public void A_packet_that_comes_while_a_resting_ring_turns_keeps_the_next_round_from_coming_late()
    {
        _leader.RunRounds(IdleRounds + 1);
        _leader.AdvanceToToken();
        _leader.Receive(1);

        _leader.EndRound();

        Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalIdle);
    }

    [Fact]
    public void A_node_that_departs_ends_the_rest_at_once()
    {
        _leader.RunRounds(IdleRounds + 1);
        _leader.Advance(100);

        _leader.Remove(LoneMember.Publisher);

        _leader.Advance(TimeSpan.Zero);
        Assert.False(_leader.TakeToken().IsResting);
    }

    [Fact]
    public void The_ring_is_not_quiet_while_a_member_has_not_consumed_what_the_leader_and_all_hold()
    {
        _leader.Receive(1, 2);
        for (int round = 0; round < QuietRounds * 5; round++)
        {
            Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalWaiting);
            _leader.EndRound(token =>
            {
                var record = token.Find(LoneMember.Publisher);
                Assert.NotNull(record);
                record.ConsumedByAll = 1;
            });
        }

        Assert.Equal(2, _leader.Settlement.Stable);
        Assert.Equal(1, _leader.TakeAcks()[^1].Consumed);

        _leader.RunRounds(1);

        Assert.Equal(2, _leader.TakeAcks()[^1].Consumed);
    }

    [Fact]
    public void The_ring_is_not_quiet_while_a_member_lacks_something()
    {
        _leader.Receive(1, 2);
        for (int round = 0; round < QuietRounds * 5; round++)
        {
            Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalWaiting);
            _leader.EndRound(token => token.Find(LoneMember.Publisher)!.HeldByAll = 1);
        }
    }

    [Fact]
    public void The_ring_is_not_quiet_while_its_leader_has_not_consumed()
    {
        ReceiveUnread(1);
        _leader.RunRounds(QuietRounds * 5);
        Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalWaiting);
        _leader.EndRound();

        _leader.Consumer.TakeHeld();
        _leader.RunRounds(QuietRounds + 1);

        Assert.Equal(_leader.Options.TokenIntervalIdle, _leader.AdvanceToToken());
    }

    [Fact]
    public void A_quiet_stream_comes_back_into_the_token_with_its_next_packet()
    {
        _leader.Receive(1);
        _leader.RunRounds(QuietRounds + 3);

        _leader.Receive(2);
        _leader.AdvanceToToken();

        Assert.Equal(2, _leader.TakeToken().Find(LoneMember.Publisher)!.HeldByAll);
    }

    [Fact]
    public void A_member_that_knows_more_of_a_stream_wakes_the_ring()
    {
        _leader.Receive(1);
        _leader.RunRounds(QuietRounds + 2);
        _leader.AdvanceToToken();

        _leader.EndRound(token =>
        {
            var record = token.Add(LoneMember.Publisher);
            record.Stable = 1;
            record.HeldByAny = 2;
            record.IsPartial = true;
        });

        Assert.True(_leader.AdvanceToToken() <= _leader.Options.TokenIntervalWaiting);
        Assert.NotNull(_leader.TakeToken().Find(LoneMember.Publisher));
    }

    private void ReceiveUnread(params long[] numbers)
    {
        _leader.Consumer.IsHolding = true;
        _leader.Receive(numbers);
    }

    private List<double> Intervals(int rounds)
    {
        var intervals = new List<double>();
        for (int i = 0; i < rounds; i++)
        {
            intervals.Add(_leader.AdvanceToToken().TotalMilliseconds);
            _leader.EndRound();
        }

        return intervals;
    }
}
