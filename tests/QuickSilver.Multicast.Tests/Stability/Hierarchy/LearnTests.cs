using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Hierarchy;

// What a member takes over of what tokens report.
public sealed class LearnTests
{
    private const int Window = 256;

    private readonly LoneMember _member =
        new(members: 4, rank: 1, new MulticastOptions { ClusterId = LoneMember.Cluster, WindowPackets = Window });

    private long _round;

    [Fact]
    public void A_member_takes_for_stable_no_more_than_it_has_without_a_gap()
    {
        _member.Receive(1, 2, 4);

        Tell(_member, record => record.Stable = record.HeldByAny = 4);

        Assert.Equal(2, _member.Settlement.Stable);
        Assert.Equal(2, _member.Stream.Stable);
    }

    [Fact]
    public void The_settled_number_never_goes_back()
    {
        _member.Receive(1, 2, 3);
        Tell(_member, record => record.Stable = record.Replicated = record.HeldByAny = 3);

        Tell(_member, record => record.Stable = record.Replicated = record.HeldByAny = 1);

        Assert.Equal((3, 3, 3), (_member.Settlement.Stable, _member.Settlement.Replicated, _member.Settlement.HeldByAny));
    }

    [Theory]
    [InlineData(1 + (2 * Window), true)]
    [InlineData(2 + (2 * Window), false)]
    public void Packets_further_ahead_than_two_windows_are_not_accepted(long number, bool isBelieved)
    {
        _member.Receive(1);

        Tell(_member, record => record.KnownHeldByAny = number);
        Tell(_member, record => record.HeldByAny = number);
        Tell(_member, record => record.Replicated = number);

        Assert.Equal(isBelieved ? number : 0, _member.Settlement.HeldByAny);
        Assert.Equal(isBelieved ? number : 0, _member.Settlement.Replicated);
    }

    [Fact]
    public void A_member_hears_from_any_part_of_a_token_that_packets_were_sent()
    {
        Tell(_member, record => record.HeldByAny = 3);
        Assert.Equal(3, _member.Stream.Highest);

        Tell(_member, record => record.KnownHeldByAny = 4);
        Assert.Equal(4, _member.Stream.Highest);
    }

    [Fact]
    public void Stable_packets_are_kept_for_no_member()
    {
        _member.Receive(1, 2, 3);

        Tell(_member, record => record.Stable = record.HeldByAny = 2);

        Assert.Equal([3], Kept(_member, 1, 3));
    }

    [Fact]
    public void Packets_that_their_keepers_hold_are_kept_by_them_alone()
    {
        // Two partitions, of which the first keeps the packets up to 7 and the second those from 8 to 15.
        var first = new LoneMember(members: 4, rank: 1, repair: new RepairRules(Replicas: 2));
        var second = new LoneMember(members: 4, rank: 2, repair: new RepairRules(Replicas: 2));
        foreach (var member in new[] { first, second })
        {
            member.Receive([.. Enumerable.Range(1, 12).Select(n => (long)n)]);
            Tell(member, record => record.Replicated = record.HeldByAny = 10);
        }

        Assert.Equal([1, 2, 3, 4, 5, 6, 7, 11, 12], Kept(first, 1, 12));
        Assert.Equal([8, 9, 10, 11, 12], Kept(second, 1, 12));
    }

    [Fact]
    public void When_a_partition_has_no_live_member_all_members_keep_everything()
    {
        var member = new LoneMember(members: 4, rank: 1, repair: new RepairRules(Replicas: 2));
        member.Receive([.. Enumerable.Range(1, 12).Select(n => (long)n)]);
        member.Remove(member.Keys[2]);
        member.Remove(member.Keys[3]);

        Tell(member, record => record.Replicated = record.HeldByAny = 12);

        Assert.Equal(12, Kept(member, 1, 12).Count);
    }

    [Fact]
    public void A_number_that_its_sender_denies_is_accepted_no_more()
    {
        _member.Receive(1, 2);
        Tell(_member, record => record.HeldByAny = 5);
        Assert.Equal(5, _member.Settlement.HeldByAny);

        _member.Rings.Retract(LoneMember.Publisher.Key(), 2);

        Assert.Equal(2, _member.Settlement.HeldByAny);
    }

    [Fact]
    public void A_number_that_its_sender_denies_is_removed_from_the_findings_of_the_leaders_rounds()
    {
        var leader = new LoneMember(members: 2, rank: 0);
        leader.Receive(1, 2);
        leader.AdvanceToToken();
        leader.EndRound(token => token.Find(LoneMember.Publisher)!.HeldByAny = 5);
        Assert.Equal(5, leader.Rings.Rings[0].FindResult(LoneMember.Publisher.Key())!.HeldByAny);

        leader.Rings.Retract(LoneMember.Publisher.Key(), 2);

        Assert.Equal(2, leader.Rings.Rings[0].FindResult(LoneMember.Publisher.Key())!.HeldByAny);
    }

    [Fact]
    public void A_token_that_reports_something_open_is_noted_as_busy_and_another_is_not()
    {
        _member.Receive(1, 2);
        _member.Advance(100);
        Tell(_member, record => record.Stable = record.HeldByAny = record.ConsumedByAll = 2);
        Assert.NotEqual(_member.Environment.Now, _member.Rings.LastUnconsumed);
        Assert.Equal(_member.Environment.Now, _member.Rings.LastHeard);

        Tell(_member, record => (record.Stable, record.HeldByAny, record.ConsumedByAll) = (2, 2, 1));
        Assert.Equal(_member.Environment.Now, _member.Rings.LastUnconsumed);
        Assert.NotEqual(_member.Environment.Now, _member.Rings.LastUnstable);

        Tell(_member, record => (record.Stable, record.HeldByAny) = (1, 2));
        Assert.Equal(_member.Environment.Now, _member.Rings.LastUnstable);
    }

    // A token of the ring's leader, in which all hold whatever is not said.
    private void Tell(LoneMember member, Action<RecoveryRecord> fill)
    {
        var token = member.TokenOf(member.Keys[0], ++_round);
        var record = token.Add(LoneMember.Publisher);
        record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = 1_000;
        fill(record);
        Assert.Equal(Core.Wire.DropReason.None, member.Give(token, member.Keys[0]));
    }

    private static List<long> Kept(LoneMember member, long first, long last)
    {
        var kept = new List<long>();
        for (long n = first; n <= last; n++)
        {
            if (member.Stream.TryGetPacket(n, member.Keys[0], TimeSpan.Zero, out _))
            {
                kept.Add(n);
            }
        }

        return kept;
    }
}
