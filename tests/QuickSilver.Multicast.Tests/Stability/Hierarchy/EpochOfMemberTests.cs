using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Stability.Hierarchy;

// What a member that does not lead says in an epoch, and which decisions it follows.
public sealed class EpochOfMemberTests
{
    private const ulong First = 1UL << 32 | 1;
    private const ulong Second = 2UL << 32 | 1;

    private readonly LoneMember _member = new(members: 3, rank: 1);
    private long _round;

    [Fact]
    public void A_member_leaves_of_what_all_lack_what_it_lacks_too()
    {
        LoseSender();

        var record = Gather(First, (2, 2), (4, 4));

        Assert.Equal([new(4, 4)], record.LackedByAll.Ranges.ToArray());
        Assert.False(record.IsRefused);
        Assert.Equal(DropReason.Undecided, _member.Receive(4));
    }

    [Fact]
    public void A_member_that_still_hears_the_sender_refuses_the_epoch_and_continues_to_accept()
    {
        _member.Receive(1, 2, 3, 5);

        Assert.True(Gather(First, (4, 4)).IsRefused);

        Assert.Equal(DropReason.None, _member.Receive(4));
    }

    [Fact]
    public void A_member_gives_up_what_is_decided_to_be_lost()
    {
        LoseSender();
        Gather(First, (4, 4));

        Decide(First, (4, 4));

        Assert.True(_member.Stream.Missing.IsEmpty);
        Assert.Equal(5, _member.Stream.Contiguous);
    }

    [Fact]
    public void A_member_that_has_reported_nothing_follows_a_decision_too()
    {
        LoseSender();

        Decide(First, (4, 4));

        Assert.True(_member.Stream.Missing.IsEmpty);
    }

    [Fact]
    public void A_member_takes_again_after_a_decision_that_gives_up_nothing()
    {
        LoseSender();
        Gather(First, (4, 4));

        Decide(First);

        Assert.Equal(DropReason.None, _member.Receive(4));
    }

    [Fact]
    public void A_decision_of_an_earlier_epoch_is_ignored()
    {
        LoseSender();
        Gather(Second, (4, 4));

        Decide(First, (4, 4));

        Assert.True(_member.Stream.Missing.Contains(4));
        Assert.Equal(DropReason.Undecided, _member.Receive(4));
    }

    [Fact]
    public void An_epoch_that_is_decided_does_not_begin_again()
    {
        LoseSender();
        Decide(First);

        Gather(First, (4, 4));

        Assert.True(_member.Settlement.IsDecided);
        Assert.Equal(DropReason.None, _member.Receive(4));
    }

    [Theory]
    [InlineData(1UL << 16, true)]
    [InlineData((1UL << 16) + 1, false)]
    public void Epochs_too_far_ahead_are_not_accepted(ulong ahead, bool isBelieved)
    {
        LoseSender();

        Decide(ahead << 32 | 1, (4, 4));

        Assert.Equal(isBelieved, _member.Stream.Missing.IsEmpty);
    }

    [Fact]
    public void A_member_that_reported_in_an_epoch_whose_leader_is_gone_accepts_nothing_before_a_later_one_is_decided()
    {
        LoseSender();
        Gather(First, (4, 4));
        _member.Remove(_member.Keys[0]);
        _member.Advance(TimeSpan.Zero);

        // This member leads now, and has begun the next epoch.
        var token = _member.TakeToken();
        var record = token.Find(LoneMember.Publisher)!;
        Assert.Equal((2UL << 32 | 2, true), (record.Epoch, record.IsGathering));
        Assert.Equal(DropReason.Undecided, _member.Receive(4));

        record.LackedByAll.Clear();
        token.To = _member.Self;
        _member.Give(token, _member.Keys[2]);
        Assert.Equal(DropReason.None, _member.Receive(4));
    }

    [Fact]
    public void A_member_that_may_be_given_nothing_does_not_report_gaps_to_its_neighbour()
    {
        LoseSender();
        _member.Advance(1_000);
        Assert.NotEmpty(Tell(_ => { }).NeighbourGaps.Ranges.ToArray());

        Assert.Empty(Gather(First, (4, 4)).NeighbourGaps.Ranges.ToArray());
    }

    // All of the sender is stable, so nothing else makes the ring turn for it.
    [Fact]
    public void A_member_that_missed_the_decision_reports_its_open_epoch_until_it_learns_it()
    {
        _member.Receive(1, 2);
        _member.Remove(LoneMember.Publisher);
        Tell(record => (record.Epoch, record.IsGathering, record.Through, record.Stable, record.HeldByAny) = (First, true, 2, 2, 2));
        Assert.Equal(2, _member.Stream.Stable);

        var told = Turn().Find(LoneMember.Publisher);
        Assert.Equal((First, true, true), (told!.Epoch, told.IsGathering, told.IsPartial));

        Tell(record => (record.Epoch, record.IsDecided, record.Through, record.Stable, record.HeldByAny) = (First, true, 2, 2, 2));
        Assert.Null(Turn().Find(LoneMember.Publisher));
    }

    private void LoseSender()
    {
        _member.Receive(1, 2, 3, 5);
        _member.Remove(LoneMember.Publisher);
    }

    private RecoveryRecord Gather(ulong epoch, params (long First, long Last)[] lacked) => Tell(record =>
    {
        (record.Epoch, record.IsGathering, record.Through) = (epoch, true, 5);
        Add(record, lacked);
    });

    private void Decide(ulong epoch, params (long First, long Last)[] lost) => Tell(record =>
    {
        (record.Epoch, record.IsDecided, record.Through) = (epoch, true, 5);
        Add(record, lost);
    });

    // A token of the leader without records; gives it as it was passed on.
    private Token Turn()
    {
        Assert.Equal(DropReason.None, _member.Give(_member.TokenOf(_member.Keys[0], ++_round), _member.Keys[0]));
        return _member.TakeToken();
    }

    // A token of the leader with a record of the sender; gives the record as it was passed on.
    private RecoveryRecord Tell(Action<RecoveryRecord> fill)
    {
        var token = _member.TokenOf(_member.Keys[0], ++_round);
        var record = token.Add(LoneMember.Publisher);
        record.HeldByAny = 5;
        fill(record);
        Assert.Equal(DropReason.None, _member.Give(token, _member.Keys[0]));
        return _member.TakeToken().Find(LoneMember.Publisher)!;
    }

    private static void Add(RecoveryRecord record, (long First, long Last)[] ranges)
    {
        foreach (var (first, last) in ranges)
        {
            record.LackedByAll.Add(first, last);
        }
    }
}
