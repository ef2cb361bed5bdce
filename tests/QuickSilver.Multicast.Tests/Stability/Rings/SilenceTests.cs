using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// Tokens that are lost, and members that are silent.
public sealed class SilenceTests
{
    private const int TimeoutsUntilProbe = 3;

    private readonly LoneMember _leader = new(members: 4, rank: 0);

    private TimeSpan Timeout => _leader.Options.TokenTimeout;

    [Fact]
    public void A_lost_token_is_sent_again_as_a_new_round_after_a_timeout_that_doubles()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        long round = _leader.TakeToken().Round;
        foreach (var timeout in new[] { Timeout, Timeout * 2, Timeout * 4 })
        {
            _leader.Advance(timeout - TimeSpan.FromMilliseconds(1));
            Assert.Empty(_leader.TakeTokens());
            _leader.Advance(1);
            Assert.Equal(++round, _leader.TakeToken().Round);
        }

        Assert.Equal(3, _leader.Context.Counters.TokenTimeouts);
    }

    [Fact]
    public void The_timeout_is_bounded()
    {
        LoseTokens(TimeoutsUntilProbe);
        int sent = 0;
        for (int step = 0; step < 200; step++)
        {
            Answer(but: null);
            _leader.Advance(100);
            int tokens = _leader.TakeTokens().Count;
            sent += step < 100 ? 0 : tokens;
        }

        Assert.Equal(TimeSpan.FromSeconds(10) / _leader.Options.TokenTimeoutMax, sent);
    }

    [Fact]
    public void Rounds_that_come_home_shorten_the_timeout_to_its_least()
    {
        _leader.Receive(1);
        _leader.RunRounds(3, token => token.Find(LoneMember.Publisher)!.HeldByAll = 0);
        _leader.AdvanceToToken();
        _leader.TakeToken();

        Assert.Equal(_leader.Options.TokenTimeoutMin, _leader.AdvanceToToken());
    }

    [Fact]
    public void A_token_that_comes_home_after_its_timeout_is_not_taken_for_the_round_under_way()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        var late = _leader.TakeToken();
        _leader.Advance(Timeout);
        late.To = _leader.Self;

        Assert.Equal(DropReason.Duplicate, _leader.Give(late, _leader.Keys[3]));
        Assert.Equal(0, _leader.Settlement.Stable);

        _leader.EndRound();
        Assert.Equal(1, _leader.Settlement.Stable);
    }

    [Fact]
    public void All_members_are_probed_after_three_timeouts_and_not_before()
    {
        LoseTokens(TimeoutsUntilProbe - 1);
        Assert.Empty(_leader.Port.Take(PacketKind.Probe));

        _leader.Advance(Timeout * 4);

        var probes = _leader.Port.Take(PacketKind.Probe);
        Assert.Equal(_leader.Keys[1..].Select(LoneMember.EndPointOf), probes.Select(probe => probe.To));
        Assert.All(probes, probe => Assert.Equal(PacketFlags.AckWanted, probe.Flags));
        Assert.All(probes, probe => Assert.Equal(_leader.Options.PacketBytes, probe.Bytes.Length));
    }

    [Fact]
    public void A_member_that_answers_no_probe_is_passed_over_and_one_that_answers_is_not()
    {
        PassOver(_leader.Keys[2]);

        var token = _leader.TakeTokens()[^1];
        Assert.Equal([2], token.Skipped);
        Assert.Equal(_leader.Keys[1], token.To);
    }

    [Fact]
    public void A_round_without_a_silent_member_settles_nothing()
    {
        PassOver(_leader.Keys[2]);
        EndRoundWithoutTheSilent();

        Assert.Equal(0, _leader.Settlement.Stable);
        Assert.Empty(_leader.TakeAcks());
    }

    [Fact]
    public void A_round_without_a_silent_member_reports_packets()
    {
        PassOver(_leader.Keys[2]);
        EndRoundWithoutTheSilent(heldByAny: 3);

        Assert.Equal(3, _leader.Settlement.HeldByAny);
        Assert.Equal(3, _leader.Stream.Highest);
    }

    [Fact]
    public void A_member_that_is_passed_over_is_probed_again_and_then_reported()
    {
        PassOver(_leader.Keys[2]);
        Assert.Empty(_leader.Membership.Suspects);
        _leader.Port.Take(PacketKind.Probe);
        for (int i = 0; i < 3 && _leader.Membership.Suspects.Count == 0; i++)
        {
            EndRoundWithoutTheSilent();
            _leader.Advance(Timeout);
            Assert.Contains(_leader.Port.Take(PacketKind.Probe), probe => probe.To.Equals(LoneMember.EndPointOf(_leader.Keys[2])));
            Answer(but: _leader.Keys[2]);
            _leader.AdvanceToToken();
        }

        Assert.Equal([_leader.Keys[2]], _leader.Membership.Suspects);
    }

    [Fact]
    public void A_reply_brings_a_member_back_into_the_ring()
    {
        PassOver(_leader.Keys[2]);
        EndRoundWithoutTheSilent();
        Answer(but: null);
        _leader.AdvanceToToken();

        _leader.EndRound(token => Assert.Empty(token.Skipped));

        Assert.Equal(1, _leader.Settlement.Stable);
    }

    [Fact]
    public void When_a_silent_member_is_removed_the_others_settle_at_once()
    {
        PassOver(_leader.Keys[2]);
        _leader.TakeTokens();
        _leader.Remove(_leader.Keys[2]);
        _leader.Advance(TimeSpan.Zero);

        _leader.EndRound(token => Assert.Equal([2], token.Skipped));

        Assert.Equal(1, _leader.Settlement.Stable);
    }

    private void LoseTokens(int timeouts)
    {
        _leader.Receive(1);
        _leader.Advance(1);
        for (int i = 0; i < timeouts; i++)
        {
            _leader.Advance(Timeout * (1 << i));
        }
    }

    // Tokens are lost, and of all that are probed only this one does not answer.
    private void PassOver(NodeKey silent)
    {
        LoseTokens(TimeoutsUntilProbe);
        Answer(silent);
        _leader.TakeTokens();
        _leader.Advance(Timeout * 8);
        Answer(silent);
        _leader.TakeTokens();
        _leader.Advance(_leader.Options.TokenTimeoutMax);
    }

    private void Answer(NodeKey? but)
    {
        foreach (var member in _leader.Keys[1..])
        {
            if (member != but)
            {
                _leader.Rings.OnProbeReply(member);
            }
        }
    }

    private void EndRoundWithoutTheSilent(long heldByAny = 1)
    {
        var token = _leader.TakeTokens()[^1];
        Assert.NotEmpty(token.Skipped);
        token.Find(LoneMember.Publisher)!.HeldByAny = heldByAny;
        token.To = _leader.Self;
        Assert.Equal(DropReason.None, _leader.Give(token, _leader.Keys[3]));
    }
}
