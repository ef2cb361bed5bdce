using QuickSilver.Multicast.Hearing;

namespace QuickSilver.Multicast.Tests.Hearing;

public sealed class GroupHearingTests
{
    private static readonly TimeSpan Start = TimeSpan.FromSeconds(100);
    private readonly GroupHearing _hearing = new(mayHear: true);

    [Fact]
    public void A_packet_over_the_group_before_the_first_question_ends_it()
    {
        Assert.NotNull(_hearing.OnHeard(Start));

        Assert.Equal(HearingState.Hearing, _hearing.State);
        Assert.Equal((null, null), _hearing.OnDue());
    }

    [Fact]
    public void Three_answers_without_a_probe_make_it_deaf()
    {
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(HearingWord.Asks, _hearing.OnDue().Say);
            Assert.Null(_hearing.OnAnswer(HearingWord.Unserved));
        }

        Assert.Equal((HearingWord.Deaf, GroupHearing.RepeatAfter), _hearing.OnDue());
        Assert.True(_hearing.IsDeaf);
    }

    [Fact]
    public void A_sender_that_does_not_answer_is_asked_ever_more_seldom_and_not_called_silent()
    {
        var waits = Enumerable.Range(0, 20).Select(_ => _hearing.OnDue()).ToList();

        Assert.All(waits, due => Assert.Equal(HearingWord.Asks, due.Say));
        Assert.Equal(GroupHearing.AskEvery * 8, waits[^1].Again);
        Assert.False(_hearing.IsDeaf);
    }

    [Fact]
    public void Something_over_the_group_between_two_questions_ends_them()
    {
        _hearing.OnDue();
        _hearing.OnAnswer(HearingWord.Unserved);
        _hearing.OnDue();

        Assert.NotNull(_hearing.OnHeard(Start));
        Assert.Equal((null, null), _hearing.OnDue());
    }

    [Fact]
    public void A_node_without_a_port_in_the_group_is_deaf_without_questions()
    {
        Assert.Equal(HearingWord.Deaf, new GroupHearing(mayHear: false).OnDue().Say);
    }

    [Fact]
    public void A_report_is_repeated_until_it_is_confirmed_and_renewed_then()
    {
        BeDeaf();
        var waits = Enumerable.Range(0, 8).Select(_ => _hearing.OnDue().Again!.Value).ToList();
        Assert.Equal(GroupHearing.RepeatAfter * 2, waits[0]);
        Assert.Equal(GroupHearing.RefreshEvery, waits[^1]);

        Assert.Equal(GroupHearing.RefreshEvery, _hearing.OnAnswer(HearingWord.Served));
        Assert.Equal((HearingWord.Deaf, GroupHearing.RefreshEvery), _hearing.OnDue());
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(200, false)]
    [InlineData(300, true)]
    public void Three_moments_apart_make_it_hear_again(int apartMs, bool hears)
    {
        BeDeaf();
        _hearing.OnAnswer(HearingWord.Served);
        TimeSpan? due = null;
        for (int i = 0; i < 3; i++)
        {
            due = _hearing.OnHeard(Start + TimeSpan.FromMilliseconds(i * apartMs));
        }

        Assert.Equal(hears ? TimeSpan.Zero : null, due);
        Assert.Equal(hears ? HearingState.Recovered : HearingState.Served, _hearing.State);
        Assert.False(_hearing.IsDeaf);
    }

    [Fact]
    public void Moments_long_apart_do_not_add_up()
    {
        BeDeaf();
        for (int i = 0; i < 10; i++)
        {
            Assert.Null(_hearing.OnHeard(Start + TimeSpan.FromSeconds(i * 21)));
        }
    }

    [Fact]
    public void That_it_hears_again_is_said_until_the_sender_has_heard_it()
    {
        BeBack();
        Assert.Equal((HearingWord.Hears, GroupHearing.RepeatAfter), _hearing.OnDue());
        Assert.Equal(HearingWord.Hears, _hearing.OnDue().Say);
        Assert.Null(_hearing.OnAnswer(HearingWord.Served));

        Assert.NotNull(_hearing.OnAnswer(HearingWord.Unserved));
        Assert.Equal((null, null), _hearing.OnDue());
    }

    [Fact]
    public void A_sender_that_has_forgotten_it_is_notified_again_at_once()
    {
        BeDeaf();
        _hearing.OnAnswer(HearingWord.Served);

        Assert.Equal(TimeSpan.Zero, _hearing.OnAnswer(HearingWord.Unserved));
        Assert.Equal((HearingWord.Deaf, GroupHearing.RepeatAfter), _hearing.OnDue());
    }

    [Fact]
    public void A_probe_that_was_doubled_or_held_back_counts_once()
    {
        BeDeaf();
        var apart = TimeSpan.FromMilliseconds(300);
        _hearing.OnProbe(7, Start);
        _hearing.OnProbe(7, Start + apart);
        _hearing.OnProbe(6, Start + (apart * 2));
        Assert.Null(_hearing.OnProbe(8, Start + (apart * 3)));

        Assert.Equal(TimeSpan.Zero, _hearing.OnProbe(9, Start + (apart * 4)));
        Assert.Equal(9, _hearing.LastProbe);
    }

    [Fact]
    public void A_sender_without_groups_is_asked_no_more()
    {
        _hearing.OnDue();
        _hearing.OnAnswer(HearingWord.NoGroups);

        Assert.Equal(HearingState.Exempt, _hearing.State);
        Assert.Null(_hearing.OnDue().Say);
        Assert.False(_hearing.IsDeaf);
    }

    private void BeDeaf()
    {
        while (_hearing.State != HearingState.Deaf)
        {
            _hearing.OnDue();
            _hearing.OnAnswer(HearingWord.Unserved);
        }
    }

    private void BeBack()
    {
        BeDeaf();
        for (int i = 0; i < 3; i++)
        {
            _hearing.OnHeard(Start + (TimeSpan.FromSeconds(1) * i));
        }
    }
}
