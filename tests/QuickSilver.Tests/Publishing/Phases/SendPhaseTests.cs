using QuickSilver.Publishing;

namespace QuickSilver.Tests.Publishing.Phases;

public sealed class SendPhaseTests
{
    private SendPhase _phase;

    [Fact]
    public void A_topic_without_room_passes_nothing_directly()
    {
        _phase.BeginStraight();
        Assert.True(_phase.IsStraight);

        _phase.Block();
        Assert.True(_phase.IsBlocked);
        Assert.False(_phase.IsStraight);
        Assert.Throws<InvalidOperationException>(() => _phase.BeginStraight());
    }

    [Fact]
    public void A_topic_with_room_passes_messages_directly_when_one_has_taken_the_slow_path()
    {
        _phase.Block();
        _phase.Unblock();
        Assert.False(_phase.IsBlocked);
        Assert.False(_phase.IsStraight);

        _phase.BeginStraight();
        Assert.True(_phase.IsStraight);

        _phase.EndStraight();
        Assert.False(_phase.IsStraight);
    }

    [Fact]
    public void One_pump_runs_at_a_time_also_while_the_topic_is_blocked()
    {
        _phase.Block();
        _phase.BeginPump();
        Assert.True(_phase.IsPumping);
        Assert.Throws<InvalidOperationException>(() => _phase.BeginPump());

        _phase.EndPump();
        Assert.False(_phase.IsPumping);
        Assert.Throws<InvalidOperationException>(() => _phase.EndPump());
    }

    [Fact]
    public void The_intake_has_a_topic_in_its_list_once()
    {
        _phase.BeginAwaitLane();
        Assert.True(_phase.IsAwaitingLane);
        Assert.Throws<InvalidOperationException>(() => _phase.BeginAwaitLane());

        _phase.EndAwaitLane();
        Assert.Throws<InvalidOperationException>(() => _phase.EndAwaitLane());
    }

    [Fact]
    public void Requests_and_feeds_are_first_in_turn_while_there_are_feeds()
    {
        Assert.True(_phase.TakeTurnOfFeeds(hasFeeds: true));
        Assert.False(_phase.TakeTurnOfFeeds(hasFeeds: true));
        Assert.True(_phase.TakeTurnOfFeeds(hasFeeds: true));

        Assert.False(_phase.TakeTurnOfFeeds(hasFeeds: false));
        Assert.False(_phase.TakeTurnOfFeeds(hasFeeds: false));
        Assert.True(_phase.TakeTurnOfFeeds(hasFeeds: true));
    }

    [Fact]
    public void The_lane_and_what_waits_beside_it_are_first_in_turn()
    {
        Assert.True(_phase.TakeTurnOfLane());
        Assert.False(_phase.TakeTurnOfLane());
        Assert.True(_phase.TakeTurnOfLane());
    }
}
