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
    public void A_cycle_is_over_when_all_records_have_been_in_a_token()
    {
        Assert.Equal(1, _cycle.Number);
        _cycle.OnBegun(written: 15, isLast: false);
        Assert.Equal(1, _cycle.Number);
        _cycle.OnBegun(written: 15, isLast: true);
        Assert.Equal(2, _cycle.Number);
    }

    [Fact]
    public void What_was_found_counts_at_the_end_of_the_cycle()
    {
        Assert.Equal((true, null), Round(isLast: false, isOpen: false, hasMoved: false));
        Assert.Equal((true, true), Round(isLast: false, isOpen: false, hasMoved: true));
        Assert.Equal((false, true), Round(isLast: true, isOpen: false, hasMoved: false));

        Assert.Equal((true, null), Round(isLast: false, isOpen: true, hasMoved: false));
        Assert.Equal((true, false), Round(isLast: true, isOpen: false, hasMoved: false));
        Assert.Equal((false, false), Round(isLast: true, isOpen: false, hasMoved: false));
    }

    [Fact]
    public void Records_that_were_left_out_on_the_way_are_open()
    {
        Assert.Equal((true, false), Round(isLast: true, isOpen: false, hasMoved: false, returned: 14));
        Assert.Equal((false, false), Round(isLast: true, isOpen: false, hasMoved: false));
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

    private (bool IsOpen, bool? HasMoved) Round(bool isLast, bool isOpen, bool hasMoved, int returned = 15)
    {
        _cycle.OnBegun(written: 15, isLast);
        return _cycle.OnRound(returned, isOpen, hasMoved);
    }
}
