using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// Members that stand still (F6), and what a ring does when they continue.
public sealed class PauseTests
{
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(3);

    private readonly LoneMember _leader = new(members: 4, rank: 0);

    private TimeSpan Timeout => _leader.Options.TokenTimeout;

    [Fact]
    public void A_leader_that_stood_still_takes_the_token_that_came_meanwhile_before_it_misses_it()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        var token = _leader.TakeToken();
        _leader.Advance(2);

        StandStill(_leader, Pause);
        token.To = _leader.Self;
        Assert.Equal(DropReason.None, _leader.Give(token, _leader.Keys[3]));
        _leader.Advance(TimeSpan.Zero);

        Assert.Equal(0, _leader.Context.Counters.TokenTimeouts);
        Assert.InRange(_leader.Rings.LastRoundTrip, TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(5));
    }

    [Fact]
    public void A_leader_that_stood_still_misses_a_lost_token_as_soon_as_it_would_have_without()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        _leader.TakeToken();
        _leader.Advance(2);

        StandStill(_leader, Pause);
        _leader.Advance(Timeout - TimeSpan.FromMilliseconds(3));
        Assert.Empty(_leader.TakeTokens());
        _leader.Advance(TimeSpan.FromMilliseconds(1));
        Assert.Equal(2, _leader.TakeToken().Round);
    }

    [Fact]
    public void A_leader_that_stands_still_all_the_time_misses_a_lost_token_nevertheless()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        _leader.TakeToken();
        for (int i = 0; i < 20 && _leader.Context.Counters.TokenTimeouts == 0; i++)
        {
            StandStill(_leader, TimeSpan.FromMilliseconds(60));
            _leader.Advance(5);
        }

        Assert.Equal(1, _leader.Context.Counters.TokenTimeouts);
    }

    [Fact]
    public void A_leader_that_hears_of_a_members_pause_waits_no_longer_than_before_the_pause()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        for (int i = 0; i < 2; i++)
        {
            _leader.Advance(Timeout * (1 << i));
        }

        _leader.TakeTokens();
        _leader.Rings.OnMemberPaused(_leader.Keys[2]);
        _leader.Advance(Timeout);
        _leader.TakeToken();
        _leader.Advance(Timeout * 2);
        _leader.TakeToken();
    }

    [Fact]
    public void A_pause_of_a_node_that_is_not_in_the_ring_changes_nothing()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        _leader.Advance(Timeout);
        _leader.TakeTokens();
        _leader.Rings.OnMemberPaused(LoneMember.Publisher);
        _leader.Advance(Timeout);
        Assert.Empty(_leader.TakeTokens());
    }

    [Fact]
    public void A_member_that_was_passed_over_is_in_the_ring_again_as_soon_as_it_reports_that_it_stood_still()
    {
        _leader.Receive(1);
        _leader.Advance(1);
        for (int i = 0; i < 5; i++)
        {
            _leader.Advance(_leader.Options.TokenTimeoutMax);
            Answer(but: 2);
        }

        Assert.Equal([2], _leader.TakeTokens()[^1].Skipped);
        _leader.Rings.OnMemberPaused(_leader.Keys[2]);
        _leader.Advance(_leader.Options.TokenTimeoutMax);
        Assert.Empty(_leader.TakeTokens()[^1].Skipped);
    }

    [Fact]
    public void A_member_that_stood_still_looks_for_its_leader_no_sooner_than_without()
    {
        var member = new LoneMember(members: 4, rank: 1);
        member.Advance(2000);
        StandStill(member, TimeSpan.FromSeconds(8));
        member.Advance(900);
        Assert.Empty(member.Port.Take(PacketKind.Probe));
        member.Advance(200);
        Assert.Single(member.Port.Take(PacketKind.Probe));
    }

    [Fact]
    public void A_member_notifies_its_leader_and_the_members_beside_it_and_none_twice()
    {
        Assert.Equal([1, 2, 4], Neighbours(rank: 2));
        Assert.Equal([1, 3], Neighbours(rank: 3));
        Assert.Equal([4, 2], Neighbours(rank: 0));
    }

    [Fact]
    public void A_member_that_is_alone_notifies_no_node()
    {
        var to = new List<Membership.Views.NodeKey>();
        new LoneMember(members: 1, rank: 0).Rings.AddNeighbours(to);
        Assert.Empty(to);
    }

    [Fact]
    public void A_sender_that_stood_still_does_not_suspect_the_member_that_is_to_acknowledge()
    {
        var sender = new LoneSender().Opened();
        sender.Send(1);
        sender.Advance(100);
        sender.Environment.Pass(TimeSpan.FromSeconds(8));
        sender.Stream.OnPause(TimeSpan.FromSeconds(8));
        sender.Advance(1000);
        Assert.Empty(sender.Suspects);
        sender.Advance(1000);
        Assert.NotEmpty(sender.Suspects);
    }

    private static ulong[] Neighbours(int rank)
    {
        var to = new List<Membership.Views.NodeKey>();
        new LoneMember(members: 4, rank).Rings.AddNeighbours(to);
        return [.. to.Select(key => key.Id)];
    }

    // As the core thread reports it: before anything is read and before any alarm fires.
    private static void StandStill(LoneMember member, TimeSpan length)
    {
        member.Environment.Pass(length);
        member.Region.OnPause(length);
    }

    private void Answer(int but)
    {
        for (int rank = 1; rank < _leader.Keys.Length; rank++)
        {
            if (rank != but)
            {
                _leader.Rings.OnProbeReply(_leader.Keys[rank]);
            }
        }
    }
}
