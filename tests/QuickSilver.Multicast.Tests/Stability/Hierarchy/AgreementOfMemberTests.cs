using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Hierarchy;

// What a member that does not lead reports of departed nodes, so that the members agree on what these have sent.
public sealed class AgreementOfMemberTests
{
    private const int MoreThanFit = 30;

    private readonly LoneMember _member = new(members: MoreThanFit + 2, rank: 1);

    [Fact]
    public void What_only_this_member_has_of_a_departed_sender_is_in_a_token_that_is_full_of_other_records()
    {
        _member.Receive(1, 2);
        _member.Remove(LoneMember.Publisher);

        var passed = Pass(_member.Keys[2..]);

        Assert.Equal(2, passed.Find(LoneMember.Publisher)!.HeldByAny);
        Assert.InRange(passed.Count, 10, MoreThanFit - 1);
        Assert.Equal(2, passed.Applied);
    }

    [Fact]
    public void A_token_without_room_for_all_records_of_departed_senders_reports_that_nothing_is_agreed()
    {
        foreach (var sender in _member.Keys[2..])
        {
            _member.Receive(_member.Region.FindOrAdd(new StreamKey(sender, StreamClass.Reliable)), 1);
            _member.Remove(sender);
        }

        var passed = Pass([]);

        Assert.InRange(passed.Count, 10, MoreThanFit - 1);
        Assert.Equal(0, passed.Applied);
    }

    [Fact]
    public void A_token_without_room_for_all_records_of_live_senders_reports_what_its_members_have_applied()
    {
        foreach (var sender in _member.Keys[2..])
        {
            _member.Receive(_member.Region.FindOrAdd(new StreamKey(sender, StreamClass.Reliable)), 1);
        }

        var passed = Pass([]);

        Assert.InRange(passed.Count, 10, MoreThanFit - 1);
        Assert.Equal(1, passed.Applied);
    }

    [Fact]
    public void A_leader_has_passed_on_an_agreement_when_a_round_has_carried_it_to_all_members()
    {
        var leader = new LoneMember(members: 3, rank: 0);
        leader.Remove(LoneMember.Publisher);
        long removal = leader.Context.Directory.Applied;
        for (int round = 0; leader.Rings.AgreedThrough < removal; round++)
        {
            Assert.True(round < 5, "The members do not agree.");
            Assert.False(leader.Rings.HasPassedOn(removal));
            leader.RunRounds(1);
        }

        Assert.False(leader.Rings.HasPassedOn(removal));
        leader.RunRounds(1, token => Assert.Equal(removal, token.Agreed));
        Assert.True(leader.Rings.HasPassedOn(removal));
    }

    [Fact]
    public void A_member_that_leads_no_ring_has_nothing_to_pass_on() => Assert.True(_member.Rings.HasPassedOn(100));

    // The token of the leader, with records of these senders, as this member passes it on.
    private Token Pass(NodeKey[] senders)
    {
        var token = _member.TokenOf(_member.Keys[0], round: 1);
        token.Applied = _member.Context.Directory.Applied;
        foreach (var sender in senders)
        {
            token.Add(sender).HeldByAny = 1;
        }

        Assert.Equal(DropReason.None, _member.Give(token, _member.Keys[0]));
        return _member.TakeToken();
    }
}
