using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Hierarchy;

// Two rings of two members, and the root, in which the leaders of both sit: ranks 0 and 2.
public sealed class LevelTests
{
    private static readonly RepairRules TwoByTwo = new(Replicas: 2, RingSize: 2);

    private readonly LoneMember _root = new(members: 4, rank: 0, repair: TwoByTwo);
    private readonly LoneMember _second = new(members: 4, rank: 2, repair: TwoByTwo);

    [Fact]
    public void A_leader_reports_to_the_ring_above_what_its_last_whole_round_found()
    {
        _root.Receive(1, 2, 3);
        EndBelow(record => (record.HeldByAll, record.ConsumedByAll, record.ReadByAll, record.ReplicatedByAll) = (2, 1, 3, 2));

        var token = TokenOfLevel(_root, 1);

        var record = Record(token);
        Assert.Equal(_root.Keys[2], token.To);
        Assert.Equal((2, 1, 3, 2), (record.HeldByAll, record.ConsumedByAll, record.ReadByAll, record.ReplicatedByAll));
    }

    [Fact]
    public void A_ring_below_the_root_settles_and_acknowledges_nothing()
    {
        _root.Receive(1);
        EndBelow(_ => { });

        Assert.Equal(0, _root.Settlement.Stable);
        Assert.Empty(_root.TakeAcks());
    }

    [Fact]
    public void A_seat_whose_ring_has_had_no_whole_round_holds_nothing()
    {
        _second.Receive(1, 2);

        var record = Tell(_second, record => record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = 2);

        Assert.Equal((0, 0, 0, 0), (record.HeldByAll, record.ConsumedByAll, record.ReadByAll, record.ReplicatedByAll));
        Assert.Equal(2, record.HeldByAny);
    }

    // Its seat is occupied by a member that this one considers live, and that the new leader and its token leave out.
    [Fact]
    public void A_token_comes_home_to_a_leader_of_whose_predecessor_s_removal_a_member_does_not_know()
    {
        var sent = new List<Token>();
        for (int round = 1; round <= 20; round++)
        {
            var token = _second.TokenOf(_root.Keys[1], round, level: 1);
            token.Skipped.Add(0);
            _second.Give(token, _root.Keys[1]);
            sent.AddRange(_second.TakeTokens().Where(static token => token.Level == 1));
            _second.Advance(_second.Options.TokenTimeout / 5);
        }

        Assert.NotEmpty(sent);
        Assert.All(sent, token => Assert.Equal(_second.Keys[1], token.To));
    }

    [Fact]
    public void Drops_and_buffers_of_a_ring_are_reported_above()
    {
        _root.Receive(1);
        _root.AdvanceToToken();
        _root.EndRound(token => (token.KernelDrops, token.ReceiveBufferBytes) = (9, 4_000), _root.Keys[1]);

        var token = TokenOfLevel(_root, 1);

        Assert.Equal((9, 4_000), (token.KernelDrops, token.ReceiveBufferBytes));
    }

    [Fact]
    public void Decisions_of_the_root_come_down_with_the_next_token_of_the_rings_below()
    {
        _root.Receive(1, 2);
        EndBelow(_ => { });
        EndOfLevel1(_ => { });
        Assert.Equal(2, _root.Settlement.Stable);

        Assert.Equal(2, Record(TokenOfLevel(_root, 0)).Stable);
    }

    [Fact]
    public void News_that_a_leader_hears_above_wakes_its_resting_ring_below()
    {
        _second.Receive(1);
        _second.RunRounds(10);
        _second.TakeTokens();

        Tell(_second, record => record.Stable = record.HeldByAny = 1);

        _second.Advance(_second.Options.TokenIntervalWaiting);
        Assert.Equal(1, Record(TokenOfLevel(_second, 0)).Stable);
    }

    [Fact]
    public void At_a_fixed_rate_a_ring_ends_its_round_shortly_before_the_token_above_comes_again()
    {
        var interval = TimeSpan.FromMilliseconds(200);
        var second = SecondWithTokensEach(interval);
        for (int number = 1; number <= 5; number++)
        {
            Tell(second, record => record.HeldByAny = number, 2 * number);
            var next = second.Environment.Now + interval;
            second.Advance(20);
            second.Receive(number);
            second.AdvanceToToken();
            second.Advance(2);
            second.EndRound(from: second.Keys[3]);
            Assert.InRange((next - second.Environment.Now).TotalMilliseconds, 2, interval.TotalMilliseconds / 2);

            second.Advance(next - second.Environment.Now);
            Assert.Equal(number, Tell(second, record => record.HeldByAll = number, (2 * number) + 1).HeldByAll);
        }
    }

    [Fact]
    public void At_a_fixed_rate_a_ring_that_hears_nothing_from_above_keeps_its_own_time()
    {
        var interval = TimeSpan.FromMilliseconds(200);
        var second = SecondWithTokensEach(interval);
        second.AdvanceToToken();
        for (int i = 0; i < 5; i++)
        {
            second.Advance(3);
            second.EndRound(from: second.Keys[3]);
            Assert.Equal(interval.TotalMilliseconds - 3, second.AdvanceToToken().TotalMilliseconds);
        }
    }

    [Fact]
    public void The_time_to_aggregate_counts_from_the_arrival_until_each_level_knows_and_includes_the_waits()
    {
        _root.Receive(1);
        EndBelow(_ => { });
        _root.Advance(40);
        EndOfLevel1(_ => { });

        var (times, trips) = (_root.Context.Counters.TimesToAggregate, _root.Context.Counters.TokenRoundTrips);
        Assert.InRange(times.At(1)!.Total, times.At(0)!.Total + TimeSpan.FromMilliseconds(40), TimeSpan.FromSeconds(1));
        Assert.Equal((1, 1), (Count(trips.At(0)!), Count(trips.At(1)!)));

        static long Count(DurationHistogram times) => Enumerable.Range(0, DurationHistogram.Classes).Sum(times.CountOf);
    }

    [Fact]
    public void A_wanted_round_is_wanted_above_too()
    {
        _root.Receive(1);
        _root.Rings.OnAckWanted();
        _root.Advance(TimeSpan.Zero);
        _root.EndRound(from: _root.Keys[1]);

        _root.Advance(TimeSpan.Zero);

        Assert.Contains(_root.TakeTokens(), token => token.Level == 1);
    }

    [Fact]
    public void A_ring_that_has_not_reported_in_an_epoch_makes_the_record_partial_and_is_asked()
    {
        const ulong epoch = 1UL << 32 | 1;
        _second.Receive(1, 3);
        _second.Remove(LoneMember.Publisher);
        _second.Advance(TimeSpan.Zero);
        _second.TakeTokens();

        Assert.True(Tell(_second, record => (record.Epoch, record.IsGathering, record.Through) = (epoch, true, 3)).IsPartial);

        // The ring below is asked, and then the seat speaks for it.
        _second.Advance(_second.Options.TokenTimeout * 4);
        var asked = _second.TakeTokens().FindLast(token => token.Level == 0)!;
        Assert.Equal((epoch, true), (Record(asked).Epoch, Record(asked).IsGathering));
        asked.To = _second.Self;
        _second.Give(asked, _second.Keys[3]);
        var record = Tell(
            _second,
            record =>
            {
                (record.Epoch, record.IsGathering, record.Through) = (epoch, true, 3);
                record.LackedByAll.Add(1, 2);
            });
        Assert.False(record.IsPartial);
        Assert.Equal([new(2, 2)], record.LackedByAll.Ranges.ToArray());
    }

    [Fact]
    public void A_member_that_comes_to_lead_its_ring_takes_the_seat_above()
    {
        var member = new LoneMember(members: 4, rank: 1, repair: TwoByTwo);
        Assert.Single(member.Rings.Rings);

        member.Remove(member.Keys[0]);

        Assert.Equal(2, member.Rings.Rings.Count);
        Assert.True(member.Rings.Rings[1].IsLeader);
    }

    [Fact]
    public void A_ring_without_a_live_member_is_left_out_above()
    {
        _root.Remove(_root.Keys[2]);
        _root.Remove(_root.Keys[3]);
        _root.Receive(1);
        EndBelow(_ => { });
        _root.Advance(5);

        Assert.Equal(1, _root.Settlement.Stable);
        Assert.Equal(1, _root.TakeAcks()[^1].Stable);
    }

    private static RecoveryRecord Record(Token token) => token.Find(LoneMember.Publisher)!;

    private static Token TokenOfLevel(LoneMember member, int level)
    {
        for (int step = 0; step < 2_000; step++)
        {
            if (member.TakeTokens().FindLast(token => token.Level == level) is { } found)
            {
                return found;
            }

            member.Advance(1);
        }

        throw new InvalidOperationException("No token came.");
    }

    private static LoneMember SecondWithTokensEach(TimeSpan interval) =>
        new(
            members: 4,
            rank: 2,
            new MulticastOptions { ClusterId = LoneMember.Cluster, Experiments = new() { TokenInterval = interval } },
            TwoByTwo);

    private void EndBelow(Action<RecoveryRecord> others)
    {
        _root.AdvanceToToken();
        _root.EndRound(token => others(Record(token)), _root.Keys[1]);
    }

    private void EndOfLevel1(Action<RecoveryRecord> others)
    {
        var token = TokenOfLevel(_root, 1);
        others(Record(token));
        token.To = _root.Self;
        Assert.Equal(DropReason.None, _root.Give(token, _root.Keys[2]));
    }

    // A token of the root comes to the other leader; gives the record as it was passed on.
    private static RecoveryRecord Tell(LoneMember member, Action<RecoveryRecord> fill, long? round = null)
    {
        var token = member.TokenOf(member.Keys[0], round ?? member.Environment.Now.Ticks, level: 1);
        fill(token.Add(LoneMember.Publisher));
        Assert.Equal(DropReason.None, member.Give(token, member.Keys[0]));
        return Record(member.TakeTokens().Find(sent => sent.Level == 1)!);
    }
}
