using QuickSilver.Multicast.Pacing;

namespace QuickSilver.Multicast.Tests.Pacing;

public sealed class ReceiverRateTests
{
    private const int Many = 1 << 20;

    private readonly ReceiverRate _rate = new();
    private TimeSpan _now;
    private long _read;

    [Fact]
    public void Nothing_is_sent_on_trust_before_a_rate_is_known()
    {
        Told(1, 1000);
        Assert.Equal((0, TimeSpan.MaxValue), (_rate.Trust(_now, Many), _rate.TimeUntil(_now, 1)));
    }

    [Fact]
    public void Members_are_trusted_to_read_on_as_fast_as_before_and_half_as_much_more()
    {
        Reading(seconds: 1, packets: 1000);
        Assert.Equal(1000, _rate.PacketsPerSecond);
        Pass(0.51);
        Assert.Equal(750, _rate.Trust(_now, Many));
    }

    [Fact]
    public void Growth_is_bounded_by_the_room_in_members_buffers()
    {
        Reading(seconds: 1, packets: 1000);
        Pass(0.51);
        Assert.Equal(520, _rate.Trust(_now, mostGrowth: 20));
    }

    [Fact]
    public void While_members_buffers_overflow_there_is_no_growth_until_an_acknowledgement_without_drops()
    {
        Reading(seconds: 1, packets: 1000);
        Told(1, 1000, hasDropped: true);
        Pass(0.51);
        Assert.Equal(500, _rate.Trust(_now, Many));

        Pass(0.49);
        Told(0, 1000);
        Pass(0.51);
        Assert.Equal(750, _rate.Trust(_now, Many));
    }

    [Fact]
    public void Trust_ends_when_twice_the_usual_time_has_passed_without_an_acknowledgement()
    {
        Reading(seconds: 1, packets: 1000);
        Pass(2);
        long most = _rate.Trust(_now, Many);
        Pass(100);
        Assert.Equal(most, _rate.Trust(_now, Many));
        Assert.Equal(TimeSpan.MaxValue, _rate.TimeUntil(_now, 1));
    }

    [Fact]
    public void After_silence_members_are_trusted_to_read_from_when_something_is_sent_again()
    {
        for (int i = 0; i < 5; i++)
        {
            _rate.OnSent(_now, _read + 1000);
            Told(1, 1000);
        }

        Pass(600);
        _rate.OnSent(_now, _read + 1000);
        Assert.Equal(0, _rate.Trust(_now, Many));
        Pass(0.51);
        Assert.Equal(500, _rate.Trust(_now, mostGrowth: 0));

        // Nor is the silence the usual distance of acknowledgements.
        Pass(100);
        Assert.InRange(_rate.Trust(_now, mostGrowth: 0), 1900, 2000);
    }

    [Fact]
    public void Prompt_acknowledgements_need_no_trust()
    {
        for (int i = 0; i < 100; i++)
        {
            _rate.OnSent(_now, _read + 10);
            Told(0.002, 10);
        }

        Pass(0.002);
        Assert.Equal(0, _rate.Trust(_now, Many));
    }

    [Fact]
    public void An_acknowledgement_of_long_ago_lets_as_much_more_be_sent()
    {
        // What was sent is reported as read a second later: the members have read a second's worth since.
        for (int i = 0; i < 10; i++)
        {
            _rate.OnSent(_now, (i + 1) * 1000);
            Pass(1);
            _rate.OnReport(_now, (i + 1) * 1000, isSenderWaiting: true, hasDropped: false);
        }

        Assert.InRange(_rate.Trust(_now, mostGrowth: 0), 980, 1000);
    }

    [Fact]
    public void An_acknowledgement_that_misses_what_the_last_token_carried_does_not_halve_the_rate()
    {
        Reading(seconds: 1, packets: 1000);
        Told(1, 2000);
        Told(1, 0);
        Assert.Equal(1000, _rate.PacketsPerSecond);
    }

    [Fact]
    public void A_sender_that_had_little_to_send_says_nothing_about_the_members()
    {
        Reading(seconds: 1, packets: 1000);
        Told(1, 10, isSenderWaiting: false);
        Assert.Equal(1000, _rate.PacketsPerSecond);
    }

    [Fact]
    public void The_time_until_room_is_what_the_rate_needs()
    {
        Reading(seconds: 1, packets: 1000);
        Pass(0.5);
        Assert.Equal(TimeSpan.FromMilliseconds(100), _rate.TimeUntil(_now, 100));
    }

    private void Reading(double seconds, long packets)
    {
        for (int i = 0; i < 5; i++)
        {
            Told(seconds, packets);
        }
    }

    private void Told(double after, long more, bool isSenderWaiting = true, bool hasDropped = false)
    {
        Pass(after);
        _read += more;
        _rate.OnReport(_now, _read, isSenderWaiting, hasDropped);
    }

    private void Pass(double seconds) => _now += TimeSpan.FromSeconds(seconds);
}
