using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// How members watch for the leader of their ring, and who follows it.
public sealed class SuccessionTests
{
    [Fact]
    public void The_next_live_seat_leads_when_the_leader_is_removed()
    {
        var member = new LoneMember(members: 4, rank: 1);
        member.Receive(1);
        member.Give(member.TokenOf(member.Keys[0], 40), member.Keys[0]);
        member.TakeTokens();

        member.Remove(member.Keys[0]);
        member.Advance(TimeSpan.Zero);

        var token = member.TakeToken();
        Assert.Equal((member.Self, member.Keys[2]), (token.Leader, token.To));
        Assert.NotNull(token.Find(LoneMember.Publisher));
    }

    [Fact]
    public void Members_follow_the_first_round_of_a_new_leader_although_its_number_is_lower()
    {
        var member = new LoneMember(members: 4, rank: 2);
        member.Give(member.TokenOf(member.Keys[0], 40), member.Keys[1]);
        member.Remove(member.Keys[0]);

        Assert.Equal(DropReason.None, member.Give(member.TokenOf(member.Keys[1], 1), member.Keys[1]));
    }

    [Fact]
    public void A_member_that_sees_no_token_for_three_idle_intervals_probes_the_leader_and_reports_it_in_the_end()
    {
        var member = new LoneMember(members: 4, rank: 2);
        var watch = member.Options.TokenIntervalIdle * 3;
        member.Advance(watch - TimeSpan.FromMilliseconds(1));
        Assert.Empty(member.Port.Take(PacketKind.Probe));

        member.Advance(1);
        Assert.Equal(LoneMember.EndPointOf(member.Keys[0]), Assert.Single(member.Port.Take(PacketKind.Probe)).To);

        member.Advance(watch * 2);
        Assert.Empty(member.Membership.Suspects);
        member.Advance(watch);
        Assert.Equal([member.Keys[0]], member.Membership.Suspects);
    }

    [Fact]
    public void A_member_that_learns_that_the_leader_closed_the_view_probes_the_next_leader_at_once()
    {
        var member = new LoneMember(members: 5, rank: 4);
        member.Advance(member.Options.TokenIntervalIdle * 3);
        member.Port.Take(PacketKind.Probe);

        foreach (int leader in (int[])[0, 1, 2])
        {
            member.Region.OnMemberClosed(member.Keys[leader]);
            member.Rings.OnMemberClosed();

            Assert.Equal(LoneMember.EndPointOf(member.Keys[leader + 1]), Assert.Single(member.Port.Take(PacketKind.Probe)).To);
        }

        // As when the answer comes twice.
        member.Rings.OnMemberClosed();
        Assert.Empty(member.Port.Take(PacketKind.Probe));
    }

    [Fact]
    public void A_leader_that_answers_probes_is_not_reported()
    {
        var member = new LoneMember(members: 4, rank: 2);
        for (int i = 0; i < 10; i++)
        {
            member.Advance(member.Options.TokenIntervalIdle * 3);
            member.Rings.OnProbeReply(member.Keys[0]);
        }

        Assert.Empty(member.Membership.Suspects);
    }

    [Fact]
    public void A_member_that_sees_tokens_does_not_probe_the_leader()
    {
        var member = new LoneMember(members: 4, rank: 2);
        for (int round = 1; round <= 10; round++)
        {
            member.Give(member.TokenOf(member.Keys[0], round), member.Keys[1]);
            member.Advance(member.Options.TokenIntervalIdle);
        }

        Assert.Empty(member.Port.Take(PacketKind.Probe));
    }

    [Fact]
    public void A_member_of_a_ring_that_rests_probes_the_leader_after_three_long_intervals()
    {
        var member = Rested(out var seen);
        var interval = member.Options.TokenIntervalResting;

        // The first look finds the token that has come since the one before.
        member.Advance(seen + (3 * interval) - member.Environment.Now - TimeSpan.FromMilliseconds(1));
        Assert.Empty(member.Port.Take(PacketKind.Probe));

        member.Advance(3 * interval);
        Assert.Single(member.Port.Take(PacketKind.Probe));
    }

    [Fact]
    public void A_member_that_gets_packets_in_a_ring_that_rests_misses_its_token_as_soon_as_in_one_that_does_not()
    {
        var member = Rested(out _);
        member.Receive(1);

        member.Advance(3 * member.Options.TokenIntervalIdle);
        // The look that was due then may have found the resting token.
        member.Advance(3 * member.Options.TokenIntervalIdle);

        Assert.NotEmpty(member.Port.Take(PacketKind.Probe));
    }

    [Fact]
    public void A_member_whose_leader_misses_its_token_probes_the_seat_before_it_once_in_a_while()
    {
        var member = new LoneMember(members: 4, rank: 2);
        member.Rings.OnTokenMissed(member.Keys[0]);
        member.Rings.OnTokenMissed(member.Keys[0]);

        Assert.Equal(LoneMember.EndPointOf(member.Keys[1]), Assert.Single(member.Port.Take(PacketKind.Probe)).To);

        member.Advance(member.Options.TokenTimeout);
        member.Rings.OnTokenMissed(member.Keys[0]);
        Assert.Single(member.Port.Take(PacketKind.Probe));
    }

    [Fact]
    public void A_member_next_to_the_leader_probes_no_member_when_the_leader_misses_its_token()
    {
        var member = new LoneMember(members: 4, rank: 1);
        member.Rings.OnTokenMissed(member.Keys[0]);
        member.Rings.OnTokenMissed(member.Keys[3]);

        Assert.Empty(member.Port.Take(PacketKind.Probe));
    }

    // It has seen a token that announces the rest, and looked for tokens once since.
    private static LoneMember Rested(out TimeSpan looked)
    {
        var member = new LoneMember(members: 4, rank: 2);
        var token = member.TokenOf(member.Keys[0], 1);
        token.IsResting = true;
        member.Give(token, member.Keys[1]);
        member.Advance(3 * member.Options.TokenIntervalIdle);
        looked = member.Environment.Now;
        Assert.Empty(member.Port.Take(PacketKind.Probe));
        return member;
    }
}
