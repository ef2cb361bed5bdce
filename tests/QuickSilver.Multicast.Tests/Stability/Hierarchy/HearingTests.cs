using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Hierarchy;

// Two rings of two members, and the root, in which the leaders of both sit: ranks 0 and 2. I6.
public sealed class HearingTests
{
    private static readonly RepairRules TwoByTwo = new(Replicas: 2, RingSize: 2);

    private readonly LoneMember _root = new(members: 4, rank: 0, repair: TwoByTwo);
    private readonly LoneMember _second = new(members: 4, rank: 2, repair: TwoByTwo);
    private readonly LoneMember _last = new(members: 4, rank: 3, repair: TwoByTwo);

    [Fact]
    public void A_leader_reports_to_the_ring_above_that_its_last_round_did_not_reach_a_member()
    {
        _root.Receive(1);
        EndRound(_root, 0, _ => { });
        Assert.False(TokenOfLevel(_root, 1).IsAnyUnheard);

        _root.Receive(2);
        EndRound(_root, 0, token => token.Skipped.Add(1));
        EndRound(_root, 1, _ => { });
        Assert.True(TokenOfLevel(_root, 1).IsAnyUnheard);
    }

    [Fact]
    public void Reports_of_seats_to_the_root_come_down_in_the_tokens_of_the_rings_below()
    {
        _root.Receive(1);
        EndRound(_root, 0, _ => { });
        EndRound(_root, 1, token => token.IsAnyUnheard = true);

        Assert.True(TokenOfLevel(_root, 0).IsUnheardInView);
        Assert.True(_root.Rings.Rings[1].Hearing.IsAnyUnheard);
        Assert.True(TokenOfLevel(_root, 1).IsUnheardInView);
    }

    [Fact]
    public void A_seat_passes_down_what_the_root_says_and_does_not_report_it_to_the_root_again()
    {
        _second.Receive(1);
        _second.TakeTokens();
        var told = Tell(token => token.IsUnheardInView = true);
        Assert.False(told.IsAnyUnheard);

        var below = TokenOfLevel(_second, 0);
        Assert.True(below.IsUnheardInView);
        Assert.False(below.IsAnyUnheard);

        Tell(_ => { });
        _second.Receive(2);
        _second.Advance(_second.Options.TokenTimeout * 8);
        Assert.False(_second.TakeTokens().FindLast(token => token.Level == 0)!.IsUnheardInView);
    }

    [Fact]
    public void A_ring_above_that_is_silent_may_hide_a_member()
    {
        _second.Receive(1);
        var end = _second.Environment.Now + _second.Options.RingSilence;
        while (_second.Environment.Now < end)
        {
            EndRound(_second, 0, token => Assert.Equal(_second.Environment.Now >= end, token.IsUnheardInView), _second.Keys[3]);
        }

        Assert.True(TokenOfLevel(_second, 0).IsUnheardInView);
    }

    [Fact]
    public void A_ring_above_that_rests_may_be_silent_for_longer_until_something_happens()
    {
        _second.Receive(1);
        _second.TakeTokens();
        Tell(token => token.IsResting = true);
        var hearing = _second.Rings.Rings[1].Hearing;

        _second.Advance((2 * _second.Options.TokenIntervalResting) - TimeSpan.FromMilliseconds(1));
        Assert.False(hearing.IsUnheardInView);

        _second.Remove(LoneMember.Publisher);
        Assert.False(hearing.IsUnheardInView);
        _second.Advance(_second.Options.RingSilence);
        Assert.True(hearing.IsUnheardInView);
    }

    [Fact]
    public void A_ring_above_that_was_silent_for_longer_than_a_rest_is_not_heard_either_when_something_happens()
    {
        _second.Receive(1);
        _second.TakeTokens();
        Tell(token => token.IsResting = true);
        _second.Advance(2 * _second.Options.TokenIntervalResting);

        _second.Remove(LoneMember.Publisher);

        Assert.True(_second.Rings.Rings[1].Hearing.IsUnheardInView);
    }

    [Fact]
    public void A_member_that_learns_of_an_unheard_member_considers_the_view_unstable()
    {
        foreach (var say in new Action<Token>[] { t => t.Skipped.Add(1), t => t.IsAnyUnheard = true, t => t.IsUnheardInView = true })
        {
            _last.Advance(10);
            var token = _last.TokenOf(_last.Keys[2], _last.Environment.Now.Ticks);
            _last.Give(token, _last.Keys[2]);
            Assert.NotEqual(_last.Environment.Now, _last.Rings.LastUnstable);

            _last.Advance(10);
            token = _last.TokenOf(_last.Keys[2], _last.Environment.Now.Ticks);
            say(token);
            _last.Give(token, _last.Keys[2]);
            Assert.Equal(_last.Environment.Now, _last.Rings.LastUnstable);
        }
    }

    private Token Tell(Action<Token> say)
    {
        _second.Advance(1);
        var token = _second.TokenOf(_second.Keys[0], _second.Environment.Now.Ticks, level: 1);
        say(token);
        _second.Give(token, _second.Keys[0]);
        return _second.TakeTokens().FindLast(sent => sent.Level == 1)!;
    }

    private static void EndRound(LoneMember member, int level, Action<Token> others, NodeKey? from = null)
    {
        var token = TokenOfLevel(member, level);
        others(token);
        token.To = member.Self;
        Assert.Equal(DropReason.None, member.Give(token, from ?? member.Keys[level == 0 ? 1 : 2]));
    }

    private static Token TokenOfLevel(LoneMember member, int level)
    {
        for (int i = 0; i < 5_000; i++)
        {
            if (member.TakeTokens().Find(token => token.Level == level) is { } found)
            {
                return found;
            }

            member.Advance(1);
        }

        throw new InvalidOperationException($"No token of level {level} was sent.");
    }
}
