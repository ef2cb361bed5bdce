using QuickSilver.Multicast.Hearing;

namespace QuickSilver.Multicast.Tests.Hearing;

public sealed class EarTests
{
    private static readonly TimeSpan Start = TimeSpan.FromSeconds(100);
    private readonly Ear _ear = new(mayHear: true);

    [Fact]
    public void What_comes_over_the_group_before_the_first_question_ends_it()
    {
        Assert.NotNull(_ear.OnHeard(Start));

        Assert.Equal(EarState.Content, _ear.State);
        Assert.Equal((null, null), _ear.OnDue());
    }

    [Fact]
    public void Three_answers_without_a_probe_make_it_deaf()
    {
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(HearingWord.Asks, _ear.OnDue().Say);
            Assert.Null(_ear.OnAnswer(HearingWord.Unserved));
        }

        Assert.Equal((HearingWord.Deaf, Ear.RepeatAfter), _ear.OnDue());
        Assert.True(_ear.IsDeaf);
    }

    [Fact]
    public void A_sender_that_does_not_answer_is_asked_ever_more_seldom_and_not_called_silent()
    {
        var waits = Enumerable.Range(0, 20).Select(_ => _ear.OnDue()).ToList();

        Assert.All(waits, due => Assert.Equal(HearingWord.Asks, due.Say));
        Assert.Equal(Ear.AskEvery * 8, waits[^1].Again);
        Assert.False(_ear.IsDeaf);
    }

    [Fact]
    public void Something_over_the_group_between_two_questions_ends_them()
    {
        _ear.OnDue();
        _ear.OnAnswer(HearingWord.Unserved);
        _ear.OnDue();

        Assert.NotNull(_ear.OnHeard(Start));
        Assert.Equal((null, null), _ear.OnDue());
    }

    [Fact]
    public void A_node_without_a_port_in_the_group_is_deaf_without_questions()
    {
        Assert.Equal(HearingWord.Deaf, new Ear(mayHear: false).OnDue().Say);
    }

    [Fact]
    public void A_report_is_repeated_until_it_is_confirmed_and_renewed_then()
    {
        BeDeaf();
        var waits = Enumerable.Range(0, 8).Select(_ => _ear.OnDue().Again!.Value).ToList();
        Assert.Equal(Ear.RepeatAfter * 2, waits[0]);
        Assert.Equal(Ear.RefreshEvery, waits[^1]);

        Assert.Equal(Ear.RefreshEvery, _ear.OnAnswer(HearingWord.Served));
        Assert.Equal((HearingWord.Deaf, Ear.RefreshEvery), _ear.OnDue());
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(200, false)]
    [InlineData(300, true)]
    public void Three_moments_apart_make_it_hear_again(int apartMs, bool hears)
    {
        BeDeaf();
        _ear.OnAnswer(HearingWord.Served);
        TimeSpan? due = null;
        for (int i = 0; i < 3; i++)
        {
            due = _ear.OnHeard(Start + TimeSpan.FromMilliseconds(i * apartMs));
        }

        Assert.Equal(hears ? TimeSpan.Zero : null, due);
        Assert.Equal(hears ? EarState.Back : EarState.Served, _ear.State);
        Assert.False(_ear.IsDeaf);
    }

    [Fact]
    public void Moments_long_apart_do_not_add_up()
    {
        BeDeaf();
        for (int i = 0; i < 10; i++)
        {
            Assert.Null(_ear.OnHeard(Start + TimeSpan.FromSeconds(i * 21)));
        }
    }

    [Fact]
    public void That_it_hears_again_is_said_until_the_sender_has_heard_it()
    {
        BeBack();
        Assert.Equal((HearingWord.Hears, Ear.RepeatAfter), _ear.OnDue());
        Assert.Equal(HearingWord.Hears, _ear.OnDue().Say);
        Assert.Null(_ear.OnAnswer(HearingWord.Served));

        Assert.NotNull(_ear.OnAnswer(HearingWord.Unserved));
        Assert.Equal((null, null), _ear.OnDue());
    }

    [Fact]
    public void A_sender_that_has_forgotten_it_is_told_again_at_once()
    {
        BeDeaf();
        _ear.OnAnswer(HearingWord.Served);

        Assert.Equal(TimeSpan.Zero, _ear.OnAnswer(HearingWord.Unserved));
        Assert.Equal((HearingWord.Deaf, Ear.RepeatAfter), _ear.OnDue());
    }

    [Fact]
    public void A_probe_that_was_doubled_or_held_back_counts_once()
    {
        BeDeaf();
        var apart = TimeSpan.FromMilliseconds(300);
        _ear.OnProbe(7, Start);
        _ear.OnProbe(7, Start + apart);
        _ear.OnProbe(6, Start + (apart * 2));
        Assert.Null(_ear.OnProbe(8, Start + (apart * 3)));

        Assert.Equal(TimeSpan.Zero, _ear.OnProbe(9, Start + (apart * 4)));
        Assert.Equal(9, _ear.LastProbe);
    }

    [Fact]
    public void A_sender_without_groups_is_asked_no_more()
    {
        _ear.OnDue();
        _ear.OnAnswer(HearingWord.NoGroups);

        Assert.Equal(EarState.Exempt, _ear.State);
        Assert.Null(_ear.OnDue().Say);
        Assert.False(_ear.IsDeaf);
    }

    private void BeDeaf()
    {
        while (_ear.State != EarState.Deaf)
        {
            _ear.OnDue();
            _ear.OnAnswer(HearingWord.Unserved);
        }
    }

    private void BeBack()
    {
        BeDeaf();
        for (int i = 0; i < 3; i++)
        {
            _ear.OnHeard(Start + (TimeSpan.FromSeconds(1) * i));
        }
    }
}
