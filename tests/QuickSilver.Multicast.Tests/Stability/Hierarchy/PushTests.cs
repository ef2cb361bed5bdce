using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Hierarchy;

// What a seat sends to the one before it, whose gaps came with the token.
public sealed class PushTests
{
    private const int PushLimit = 32;

    private readonly LoneMember _member = new(members: 3, rank: 1);
    private long _round;

    [Fact]
    public void A_neighbour_gets_what_it_lacks_and_nothing_else()
    {
        _member.Receive(1, 2, 3, 4, 6);

        Assert.Equal([2, 3, 6], Push((2, 3), (5, 6)));
    }

    [Fact]
    public void It_goes_to_the_one_that_the_token_came_from()
    {
        _member.Receive(1, 2);
        Tell((2, 2));

        Assert.Equal(LoneMember.EndPointOf(_member.Keys[0]), Assert.Single(_member.Port.Take(PacketKind.Data)).To);
    }

    [Fact]
    public void So_many_are_pushed_at_a_time()
    {
        _member.Receive([.. Enumerable.Range(1, 100).Select(n => (long)n)]);

        Assert.Equal(Enumerable.Range(1, PushLimit).Select(n => (long)n), Push((1, 100)));
    }

    [Fact]
    public void A_packet_that_was_pushed_just_now_is_not_pushed_again()
    {
        _member.Receive(1, 2);
        Assert.Equal([2], Push((2, 2)));
        Assert.Empty(Push((2, 2)));

        _member.Advance(_member.Options.PullRepeat);

        Assert.Equal([2], Push((2, 2)));
    }

    [Fact]
    public void No_more_is_pushed_than_may_be_sent_again()
    {
        var options = new MulticastOptions { ClusterId = LoneMember.Cluster, RepairBytesPerSecond = 1_472 };
        var member = new LoneMember(members: 3, rank: 1, options);
        member.Receive([.. Enumerable.Range(1, 100).Select(n => (long)n)]);
        var token = member.TokenOf(member.Keys[0], 1);
        var record = token.Add(LoneMember.Publisher);
        record.NeighbourGaps.Add(1, 100);
        record.IsPushWanted = true;
        member.Give(token, member.Keys[0]);
        member.Environment.EndTurn();

        Assert.InRange(member.Port.Take(PacketKind.Data).Count, 1, PushLimit - 1);
        Assert.Equal(1, member.Context.Counters.RepairsPutOff);
    }

    [Fact]
    public void A_member_reports_its_gaps_and_wants_them_pushed_only_when_pulls_have_failed()
    {
        _member.Receive(1, 3);
        var told = Tell();
        Assert.Equal([new(2, 2)], told.NeighbourGaps.Ranges.ToArray());
        Assert.Equal((3, false), (told.NeighbourThrough, told.IsPushWanted));

        _member.Advance(500);

        told = Tell();
        Assert.Equal([new(2, 2)], told.NeighbourGaps.Ranges.ToArray());
        Assert.True(told.IsPushWanted);
        _member.Receive(2);
        told = Tell();
        Assert.Equal((0, false), (told.NeighbourGaps.Count, told.IsPushWanted));
    }

    [Fact]
    public void The_gaps_of_the_seat_before_go_no_further()
    {
        _member.Receive(1, 2);

        Assert.Empty(Tell((2, 2)).NeighbourGaps.Ranges.ToArray());
    }

    private List<long> Push(params (long First, long Last)[] gaps)
    {
        Tell(gaps);
        return _member.Port.Take(PacketKind.Data).ConvertAll(packet => packet.Sequence);
    }

    private Multicast.Stability.Tokens.RecoveryRecord Tell(params (long First, long Last)[] gaps)
    {
        var token = _member.TokenOf(_member.Keys[0], ++_round);
        var record = token.Add(LoneMember.Publisher);
        foreach (var (first, last) in gaps)
        {
            record.NeighbourGaps.Add(first, last);
            record.IsPushWanted = true;
        }

        Assert.Equal(DropReason.None, _member.Give(token, _member.Keys[0]));
        _member.Environment.EndTurn();
        return _member.TakeToken().Find(LoneMember.Publisher)!;
    }
}
