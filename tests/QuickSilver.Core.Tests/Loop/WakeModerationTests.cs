using QuickSilver.Core.Loop;

namespace QuickSilver.Core.Tests.Loop;

public sealed class WakeModerationTests
{
    private static readonly TimeSpan Nap = TimeSpan.FromMicroseconds(200);
    private static readonly TimeSpan Quick = TimeSpan.FromMicroseconds(50);
    private readonly WakeModeration _moderation = new(Nap);
    private TimeSpan _now = TimeSpan.FromSeconds(1);

    [Fact]
    public void Blocks_at_once_while_wakes_are_rare()
    {
        for (int i = 0; i < 100; i++)
        {
            _moderation.Slept(TimeSpan.FromMilliseconds(1), isSocketReady: true);
            Assert.False(_moderation.IsNapDue(_now));
        }
    }

    [Fact]
    public void Rests_under_a_stream_and_continues_while_rests_are_worth_it()
    {
        WakeQuickly(8);
        for (int i = 0; i < 100; i++)
        {
            Assert.True(_moderation.IsNapDue(_now));
            Assert.Equal(Nap, _moderation.BeginNap());
            _moderation.Took(10, _now);
        }
    }

    [Fact]
    public void A_pause_ends_the_resting()
    {
        WakeQuickly(8);
        _moderation.Slept(TimeSpan.FromMilliseconds(5), isSocketReady: true);
        Assert.False(_moderation.IsNapDue(_now));
    }

    [Fact]
    public void An_alarm_or_a_wake_is_no_stream()
    {
        WakeQuickly(7);
        _moderation.Slept(Quick, isSocketReady: false);
        _moderation.Slept(Quick, isSocketReady: true);
        Assert.False(_moderation.IsNapDue(_now));
    }

    [Fact]
    public void Requests_that_already_waited_cost_no_wake()
    {
        for (int i = 0; i < 100; i++)
        {
            _moderation.Slept(TimeSpan.FromMicroseconds(1), isSocketReady: true);
        }

        Assert.False(_moderation.IsNapDue(_now));
    }

    [Fact]
    public void A_quick_exchange_of_single_messages_is_disturbed_ever_more_rarely()
    {
        // Ten seconds of a message every 50 µs, each the answer to the one before.
        int naps = 0;
        for (var end = _now + TimeSpan.FromSeconds(10); _now < end; _now += Quick)
        {
            if (_moderation.IsNapDue(_now))
            {
                naps++;
                _moderation.BeginNap();
            }
            else
            {
                _moderation.Slept(Quick, isSocketReady: true);
            }

            _moderation.Took(1, _now);
        }

        Assert.InRange(naps, 2, 20);
    }

    [Fact]
    public void A_worthwhile_rest_forgives_the_earlier_ones()
    {
        for (int i = 0; i < 5; i++)
        {
            WakeQuickly(8);
            _moderation.BeginNap();
            _moderation.Took(1, _now);
            _now += TimeSpan.FromSeconds(2);
        }

        WakeQuickly(8);
        _moderation.BeginNap();
        _moderation.Took(20, _now);
        _moderation.BeginNap();
        _moderation.Took(1, _now);
        WakeQuickly(8);
        _now += TimeSpan.FromMilliseconds(11);
        Assert.True(_moderation.IsNapDue(_now));
    }

    private void WakeQuickly(int times)
    {
        for (int i = 0; i < times; i++)
        {
            _moderation.Slept(Quick, isSocketReady: true);
        }
    }
}
