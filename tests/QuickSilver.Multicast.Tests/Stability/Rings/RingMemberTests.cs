using QuickSilver.Multicast.Stability.Rounds;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

public sealed class RingMemberTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);

    private RingMember _member;
    private TimeSpan _now = TimeSpan.FromSeconds(100);

    [Fact]
    public void The_first_round_is_that_of_the_leader_that_is_expected()
    {
        Assert.False(Follow(leader: 2, round: 7, isExpected: false));
        Assert.True(Follow(leader: 1, round: 5));
        Assert.Equal((1, 5), (_member.Leader, _member.Round));
    }

    [Fact]
    public void Each_round_is_followed_once_and_no_older_one()
    {
        Follow(leader: 1, round: 5);
        Assert.False(Follow(leader: 1, round: 5));
        Assert.False(Follow(leader: 1, round: 4));
        Assert.True(Follow(leader: 1, round: 6));
    }

    [Fact]
    public void A_number_that_is_far_ahead_is_trusted_if_it_comes_from_the_leader_itself()
    {
        Follow(leader: 1, round: 5);
        Assert.False(Follow(leader: 1, round: 1_000_000));
        Assert.True(Follow(leader: 1, round: 1_000_000, isByLeader: true));
    }

    [Fact]
    public void Rounds_of_another_leader_are_followed_once_they_have_continued_for_long()
    {
        Follow(leader: 1, round: 5);
        Assert.False(Follow(leader: 0, round: 100, isExpected: false));
        _now += Patience / 2;
        Assert.False(Follow(leader: 0, round: 101, isExpected: false));
        _now += Patience / 2;
        Assert.True(Follow(leader: 0, round: 102, isExpected: false));
        Assert.Equal(0, _member.Leader);
    }

    [Fact]
    public void A_true_round_in_between_ends_the_patience_with_others()
    {
        Follow(leader: 1, round: 5);
        Follow(leader: 0, round: 100, isExpected: false);
        Follow(leader: 1, round: 6);
        _now += Patience;
        Assert.False(Follow(leader: 0, round: 101, isExpected: false));
    }

    [Fact]
    public void When_the_leader_is_removed_the_next_one_is_followed_at_any_number()
    {
        Follow(leader: 1, round: 500);
        _member.LoseLeader();
        Assert.True(Follow(leader: 2, round: 3));
    }

    [Fact]
    public void Tokens_of_the_rounds_that_this_member_leads_are_not_followed()
    {
        _member.Lead(rank: 1, round: 9);
        Assert.False(Follow(leader: 1, round: 9));
    }

    [Fact]
    public void A_look_shows_whether_a_token_has_come_since_the_last_one()
    {
        Assert.False(_member.EndWatch());
        Follow(leader: 1, round: 5);
        Assert.True(_member.EndWatch());
        Follow(leader: 1, round: 5);
        Assert.False(_member.EndWatch());
    }

    private bool Follow(int leader, long round, bool isExpected = true, bool isByLeader = false) =>
        _member.TryFollow(leader, round, isExpected, isByLeader, _now, Patience);
}
