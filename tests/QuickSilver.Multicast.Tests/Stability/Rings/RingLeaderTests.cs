using QuickSilver.Multicast.Stability.Rounds;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

public sealed class RingLeaderTests
{
    private static readonly TimeSpan Start = TimeSpan.FromSeconds(100);

    private readonly MulticastOptions _options = new() { ClusterId = 1 };
    private RingLeader _leader;
    private TimeSpan _now = Start;

    public RingLeaderTests()
    {
        _leader = new RingLeader(new RoundTimer(_options) { HeardAllAt = _now });
        _leader.Rest(_now);
    }

    [Fact]
    public void Packets_end_the_wait_of_a_ring_at_rest_and_do_not_postpone_the_round_that_is_due()
    {
        Assert.True(_leader.TryHurry(isScheduled: true));
        Assert.False(_leader.TryHurry(isScheduled: true));
    }

    [Fact]
    public void Packets_begin_a_round_that_is_due_but_not_scheduled()
    {
        _leader.OnMembersChanged(isLeader: true);
        Assert.True(_leader.TryHurry(isScheduled: false));
    }

    [Fact]
    public void Packets_begin_no_second_round_while_the_token_is_under_way()
    {
        _leader.Begin(_now);
        Assert.False(_leader.TryHurry(isScheduled: true));
        Assert.True(_leader.IsInFlight);
    }

    [Fact]
    public void A_sender_that_asks_gets_a_round_at_once_or_as_soon_as_the_present_one_is_over()
    {
        Assert.True(_leader.TryWant());
        _leader.Begin(_now);
        Assert.False(_leader.TryWant());
        Return();
        Assert.Equal(TimeSpan.Zero, _leader.Continue(hasMoved: false, isAwaited: false, _now));
        Assert.False(_leader.IsWanted);
    }

    [Fact]
    public void A_ring_with_a_fixed_rate_keeps_its_rate()
    {
        var leader = new RingLeader(new RoundTimer(_options with { Experiments = new() { TokenInterval = TimeSpan.FromSeconds(1) } }));
        Assert.False(leader.TryHurry(isScheduled: false));
        Assert.False(leader.TryWant());
        Assert.False(leader.IsWanted);
    }

    [Fact]
    public void The_wait_doubles_while_nothing_changes_and_is_short_again_after_a_change()
    {
        Assert.Equal(_options.TokenIntervalActive, RoundAndContinue(hasMoved: true));
        Assert.Equal(_options.TokenIntervalActive * 2, RoundAndContinue(hasMoved: false));
        Assert.Equal(_options.TokenIntervalActive * 4, RoundAndContinue(hasMoved: false));
        Assert.Equal(_options.TokenIntervalActive, RoundAndContinue(hasMoved: true));
    }

    [Fact]
    public void Packets_end_the_wait_after_a_round_without_news_only()
    {
        RoundAndContinue(hasMoved: true);
        Assert.False(_leader.TryHurry(isScheduled: true));
        RoundAndContinue(hasMoved: false);
        Assert.True(_leader.TryHurry(isScheduled: true));
    }

    [Fact]
    public void A_round_ends_with_its_own_token_only()
    {
        _leader.Begin(_now);
        _leader.Lose(_now, TimeSpan.MaxValue);
        _leader.Begin(_now);
        Assert.False(_leader.TryReturn(1, _now));
        Assert.True(_leader.TryReturn(2, _now));
        _leader.End(hasVisitedAll: true, _now);
        Assert.False(_leader.TryReturn(2, _now));
    }

    [Fact]
    public void Members_are_probed_after_three_lost_tokens_if_not_all_were_heard_for_as_long_as_is_allowed()
    {
        var patience = TimeSpan.FromSeconds(5);
        Assert.False(Lose(patience));
        Assert.False(Lose(patience));
        Assert.False(Lose(patience));
        _now = Start + patience;
        Assert.True(Lose(patience));
    }

    [Fact]
    public void A_token_that_has_skipped_a_member_does_not_show_that_all_were_heard()
    {
        _leader.Begin(_now += TimeSpan.FromSeconds(1));
        _leader.End(hasVisitedAll: false, _now);
        Assert.Equal(Start, _leader.Clock.HeardAllAt);
        _leader.Begin(_now);
        _leader.End(hasVisitedAll: true, _now);
        Assert.Equal(_now, _leader.Clock.HeardAllAt);
    }

    [Fact]
    public void After_a_change_of_members_the_numbers_continue_and_the_old_token_counts_no_more()
    {
        _leader.Begin(_now);
        _leader.OnMembersChanged(isLeader: true);
        Assert.False(_leader.TryReturn(1, _now));
        _leader.Begin(_now);
        Assert.Equal(2, _leader.Round);
    }

    [Fact]
    public void A_move_that_the_state_does_not_allow_is_refused()
    {
        Assert.Throws<InvalidOperationException>(() => _leader.End(hasVisitedAll: true, _now));
        Assert.Throws<InvalidOperationException>(() => _leader.Lose(_now, TimeSpan.Zero));
        _leader.Begin(_now);
        Assert.Throws<InvalidOperationException>(() => _leader.Begin(_now));
        Assert.Throws<InvalidOperationException>(() => _leader.Rest(_now));
        Assert.Throws<InvalidOperationException>(() => _leader.Continue(hasMoved: true, isAwaited: false, _now));
    }

    [Fact]
    public void Rounds_in_which_members_wait_to_agree_follow_each_other_soon_for_a_while()
    {
        for (int round = 0; round < 8; round++)
        {
            Assert.Equal(_options.TokenIntervalActive, RoundAndContinue(hasMoved: false, isAwaited: true));
        }

        Assert.Equal(_options.TokenIntervalActive * 2, RoundAndContinue(hasMoved: false, isAwaited: true));
        Assert.Equal(_options.TokenIntervalActive, RoundAndContinue(hasMoved: true, isAwaited: true));
    }

    [Fact]
    public void After_a_change_of_members_rounds_follow_each_other_soon()
    {
        for (int round = 0; round < 5; round++)
        {
            RoundAndContinue(hasMoved: false);
        }

        _leader.OnMembersChanged(isLeader: true);
        Assert.Equal(_options.TokenIntervalActive * 2, RoundAndContinue(hasMoved: false));
    }

    private void Return() => _leader.End(hasVisitedAll: true, _now);

    private TimeSpan RoundAndContinue(bool hasMoved, bool isAwaited = false)
    {
        _leader.Begin(_now);
        Return();
        return _leader.Continue(hasMoved, isAwaited, _now);
    }

    private bool Lose(TimeSpan patience)
    {
        _leader.Begin(_now);
        return _leader.Lose(_now, patience);
    }
}
