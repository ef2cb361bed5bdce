using QuickSilver.Multicast.Receiving.States;

namespace QuickSilver.Multicast.Tests.Receiving;

public sealed class StreamPhaseTests
{
    private StreamPhase _phase;

    [Fact]
    public void A_stream_begins_open()
    {
        Assert.False(_phase.IsSenderGone || _phase.IsDeciding || _phase.IsClosed);
    }

    [Fact]
    public void A_sender_that_left_may_return()
    {
        _phase.SenderLeft();
        Assert.True(_phase.IsSenderGone);

        _phase.SenderReturned();
        Assert.False(_phase.IsSenderGone);
    }

    [Fact]
    public void A_decision_is_begun_once_or_more_and_ended()
    {
        _phase.SenderLeft();
        _phase.BeginDecision();
        _phase.BeginDecision();
        Assert.True(_phase.IsDeciding && _phase.IsSenderGone);

        _phase.EndDecision();
        Assert.True(_phase.IsSenderGone);
        Assert.False(_phase.IsDeciding);
    }

    [Fact]
    public void A_removal_that_is_reported_twice_does_not_end_a_decision()
    {
        _phase.SenderLeft();
        _phase.BeginDecision();

        _phase.SenderLeft();

        Assert.True(_phase.IsDeciding);
    }

    [Fact]
    public void A_sender_that_returns_ends_a_decision()
    {
        _phase.SenderLeft();
        _phase.BeginDecision();

        _phase.SenderReturned();

        Assert.False(_phase.IsDeciding || _phase.IsSenderGone);
    }

    [Fact]
    public void A_decision_that_others_made_changes_nothing_where_none_was_begun()
    {
        _phase.EndDecision();
        Assert.False(_phase.IsSenderGone);

        _phase.SenderLeft();
        _phase.EndDecision();
        Assert.True(_phase.IsSenderGone);
    }

    [Fact]
    public void No_member_decides_about_a_sender_that_is_there()
    {
        var error = Assert.Throws<InvalidOperationException>(() => _phase.BeginDecision());

        Assert.Equal("A stream that is Open cannot make the move BeginDecision.", error.Message);
    }

    [Fact]
    public void A_sender_that_is_there_cannot_return() => Assert.Throws<InvalidOperationException>(() => _phase.SenderReturned());

    [Fact]
    public void A_closed_stream_makes_no_move_but_another_close()
    {
        _phase.SenderLeft();
        _phase.Close();

        Assert.False(_phase.IsSenderGone);
        Assert.Throws<InvalidOperationException>(() => _phase.SenderLeft());
        Assert.Throws<InvalidOperationException>(() => _phase.SenderReturned());
        Assert.Throws<InvalidOperationException>(() => _phase.BeginDecision());
        Assert.Throws<InvalidOperationException>(() => _phase.EndDecision());
        _phase.Close();
        Assert.True(_phase.IsClosed);
    }
}
