using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Tests.Receiving;

public sealed class ViewClosingTests
{
    private const long Opened = 1;

    private readonly LoneMember _member = new(members: 3, rank: 0);
    private readonly Tracker _tracker = new();
    private readonly LiveMembers _live;
    private readonly ViewClosing _closing;

    public ViewClosingTests()
    {
        _live = new LiveMembers(_member.View.Members);
        _tracker.LastUnconsumed = _tracker.LastUnstable = _tracker.LastHeard = Now;
        _closing = new ViewClosing(_member.Context, Opened, _tracker, _live);
    }

    private TimeSpan Pause => _member.Options.ClosingPause;

    private TimeSpan Now => _member.Environment.Now;

    [Fact]
    public void A_view_is_superseded_once()
    {
        Advance(Pause);
        _closing.Supersede(5);
        var since = _closing.SupersededSince;
        Advance(Pause);
        _closing.Supersede(6);

        Assert.Equal((5, since), (_closing.SupersededAt, _closing.SupersededSince));
    }

    [Fact]
    public void Without_departed_nodes_what_is_drained_may_close()
    {
        Assert.False(_closing.MayClose(isDrained: false));
        Assert.True(_closing.MayClose(isDrained: true));
    }

    [Fact]
    public void After_a_departure_a_view_waits_until_all_held_the_same_for_a_pause_and_were_heard()
    {
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        Assert.False(_closing.HasAll(isDrained: true));

        Advance(Pause);
        Assert.False(_closing.HasAll(isDrained: true));

        _tracker.LastHeard = Now - (Pause / 2);
        Assert.True(_closing.HasAll(isDrained: true));
        Assert.True(_closing.MayClose(isDrained: true));
        Assert.False(_closing.HasAll(isDrained: false));
    }

    [Fact]
    public void Members_that_agree_on_all_departures_wait_for_no_pause()
    {
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        Assert.True(_closing.TryLose(Lost(_member.Keys[1]), configuration: 9));
        Assert.Equal(9, _closing.AgreementWanted);

        _tracker.AgreedThrough = 8;
        Assert.False(_closing.HasAll(isDrained: true));

        _tracker.AgreedThrough = 9;
        Assert.False(_closing.HasAll(isDrained: false));
        Assert.True(_closing.HasAll(isDrained: true));
        Assert.False(_closing.MayClose(isDrained: true));
    }

    [Fact]
    public void A_member_that_others_learn_the_agreement_from_stays_until_they_have_learned_it()
    {
        Assert.True(_closing.TryLose(Lost(_member.Keys[1]), configuration: 9));
        Advance(Pause);
        _tracker.LastHeard = _tracker.LastUnstable = Now;
        (_tracker.AgreedThrough, _tracker.PassedOnThrough) = (9, 8);
        Assert.True(_closing.HasAll(isDrained: true));
        Assert.False(_closing.MayClose(isDrained: true));

        _tracker.PassedOnThrough = 9;
        Assert.True(_closing.MayClose(isDrained: true));
    }

    [Fact]
    public void A_member_that_waited_for_so_long_that_no_agreement_is_needed_does_not_stay_for_it()
    {
        Assert.True(_closing.TryLose(Lost(_member.Keys[1]), configuration: 9));
        _tracker.PassedOnThrough = 8;
        Advance(Pause);
        _tracker.LastHeard = Now;
        Assert.True(_closing.MayClose(isDrained: true));
    }

    [Fact]
    public void Numbers_of_another_service_show_no_agreement_on_departures()
    {
        _tracker.AgreedThrough = 100;
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        _closing.OnSnapshot();
        Assert.True(_closing.TryLose(Lost(_member.Keys[1]), configuration: 9));
        Assert.Equal((false, 0), (_closing.HasAll(isDrained: true), _closing.AgreementWanted));

        Advance(Pause);
        _tracker.LastHeard = Now;
        Assert.True(_closing.HasAll(isDrained: true));
    }

    [Fact]
    public void A_node_that_is_missing_in_a_snapshot_is_waited_for_by_time()
    {
        _tracker.AgreedThrough = 100;
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: null));
        Assert.Equal((false, 0), (_closing.HasAll(isDrained: true), _closing.AgreementWanted));
    }

    [Fact]
    public void While_a_member_has_not_consumed_everything_a_view_has_all_and_stays_open()
    {
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        Advance(Pause);
        _tracker.LastHeard = _tracker.LastUnconsumed = Now;

        Assert.True(_closing.HasAll(isDrained: true));
        Assert.False(_closing.MayClose(isDrained: true));

        Advance(Pause);
        Assert.True(_closing.MayClose(isDrained: true));
    }

    [Fact]
    public void A_silence_of_three_pauses_shows_that_the_others_have_closed_the_view_but_for_the_time_this_node_stood_still()
    {
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        Advance(Pause * 3);
        Assert.True(_closing.IsAlone);
        Assert.True(_closing.HasAll(isDrained: true));

        _closing.OnPause(Pause);
        Assert.False(_closing.IsAlone);
        Assert.False(_closing.HasAll(isDrained: true));

        Advance(Pause);
        Assert.True(_closing.IsAlone);

        _tracker.LastHeard = Now;
        Advance(Pause * 3);
        Assert.True(_closing.IsAlone);
    }

    [Fact]
    public void A_silence_before_a_failed_member_is_removed_does_not_show_that_the_others_have_closed_the_view()
    {
        Advance(Pause * 4);
        Assert.True(_closing.TryLose(Lost(_member.Keys[1]), configuration: 7));
        Assert.False(_closing.IsAlone);

        Advance(Pause * 3);
        Assert.True(_closing.IsAlone);
    }

    [Fact]
    public void A_silence_that_a_failed_member_may_explain_does_not_show_that_the_others_have_closed_the_view()
    {
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        _tracker.IsAwaitingAnswer = true;
        Advance(ClosedViews.Age - TimeSpan.FromMilliseconds(1));
        Assert.False(_closing.IsAlone);
        Assert.False(_closing.HasAll(isDrained: true));

        Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(_closing.IsAlone);
    }

    [Fact]
    public void The_last_live_member_waits_for_no_other()
    {
        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        Assert.True(_live.Close(_member.Keys[1]));
        Assert.True(_live.Lose(_member.Keys[2]));

        Assert.True(_closing.MayClose(isDrained: true));
    }

    [Fact]
    public void A_node_that_came_when_the_view_was_over_does_not_count()
    {
        _closing.Supersede(5);

        Assert.False(_closing.TryLose(new LostNode(LoneMember.Publisher, Since: 5), configuration: 7));
        Assert.True(_closing.TryLose(new LostNode(_member.Keys[1], Since: 4), configuration: 7));
        Assert.Equal(1, _closing.Departed);
    }

    [Fact]
    public void More_is_heard_only_of_a_node_that_is_lost()
    {
        Assert.False(_closing.MayHearMoreOf(LoneMember.Publisher));

        Assert.True(_closing.TryLose(Lost(LoneMember.Publisher), configuration: 7));
        Assert.True(_closing.MayHearMoreOf(LoneMember.Publisher));
        Assert.Equal(Now, _closing.GoneAt(LoneMember.Publisher, otherwise: default));

        Advance(Pause);
        _tracker.LastHeard = Now;
        Assert.False(_closing.MayHearMoreOf(LoneMember.Publisher));
    }

    [Fact]
    public void Departed_nodes_are_forgotten_when_they_are_many_and_old_and_have_left_nothing()
    {
        var kept = new NodeKey(2_000_000, 1);
        Assert.True(_closing.TryLose(Lost(kept), configuration: 7));
        for (ulong i = 1; i <= ViewClosing.MostDeparted; i++)
        {
            Assert.True(_closing.TryLose(Lost(new NodeKey(1_000_000 + i, 1)), configuration: 7));
        }

        _closing.ForgetDeparted(_ => true);
        Assert.Equal(ViewClosing.MostDeparted + 1, _closing.Departed);

        Advance((Pause * 3) + TimeSpan.FromMilliseconds(1));
        _closing.ForgetDeparted(node => node != kept);
        Assert.Equal(1, _closing.Departed);
    }

    private static LostNode Lost(NodeKey node) => new(node, Since: 0);

    private void Advance(TimeSpan time) => _member.Environment.Pass(time);

    // Only the times matter here.
    private sealed class Tracker : IStabilityTracker
    {
        public TimeSpan LastUnconsumed { get; set; }

        public TimeSpan LastUnstable { get; set; }

        public TimeSpan LastHeard { get; set; }

        public long AgreedThrough { get; set; }

        public bool IsAwaitingAnswer { get; set; }

        public long PassedOnThrough { get; set; } = long.MaxValue;

        public bool HasPassedOn(long agreedThrough) => PassedOnThrough >= agreedThrough;

        public void OnActivity(ITrackedStream stream) => throw new NotSupportedException();

        public void OnAckWanted() => throw new NotSupportedException();

        public void OnAnnounce(StreamKey stream) => throw new NotSupportedException();

        public void Retract(StreamKey stream, long sent) => throw new NotSupportedException();

        public void OnMembersChanged() => throw new NotSupportedException();

        public DropReason OnPacket(in PacketHeader header, NodeKey from) => throw new NotSupportedException();

        public void Close() => throw new NotSupportedException();
    }
}
