using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Stability.Rounds;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// The records of more senders than one token has room for.
public sealed class RecordCycleTests
{
    private const int Senders = 100;

    private RecordCycle _cycle = new();

    [Fact]
    public void A_cycle_is_over_when_tokens_have_brought_back_all_records()
    {
        Assert.Equal(1, _cycle.Number);
        _cycle.OnRound(isLast: false, isOpen: false, hasMoved: false);
        Assert.Equal(1, _cycle.Number);
        _cycle.OnRound(isLast: true, isOpen: false, hasMoved: false);
        Assert.Equal(2, _cycle.Number);
    }

    [Fact]
    public void What_was_found_counts_at_the_end_of_the_cycle()
    {
        Assert.Equal((true, null), _cycle.OnRound(isLast: false, isOpen: false, hasMoved: false));
        Assert.Equal((true, true), _cycle.OnRound(isLast: false, isOpen: false, hasMoved: true));
        Assert.Equal((false, true), _cycle.OnRound(isLast: true, isOpen: false, hasMoved: false));

        Assert.Equal((true, null), _cycle.OnRound(isLast: false, isOpen: true, hasMoved: false));
        Assert.Equal((true, false), _cycle.OnRound(isLast: true, isOpen: false, hasMoved: false));
        Assert.Equal((false, false), _cycle.OnRound(isLast: true, isOpen: false, hasMoved: false));
    }

    [Fact]
    public void A_leader_settles_the_streams_of_many_senders_in_as_few_rounds_as_have_room_for_them_and_rests_only_then()
    {
        var leader = new LoneMember(members: 3, rank: 0);
        var streams = Enumerable.Range(0, Senders)
            .Select(i => leader.Region.FindOrAdd(new StreamKey(new NodeKey((ulong)(2_000 + i), 1), StreamClass.Reliable)))
            .ToList();
        foreach (var stream in streams)
        {
            leader.Receive(stream, 1);
        }

        int inToken = 0;
        leader.RunRounds(1, token => inToken = token.Count);
        Assert.InRange(inToken, 5, Senders / 4);
        int rounds = ((Senders + inToken - 1) / inToken) - 1;
        for (int i = 0; i < rounds; i++)
        {
            Assert.True(leader.AdvanceToToken() <= leader.Options.TokenIntervalActive);
            leader.EndRound();
        }

        Assert.All(streams, static stream => Assert.Equal(1, stream.Stable));
    }

    [Fact]
    public void Records_that_a_member_with_smaller_packets_leaves_out_come_first_in_the_next_token()
    {
        const int few = 4;
        var leader = new LoneMember(members: 3, rank: 0);
        var streams = Enumerable.Range(0, 3 * few)
            .Select(i => leader.Region.FindOrAdd(new StreamKey(new NodeKey((ulong)(2_000 + i), 1), StreamClass.Reliable)))
            .ToList();
        foreach (var stream in streams)
        {
            leader.Receive(stream, 1);
        }

        for (int round = 0; round < 3; round++)
        {
            leader.AdvanceToToken();
            var token = leader.TakeToken();
            var passed = leader.TokenOf(leader.Self, token.Round);
            for (int i = 0; i < few; i++)
            {
                var record = passed.Add(token[i].Stream);
                (record.HeldByAll, record.ConsumedByAll, record.ReadByAll, record.ReplicatedByAll) = (1, 1, 1, 1);
                record.HeldByAny = 1;
            }

            // The member behind it misses the others.
            for (int i = few; i < token.Count; i++)
            {
                var record = passed.Add(token[i].Stream);
                (record.HeldByAny, record.IsPartial) = (1, true);
            }

            Assert.Equal(DropReason.None, leader.Give(passed, leader.Keys[^1]));
        }

        Assert.All(streams, static stream => Assert.Equal(1, stream.Stable));
    }
}
