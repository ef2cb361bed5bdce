using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Hierarchy;

// How the root's leader has the members decide what is lost of a sender that is gone.
public sealed class EpochTests
{
    private readonly LoneMember _leader = new(members: 3, rank: 0);

    [Fact]
    public void The_leader_begins_an_epoch_when_a_sender_is_gone_of_which_something_is_open()
    {
        LoseSender(1, 2, 3, 5);

        var record = Record(_leader.TakeToken());
        Assert.True(record.IsGathering);
        Assert.Equal(1UL << 32 | 1, record.Epoch);
        Assert.Equal(5, record.Through);
        Assert.Equal([new(4, 4)], record.LackedByAll.Ranges.ToArray());
    }

    [Fact]
    public void No_epoch_begins_while_the_sender_lives()
    {
        _leader.Receive(1, 2, 4);
        _leader.RunRounds(20, token =>
        {
            Assert.False(Record(token).IsGathering);
            Record(token).HeldByAll = 1;
        });

        Assert.Equal(0UL, _leader.Settlement.Epoch);
    }

    [Fact]
    public void No_epoch_begins_when_all_is_stable()
    {
        _leader.Receive(1, 2);
        _leader.RunRounds(1);
        LoseSender();

        Assert.False(Record(_leader.TakeToken()).IsGathering);
    }

    [Fact]
    public void Packets_that_no_member_can_supply_are_given_up()
    {
        LoseSender(1, 2, 3, 5);

        _leader.EndRound();

        Assert.True(_leader.Settlement.IsDecided);
        Assert.True(_leader.Stream.Missing.IsEmpty);
        Assert.Equal(5, _leader.Stream.Contiguous);
        Assert.Equal([1, 2, 3, 5], _leader.Consumer.Messages);
        Assert.True(_leader.Consumer.Losses > 0);
        Assert.True(Record(NextToken()).IsDecided);
    }

    [Fact]
    public void Packets_that_a_member_can_supply_are_kept_and_requested_again()
    {
        LoseSender(1, 2, 3, 5);
        _leader.Port.Take(PacketKind.Pull);

        _leader.EndRound(token => Record(token).LackedByAll.Clear());

        Assert.True(_leader.Settlement.IsDecided);
        Assert.True(_leader.Stream.Missing.Contains(4));
        Assert.Equal(0, _leader.Consumer.Losses);
        _leader.Advance(TimeSpan.Zero);
        Assert.Single(_leader.Port.Take(PacketKind.Pull));
    }

    [Fact]
    public void Nothing_is_given_up_when_a_member_still_hears_the_sender()
    {
        LoseSender(1, 2, 3, 5);

        _leader.EndRound(token => Record(token).IsRefused = true);

        Assert.True(_leader.Settlement.IsDecided);
        Assert.True(_leader.Stream.Missing.Contains(4));
    }

    [Fact]
    public void A_round_to_which_a_ring_below_has_not_added_its_part_decides_nothing()
    {
        LoseSender(1, 2, 3, 5);
        _leader.EndRound(token => Record(token).IsPartial = true);
        Assert.False(_leader.Settlement.IsDecided);

        var record = Record(NextToken());
        Assert.True(record.IsGathering);
        Assert.Equal(1UL << 32 | 1, record.Epoch);
    }

    [Fact]
    public void A_disputed_round_decides_nothing()
    {
        LoseSender(1, 2, 3, 5);
        _leader.EndRound(token => token.IsDisputed = true);

        Assert.False(_leader.Settlement.IsDecided);
        Assert.True(_leader.Stream.Missing.Contains(4));
    }

    [Fact]
    public void A_round_of_another_epoch_decides_nothing()
    {
        LoseSender(1, 2, 3, 5);
        _leader.EndRound(token => Record(token).Epoch++);

        Assert.False(_leader.Settlement.IsDecided);
        Assert.True(_leader.Stream.Missing.Contains(4));
    }

    [Fact]
    public void A_member_that_has_reported_what_it_lacks_accepts_nothing_until_the_decision()
    {
        LoseSender(1, 2, 3, 5);
        Assert.Equal(DropReason.Undecided, _leader.Receive(4));

        _leader.EndRound(token => Record(token).LackedByAll.Clear());

        Assert.Equal(DropReason.None, _leader.Receive(4));
        Assert.Equal(5, _leader.Stream.Contiguous);
    }

    [Fact]
    public void Epochs_that_find_nothing_lost_come_ever_more_rarely()
    {
        LoseSender(1, 2, 3, 5);
        var begun = _leader.Environment.Now;
        var spacings = new List<double>();
        ulong epoch = _leader.Settlement.Epoch;
        for (int round = 0; spacings.Count < 6; round++)
        {
            Assert.True(round < 1_000);
            _leader.AdvanceToToken();
            if (_leader.Settlement.Epoch != epoch)
            {
                epoch = _leader.Settlement.Epoch;
                spacings.Add((_leader.Environment.Now - begun) / _leader.Options.EpochSpacing);
                begun = _leader.Environment.Now;
            }

            _leader.EndRound(token =>
            {
                Record(token).LackedByAll.Clear();
                Record(token).HeldByAll = 3;
            });
        }

        // An epoch begins with the first round that is due, at most a waiting interval later.
        double[] least = [2, 4, 8, 16, 16, 16];
        Assert.All(spacings.Zip(least), pair => Assert.InRange(pair.First, pair.Second, pair.Second + 0.5));
    }

    [Fact]
    public void A_decision_that_has_gone_round_does_not_hasten_the_ring()
    {
        _leader.Consumer.IsHolding = true;
        LoseSender(1, 2);
        _leader.EndRound();
        _leader.RunRounds(8);
        Assert.True(_leader.Settlement.IsDecided);

        Assert.Equal(_leader.Options.TokenIntervalWaiting, _leader.AdvanceToToken());
    }

    [Fact]
    public void Each_epoch_has_a_later_number_than_the_one_before_and_names_its_leader()
    {
        LoseSender(1, 2, 3, 5);
        _leader.EndRound(token => Record(token).LackedByAll.Clear());
        ulong first = _leader.Settlement.Epoch;
        Assert.Equal(0, _leader.Settlement.EpochLeader);

        _leader.Advance(_leader.Options.EpochSpacing * 3);
        _leader.TakeTokens();
        _leader.Advance(_leader.Options.TokenTimeout * 2);

        Assert.Equal((first >> 32) + 1, _leader.Settlement.Epoch >> 32);
    }

    [Fact]
    public void Those_above_are_notified_once_when_all_of_a_sender_that_is_gone_is_settled()
    {
        LoseSender(1, 2);
        Assert.Equal(0, _leader.Consumer.Losses);

        _leader.EndRound();
        Assert.Equal(1, _leader.Consumer.Losses);

        _leader.RunRounds(5);
        Assert.Equal(1, _leader.Consumer.Losses);
    }

    [Fact]
    public void Those_above_are_not_notified_while_others_know_of_more()
    {
        LoseSender(1, 2);

        _leader.EndRound(token => Record(token).HeldByAny = 3);

        Assert.Equal(0, _leader.Consumer.Losses);
    }

    [Fact]
    public void A_member_that_missed_the_decision_gets_it_again()
    {
        LoseSender(1, 2);
        _leader.RunRounds(1);
        ulong epoch = _leader.Settlement.Epoch;
        Assert.True(_leader.Settlement.IsDecided);
        _leader.RunRounds(8, token => Assert.True(token.Count == 0 || Record(token).IsDecided));

        _leader.RunRounds(1, token =>
        {
            Assert.Equal(0, token.Count);
            var record = token.Add(LoneMember.Publisher);
            (record.Stable, record.HeldByAny, record.Epoch, record.IsGathering, record.IsPartial) = (2, 2, epoch, true, true);
        });

        Assert.Equal((epoch, true), (Record(NextToken()).Epoch, _leader.Settlement.IsDecided));
    }

    // A leader that was mistaken began it, or it is a lie: the member ignores the decisions of earlier epochs.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_epoch_above_the_leaders_own_in_which_a_member_waits_is_ended_by_a_later_one(bool hadEpoch)
    {
        if (hadEpoch)
        {
            LoseSender(1, 2);
            _leader.RunRounds(1);
        }
        else
        {
            _leader.Receive(1, 2);
            _leader.RunRounds(2);
            LoseSender();
        }

        _leader.RunRounds(8);
        Assert.Equal(2, _leader.Settlement.Stable);
        ulong open = _leader.Settlement.Epoch + (5UL << 32) + 3;
        _leader.RunRounds(1, token =>
        {
            var record = token.Find(LoneMember.Publisher) ?? token.Add(LoneMember.Publisher);
            (record.Stable, record.HeldByAny, record.Epoch, record.IsGathering, record.IsPartial) = (2, 2, open, true, true);
        });
        _leader.RunRounds(8);

        Assert.True(_leader.Settlement.Epoch > open);
        Assert.True(_leader.Settlement.IsDecided);
        Assert.Equal(0, _leader.Settlement.Lost.Count);
        Assert.Equal(0, NextToken().Count);
    }

    private static RecoveryRecord Record(Token token) => token.Find(LoneMember.Publisher)!;

    // These packets came of a sender, and then it was removed; the next round begins.
    private void LoseSender(params long[] numbers)
    {
        _leader.Receive(numbers);
        _leader.Remove(LoneMember.Publisher);
        _leader.Advance(TimeSpan.Zero);
    }

    private Token NextToken()
    {
        _leader.AdvanceToToken();
        return _leader.TakeToken();
    }
}
